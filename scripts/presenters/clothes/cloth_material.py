"""What clothes are made of, as Cycles materials: weave or knit by bump, mottled yarn, creases, stitches."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import bpy

from ..looks import Rgb
from ..nodes import Shader, rgba

TWILL, PLAIN, KNIT = "twill", "plain", "knit"
STITCH_DM, THREAD_DM, STITCHES = 0.040, 0.0042, 26.0
"""Distance of the line of stitches from an edge, half the width of its thread, and how many there are to a
dm."""


WOBBLE = 0.9
"""How far threads run out of line, in threads."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """`color` and `fleck` are sRGB; `threads` a dm, `relief` of the weave in dm, `melange` how far yarns
    differ, `creases` in dm, `stitch` how far its stitches are lighter than the cloth."""

    color: Rgb
    fleck: Rgb
    weave: str = PLAIN
    threads: float = 90.0
    relief: float = 0.0
    melange: float = 0.0
    creases: float = 0.0
    stitch: float = 0.0
    roughness: float = 0.8
    sheen: float = 0.1


FABRICS: Final[Mapping[str, Fabric]] = MappingProxyType(
    {
        "ruby_jacket": Fabric(
            (33, 45, 73), (52, 68, 100), TWILL, 96, 0.0008, 0.50, 0.016, 0.6, roughness=0.82, sheen=0.03
        ),
        "ruby_top": Fabric(
            (236, 228, 214), (214, 202, 184), KNIT, 44, 0.0022, 0.35, 0.014, 0.2, roughness=0.72, sheen=0.15
        ),
        "marcus_jacket": Fabric(
            (42, 43, 48), (62, 63, 68), PLAIN, 150, 0.0004, 0.45, 0.014, 0.6, roughness=0.90, sheen=0.12
        ),
        "marcus_shirt": Fabric(
            (160, 186, 218), (204, 219, 238), PLAIN, 62, 0.0009, 0.5, 0.014, 0.4, roughness=0.74, sheen=0.12
        ),
        "shirt_button": Fabric((232, 232, 228), (232, 232, 228), roughness=0.25, sheen=0.0),
        "ruby_button": Fabric((20, 26, 40), (20, 26, 40), roughness=0.30, sheen=0.0),
        "marcus_button": Fabric((26, 24, 24), (26, 24, 24), roughness=0.30, sheen=0.0),
    }
)


def fabric(name: str) -> bpy.types.Material:
    """The material of one of `FABRICS`; it needs a uv layer in dm and, for stitches, an attribute `rim`, the
    distance from an edge in dm. Made once a scene."""
    known = bpy.data.materials.get(name)
    if known is not None:
        return known
    cloth = FABRICS[name]
    shader = Shader(name)
    shader.set(roughness=cloth.roughness, sheen_weight=cloth.sheen, sheen_roughness=0.5)
    shader.set(specular_ior_level=0.20, base_color=rgba(cloth.color))
    if cloth.relief > 0:
        _woven(shader, cloth)
    return shader.material


def _woven(shader: Shader, cloth: Fabric) -> None:
    at = shader.node("ShaderNodeUVMap").outputs["UV"]
    stitch = _stitches(shader, at)
    threads = _threads(shader, at, cloth)
    yarn = _yarn(shader, at, cloth)
    share = shader.add(shader.mul(shader.add(threads, -0.5), 0.5), shader.mul(yarn, cloth.melange))
    color = shader.mix(rgba(cloth.color), rgba(cloth.fleck), shader.math("MAXIMUM", share, 0.0))
    color = shader.mix(color, rgba(cloth.fleck), shader.mul(stitch, cloth.stitch))
    shader.set(base_color=color)
    creases = shader.mul(shader.noise(at, 3.2, 3, 0.5), cloth.creases)
    height = shader.add(
        shader.mul(shader.add(threads, shader.mul(yarn, 0.6)), cloth.relief),
        creases,
        shader.mul(stitch, -0.008),
    )
    shader.bump(height, 0.9, 1.0)


def _threads(shader: Shader, at: Any, cloth: Fabric) -> Any:
    """The weave's own relief, 0..1: diagonal ribs, ribs of a knit, or threads that cross."""
    wobble = shader.mul(shader.add(shader.noise(at, 14, 2), -0.5), WOBBLE / cloth.threads)
    x, y = (shader.add(part, wobble) for part in _parts(shader, at))
    if cloth.weave == TWILL:
        return _wave(shader, shader.add(shader.mul(x, 0.8), shader.mul(y, 0.6)), cloth.threads)
    if cloth.weave == KNIT:
        loops = _wave(shader, y, cloth.threads * 1.4)
        return shader.mul(_wave(shader, x, cloth.threads), shader.add(0.86, shader.mul(loops, 0.14)))
    return shader.mul(shader.add(_wave(shader, x, cloth.threads), _wave(shader, y, cloth.threads)), 0.5)


def _yarn(shader: Shader, at: Any, cloth: Fabric) -> Any:
    """How yarns differ, about 0: long ones down and across, and specks of other fibres."""
    down = shader.noise(shader.stretched(at, (cloth.threads, 7, 1)), 1.0, 2)
    across = shader.noise(shader.stretched(at, (7, cloth.threads, 1)), 1.0, 2)
    specks = shader.noise(at, cloth.threads * 0.9, 2, 0.7)
    return shader.add(down, across, shader.mul(specks, 1.4), -1.7)


def _stitches(shader: Shader, at: Any) -> Any:
    """1 on a thread, 0 beside."""
    x, y = _parts(shader, at)
    away = shader.math("ABSOLUTE", shader.add(shader.attribute("rim"), -STITCH_DM))
    dash = _wave(shader, shader.add(x, y), STITCHES)
    return shader.mul(shader.ramp(away, THREAD_DM, THREAD_DM / 3), shader.ramp(dash, 0.25, 0.45))


def _parts(shader: Shader, at: Any) -> tuple[Any, Any]:
    node = shader.node("ShaderNodeSeparateXYZ")
    shader.put(at, node.inputs[0])
    return node.outputs[0], node.outputs[1]


def _wave(shader: Shader, at: Any, count: float) -> Any:
    """`count` waves of 0..1 to a dm."""
    sine = shader.math("SINE", shader.mul(at, 6.2832 * count))
    return shader.add(shader.mul(sine, 0.5), 0.5)
