"""Blender by numpy: meshes, strands of hair and a small language for materials.

Points are given in model space (x to the viewer's right, y up, z to the viewer) and turned here.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import bpy
import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, Ints
from .looks import Rgb

Value = Any
"""A number, a tuple, or a socket of a node: bpy has no types worth the name."""


def to_blender(points: F64) -> F64:
    """Model space to Blender's (z up)."""
    x, y, z = np.moveaxis(np.asarray(points, float), -1, 0)
    return np.stack([x, -z, y], -1)


def linear(color: Rgb) -> F64:
    """8-bit sRGB to linear light, (3,)."""
    value = np.asarray(color, float) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def rgba(color: Rgb) -> tuple[float, float, float, float]:
    """8-bit sRGB as Blender wants a colour."""
    red, green, blue = linear(color).tolist()
    return red, green, blue, 1.0


def new_scene() -> Any:
    """An empty scene, everything before it forgotten."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


def _adopt(name: str, block: Any, material: Any) -> Any:
    if material is not None:
        block.materials.append(material)
    thing = bpy.data.objects.new(name, block)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def add_mesh(
    name: str,
    points: F64,
    faces: Ints,
    material: Any = None,
    *,
    uv: F64 | None = None,
    attributes: Mapping[str, F64] | None = None,
) -> Any:
    """A smooth-shaded mesh; `uv` (F * corners, 2), `attributes` (V,), (V, 3) or (V, 4)."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(to_blender(points).tolist(), [], np.asarray(faces).tolist())
    if uv is not None:
        mesh.uv_layers.new(name="UVMap").data.foreach_set("uv", uv.astype(np.float32).ravel())
    for key, values in (attributes or {}).items():
        _set_attribute(mesh, key, values, "POINT")
    mesh.shade_smooth()
    return _adopt(name, mesh, material)


def _set_attribute(block: Any, key: str, values: F64, domain: str) -> None:
    kind, slot = {1: ("FLOAT", "value"), 2: ("FLOAT_VECTOR", "vector")}[values.ndim]
    if values.ndim == 2 and values.shape[1] == 4:
        kind, slot = "FLOAT_COLOR", "color"
    attribute = block.attributes.new(key, kind, domain)
    attribute.data.foreach_set(slot, np.ascontiguousarray(values, np.float32).ravel())


def subdivided(points: F64, faces: Ints, uv: F64, level: int) -> tuple[F64, Ints, F64]:
    """Catmull-Clark by `level`: points, quads and uv by corner of the finer mesh."""
    thing = add_mesh("fine", points, faces, uv=uv)
    modifier = thing.modifiers.new("fine", "SUBSURF")
    modifier.levels = modifier.render_levels = level
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    fine = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", fine)
    quads = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", quads)
    texels = np.empty(len(mesh.loops) * 2, np.float32)
    mesh.uv_layers[0].data.foreach_get("uv", texels)
    bpy.data.objects.remove(thing)
    x, y, z = fine.reshape(-1, 3).T.astype(float)
    return np.stack([x, z, -y], 1), quads.reshape(-1, 4).astype(np.int64), texels.reshape(-1, 2).astype(float)


def add_strands(name: str, paths: F64, radius: F64, material: Any, tone: F64) -> Any:
    """Hair along `paths` (N, K, 3), `radius` broadcasts to (N, K), `tone` (N,) is for the material."""
    count, knots, _ = paths.shape
    curves = bpy.data.hair_curves.new(name)
    curves.add_curves([knots] * count)
    position = to_blender(paths).astype(np.float32).ravel()
    curves.attributes["position"].data.foreach_set("vector", position)
    width = curves.attributes.get("radius") or curves.attributes.new("radius", "FLOAT", "POINT")
    width.data.foreach_set("value", np.broadcast_to(radius, (count, knots)).astype(np.float32).ravel())
    _set_attribute(curves, "tone", tone, "CURVE")
    return _adopt(name, curves, material)


def load_picture(pixels: NDArray[np.uint8], name: str, space: str = "sRGB") -> Any:
    """An image of Blender's from RGBA or grey `pixels` (H, W[, 4])."""
    path = Path(mkdtemp()) / f"{name}.png"
    shown = pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, cv2.COLOR_RGBA2BGRA)
    cv2.imwrite(str(path), shown)
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = space
    return image


