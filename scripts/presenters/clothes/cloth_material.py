"""What clothes are made of, as Cycles materials: weave by bump, sheen, colour per presenter. Needs bpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import bpy

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Fabric:
    """`color` and `fleck` are sRGB; `threads` a dm, `relief` of the weave in dm, `twill` 0..1 its slant."""

    color: Rgb
    fleck: Rgb
    threads: float
    relief: float
    twill: float
    roughness: float
    sheen: float


FABRICS: Final[Mapping[str, Fabric]] = MappingProxyType(
    {
        "ruby_jacket": Fabric((25, 35, 58), (38, 51, 80), 120, 0.002, 1.0, 0.82, 0.22),
        "ruby_top": Fabric((236, 228, 214), (226, 216, 200), 90, 0.0012, 0.0, 0.55, 0.10),
        "marcus_jacket": Fabric((44, 45, 50), (66, 67, 73), 105, 0.0025, 1.0, 0.86, 0.22),
        "marcus_shirt": Fabric((166, 190, 220), (196, 212, 234), 100, 0.0012, 0.0, 0.66, 0.12),
        "shirt_button": Fabric((232, 232, 228), (232, 232, 228), 1, 0.0, 0.0, 0.25, 0.0),
        "ruby_button": Fabric((20, 26, 40), (20, 26, 40), 1, 0.0, 0.0, 0.30, 0.0),
        "marcus_button": Fabric((26, 24, 24), (26, 24, 24), 1, 0.0, 0.0, 0.30, 0.0),
    }
)


def fabric(name: str) -> bpy.types.Material:
    """The material of one of `FABRICS`; it needs a uv layer in dm. Made once a scene."""
    known = bpy.data.materials.get(name)
    if known is not None:
        return known
    cloth = FABRICS[name]
    material = bpy.data.materials.new(name)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Roughness"].default_value = cloth.roughness
    shader.inputs["Sheen Weight"].default_value = cloth.sheen
    shader.inputs["Sheen Roughness"].default_value = 0.4
    shader.inputs["Specular IOR Level"].default_value = 0.25
    shader.inputs["Base Color"].default_value = linear(cloth.color)
    if cloth.relief == 0:
        return material
    uv = nodes.new("ShaderNodeUVMap")
    turn = nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0, 0, 0.9 * cloth.twill)
    turn.inputs["Scale"].default_value = (cloth.threads, cloth.threads * (1 - 0.75 * cloth.twill), 1)
    links.new(uv.outputs["UV"], turn.inputs["Vector"])
    noise = nodes.new("ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value = 1.0
    noise.inputs["Detail"].default_value = 2.0
    links.new(turn.outputs["Vector"], noise.inputs["Vector"])
    mix = nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    mix.inputs["A"].default_value = linear(cloth.color)
    mix.inputs["B"].default_value = linear(cloth.fleck)
    links.new(noise.outputs["Fac"], mix.inputs["Factor"])
    links.new(mix.outputs["Result"], shader.inputs["Base Color"])
    bump = nodes.new("ShaderNodeBump")
    bump.inputs["Distance"].default_value = cloth.relief
    bump.inputs["Strength"].default_value = 0.6
    links.new(noise.outputs["Fac"], bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    return material


def linear(color: Rgb) -> tuple[float, float, float, float]:
    """Scene-linear RGBA of an sRGB colour."""
    red, green, blue = (
        (c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in color
    )
    return red, green, blue, 1.0
