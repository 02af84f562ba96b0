import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import avatar
from visavis.render.rig.tensors import BACK, HAIR, INTERIOR, LEFT_EYE, PART_COUNT, TEXTURE, TEXTURES, check
from visavis.render.rig.units import UNITS
from visavis.stream.errors import AvatarError

Tensor = NDArray[np.generic]


def changed(**values: Tensor | None) -> dict[str, Tensor]:
    """Ruby's tensors with some replaced, or left out."""
    tensors = dict(avatar().tensors) | values
    return {key: value for key, value in tensors.items() if value is not None}


def refused(tensors: dict[str, Tensor], said: str, units: tuple[str, ...] = UNITS) -> None:
    with pytest.raises(AvatarError, match=said):
        check("ruby", units, tensors)


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_presenters_fit(name: str) -> None:
    check(name, UNITS, avatar(name).tensors)


def test_every_part_is_either_painted_or_coloured() -> None:
    assert set(TEXTURE) | set(INTERIOR) == set(range(PART_COUNT))
    assert not set(TEXTURE) & set(INTERIOR)
    assert len(TEXTURES) == len(TEXTURE) - 1
    assert len(HAIR) == len(BACK) == 3


def test_other_units_are_refused() -> None:
    refused(changed(), "other face units", ("jawOpen",))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("vertices", np.zeros((3, 2), np.float32), "not"),
        ("uv", np.zeros((3, 2), np.float64), "lacks tensor uv"),
        ("triangles", np.full((1, 3), 60000, np.uint16), "not"),
        ("shape_start", np.zeros(53, np.int32), "points outside itself"),
        ("vertices", None, "lacks tensor vertices"),
        ("shade", None, "lacks tensor shade"),
        ("eye_radius", np.ones(2, np.float32), "eye_radius"),
        ("view_yaw", np.array([0, np.nan, 22], np.float32), "not all numbers"),
    ],
)
def test_a_tensor_that_does_not_fit_is_refused(key: str, value: Tensor | None, said: str) -> None:
    refused(changed(**{key: value}), said)


@pytest.mark.parametrize(("key", "value"), [("triangles", 65535), ("shape_vertex", 65535), ("parts", 14)])
def test_an_index_outside_its_table_is_refused(key: str, value: int) -> None:
    refused(changed(**{key: np.full_like(avatar().tensors[key], value)}), "points outside itself")


def test_shapes_must_follow_each_other() -> None:
    start = avatar().tensors["shape_start"].astype(np.int32)
    start[3], start[4] = start[4] + 1, start[3]
    refused(changed(shape_start=start), "points outside itself")


def test_a_head_without_eyes_is_refused() -> None:
    parts = avatar().tensors["parts"].copy()
    parts[parts == LEFT_EYE] = 0
    refused(changed(parts=parts), "no skin or no eyes")