class Shader:
    """A material under construction; its methods add a node and return the socket that carries the result."""

    def __init__(self, name: str) -> None:
        self.material = bpy.data.materials.new(name)
        self.material.use_nodes = True
        tree = self.material.node_tree
        self.nodes, self.links = tree.nodes, tree.links
        self.principled = self.nodes.get("Principled BSDF")
        self.output = self.nodes.get("Material Output")

    def node(self, kind: str, **settings: Any) -> Any:
        """A new node with properties set."""
        node = self.nodes.new(kind)
        for key, value in settings.items():
            setattr(node, key, value)
        return node

    def put(self, value: Value, socket: Any) -> None:
        """`value`, a number, a tuple or a socket, into `socket`."""
        if isinstance(value, int | float | tuple):
            socket.default_value = value
        else:
            self.links.new(value, socket)

    def set(self, **inputs: Value) -> None:
        """Inputs of the principled surface: `subsurface_weight=0.5` is its "Subsurface Weight"."""
        for key, value in inputs.items():
            self.put(value, self.principled.inputs[key.replace("_", " ").title().replace("Ior", "IOR")])

    def mix(self, first: Value, second: Value, share: Value, mode: str = "MIX") -> Any:
        node = self.node("ShaderNodeMix", data_type="RGBA", blend_type=mode)
        for value, index in ((share, 0), (first, 6), (second, 7)):
            self.put(value, node.inputs[index])
        return node.outputs[2]

    def math(self, operation: str, first: Value, second: Value = 0.0) -> Any:
        node = self.node("ShaderNodeMath", operation=operation)
        self.put(first, node.inputs[0])
        self.put(second, node.inputs[1])
        return node.outputs[0]

    def add(self, *terms: Value) -> Any:
        total = terms[0]
        for term in terms[1:]:
            total = self.math("ADD", total, term)
        return total

    def mul(self, *factors: Value) -> Any:
        total = factors[0]
        for factor in factors[1:]:
            total = self.math("MULTIPLY", total, factor)
        return total

    def ramp(self, value: Value, low: float, high: float, start: float = 0.0, end: float = 1.0) -> Any:
        """`start` below `low`, `end` above `high`, smooth between."""
        node = self.node("ShaderNodeMapRange", interpolation_type="SMOOTHSTEP")
        for term, index in ((value, 0), (low, 1), (high, 2), (start, 3), (end, 4)):
            self.put(term, node.inputs[index])
        return node.outputs[0]

    def attribute(self, name: str, output: str = "Fac") -> Any:
        return self.node("ShaderNodeAttribute", attribute_name=name).outputs[output]

    def noise(self, at: Any, scale: float, detail: float = 3.0, rough: float = 0.6) -> Any:
        node = self.node("ShaderNodeTexNoise")
        node.inputs["Scale"].default_value = scale
        node.inputs["Detail"].default_value = detail
        node.inputs["Roughness"].default_value = rough
        self.put(at, node.inputs["Vector"])
        return node.outputs[0]

    def stretched(self, at: Any, factors: tuple[float, float, float]) -> Any:
        """The place `at` with Blender's x, y, z multiplied."""
        node = self.node("ShaderNodeVectorMath", operation="MULTIPLY")
        self.put(at, node.inputs[0])
        self.put(factors, node.inputs[1])
        return node.outputs[0]

    def cells(self, at: Any, scale: float, output: str = "Distance") -> Any:
        node = self.node("ShaderNodeTexVoronoi")
        node.inputs["Scale"].default_value = scale
        self.put(at, node.inputs["Vector"])
        return node.outputs[output]

    def picture(self, image: Any) -> Any:
        """`image` over the mesh's uv."""
        node = self.node("ShaderNodeTexImage", extension="EXTEND", image=image)
        self.put(self.node("ShaderNodeTexCoord").outputs["UV"], node.inputs["Vector"])
        return node.outputs["Color"]

    def bump(self, height: Any, strength: float, distance: float) -> None:
        """Roughens the principled surface by `height` in units of `distance` dm."""
        node = self.node("ShaderNodeBump")
        node.inputs["Strength"].default_value = strength
        node.inputs["Distance"].default_value = distance
        self.put(height, node.inputs["Height"])
        self.put(node.outputs[0], self.principled.inputs["Normal"])


def hair_material(name: str, dark: Rgb, light: Rgb, roughness: float, *, tips: float = 0.0) -> Any:
    """Strands from `dark` to `light` by their `tone`; `tips` lightens them towards their ends."""
    shader = Shader(name)
    shader.nodes.remove(shader.principled)
    strand = shader.node("ShaderNodeBsdfHairPrincipled", parametrization="COLOR")
    along = shader.mul(shader.node("ShaderNodeHairInfo").outputs["Intercept"], tips)
    tone = shader.math("MINIMUM", shader.add(shader.attribute("tone"), along), 1.0)
    shader.put(shader.mix(rgba(dark), rgba(light), tone), strand.inputs["Color"])
    for key, value in (
        ("Roughness", roughness),
        ("Radial Roughness", roughness + 0.15),
        ("Random Roughness", 0.2),
        ("IOR", 1.50),
    ):
        strand.inputs[key].default_value = value
    shader.put(strand.outputs[0], shader.output.inputs[0])
    return shader.material
