"""A presenter in the studio: everything that is drawn, by the role it plays in the layers."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from .base import F64
from .beard import add_beard
from .brows import add_brows
from .eyes import add_eyes
from .garments import add_garments, outside
from .hair import add_hair, scalp
from .looks import LOOKS
from .nodes import Shader, add_mesh, new_scene, rgba, subdivided
from .person import Person
from .skin import add_skin
from .studio import add_light
from .surface import Surface
from .whiskers import beard_density

SHOWN, HIDDEN, HELD_OUT, ABSENT = "shown", "hidden", "held out", "absent"
ROLES: Final = ("skin", "strands", "eyes", "mouth", "hair", "clothes")
LAYERS: Final = MappingProxyType(
    {
        "all": dict.fromkeys(ROLES, SHOWN),
        "skin": dict.fromkeys(ROLES, SHOWN) | {"hair": HIDDEN, "clothes": HELD_OUT},
        "hair": dict.fromkeys(ROLES, HELD_OUT) | {"hair": SHOWN, "strands": ABSENT},
        "back": dict.fromkeys(ROLES, HIDDEN) | {"hair": SHOWN, "clothes": HELD_OUT},
        "body": dict.fromkeys(ROLES, HIDDEN) | {"skin": SHOWN, "clothes": SHOWN},
    }
)
"""What the camera sees of each role in each layer; what is hidden still throws its shadow.

"strands" are brows and beard.
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """`things` are Blender's objects by role; `cut` is the switch that hides the head's skin (0 or 1).

    `fuzz` repeats the strands of a beard along the jaw's outline, by view; it belongs to the layer "hair".
    """

    things: dict[str, list[Any]]
    fuzz: dict[str, Any]
    cut: Any

    def show(self, layer: str, view: str) -> None:
        """Makes everything shown, hidden, held out or absent as the layer wants it."""
        for role, things in self.things.items():
            state = LAYERS[layer][role]
            for thing in things:
                thing.visible_camera = state != HIDDEN
                thing.is_holdout = state == HELD_OUT
                thing.hide_render = state == ABSENT
        for each, thing in self.fuzz.items():
            thing.hide_render = layer != "hair" or each != view
        self.cut.default_value = float(layer == "body")


def build_scene(person: Person, view: str) -> Scene:
    """The scene as the camera of `view` needs it: only the face's expression depends on it."""
    new_scene()
    look, posed = LOOKS[person.cast.name], person.seen(view)
    surface = Surface(person, person.landmarks.chin[1] - 0.9, outside(person))
    skin = add_skin(person, look, posed, scalp(person, look.hair.style), beard_density(person, look.beard))
    limit = person.limit(posed)
    beard, fuzz = add_beard(surface, look, limit)
    things = {
        "skin": [skin],
        "strands": [*add_brows(surface, look.brow, limit), *beard],
        "eyes": add_eyes(person),
        "mouth": _mouth(person, posed),
        "hair": add_hair(surface, look.hair),
        "clothes": add_garments(person),
    }
    add_light(person.landmarks, look.light, things["hair"])
    return Scene(things, fuzz, _cut(skin.data.materials[0]))


def _mouth(person: Person, posed: F64) -> list[Any]:
    """Teeth and tongue, for their shadow and for what they hide."""
    kinds = (("helper-upper-teeth", (232, 222, 204)), ("helper-lower-teeth", (226, 214, 194)))
    things: list[Any] = []
    for group, color in (*kinds, ("helper-tongue", (180, 88, 86))):
        shader = Shader(group)
        shader.set(base_color=rgba(color), roughness=0.25)
        used, inverse = np.unique(person.faces(group), return_inverse=True)
        uv = person.base.texels[person.corners(group)].reshape(-1, 2)
        points, quads, _ = subdivided(posed[used], inverse.reshape(-1, 4), uv, 2)
        things.append(add_mesh(group, points, quads, shader.material))
    return things


def _cut(material: Any) -> Any:
    """A switch in the skin's material: at 1 the camera looks through the head down to the neck's stump."""
    tree = material.node_tree
    nodes, links = tree.nodes, tree.links
    switch = nodes.new("ShaderNodeValue").outputs[0]
    head = nodes.new("ShaderNodeMath")
    head.operation = "GREATER_THAN"
    links.new(nodes.new("ShaderNodeAttribute").outputs["Fac"], head.inputs[0])
    head.inputs[0].links[0].from_node.attribute_name = "cut"
    head.inputs[1].default_value = 0.0
    away = _math(tree, "MAXIMUM", head.outputs[0], nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"])
    seen = _math(tree, "MULTIPLY", away, nodes.new("ShaderNodeLightPath").outputs["Is Camera Ray"])
    share = _math(tree, "MULTIPLY", seen, switch)
    mixer = nodes.new("ShaderNodeMixShader")
    links.new(share, mixer.inputs[0])
    links.new(nodes["Principled BSDF"].outputs[0], mixer.inputs[1])
    links.new(nodes.new("ShaderNodeBsdfTransparent").outputs[0], mixer.inputs[2])
    links.new(mixer.outputs[0], nodes["Material Output"].inputs[0])
    return switch


def _math(tree: Any, operation: str, first: Any, second: Any) -> Any:
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    tree.links.new(first, node.inputs[0])
    tree.links.new(second, node.inputs[1])
    return node.outputs[0]
