import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import face, meshed, moved
from visavis.render.rig.brows import BROW_WAYS, brow_shapes, brow_ways
from visavis.render.rig.expression import EMOTIONS
from visavis.render.rig.tensors import SKIN
from visavis.render.rig.units import UNIT_COUNT, unit_vector

F32 = NDArray[np.float32]
NAMES = ("ruby", "marcus")
EYES = np.array([(0.3, 6, 1), (-0.3, 6, 1)], np.float32)


def lifted(name: str, units: F32, side: float, height: float) -> F32:
    """How far (3,) the skin so far to the left of the model's left eye's middle and above it is moved."""
    mesh, one, canvas = meshed(name), face(name), face(name).canvas()
    off = mesh.rest - mesh.eyes_at[0]
    away = np.linalg.norm(off[:, :2] - (side, height), axis=1) + 9 * (
        (mesh.part != SKIN) | (off[:, 2] < -0.5)
    )
    vertex = int(away.argmin())
    one.lip_gap(moved({}), canvas)
    rest = canvas.world[vertex].copy()
    one.lip_gap(moved(units), canvas)
    return canvas.world[vertex] - rest


@pytest.mark.parametrize("name", NAMES)
def test_tails_rise_with_the_rest_of_brows_that_are_surprised(name: str) -> None:
    peak, tail = (lifted(name, EMOTIONS["surprised"], side, 0.14)[1] for side in (0.14, 0.25))
    assert tail > 0.5 * peak > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_who_is_sad_lifts_the_inner_ends_and_who_is_concerned_draws_them_together(name: str) -> None:
    sad, concerned = (lifted(name, EMOTIONS[mood], -0.13, 0.19) for mood in ("sad", "concerned"))
    assert sad[1] > 2 * lifted(name, EMOTIONS["sad"], 0.2, 0.16)[1]
    assert concerned[1] < sad[1]
    assert concerned[0] < sad[0] - 0.01


def test_only_skin_over_the_eyes_moves_and_halves_mirror_each_other() -> None:
    points = np.array([(0.45, 6.2, 1), (-0.45, 6.2, 1), (0.45, 5.8, 1), (0.45, 6.2, 1)], np.float32)
    own, shapes = brow_shapes(points, np.array([SKIN, SKIN, SKIN, SKIN + 1], np.uint8), EYES)
    assert own.tolist() == [0, 1]
    assert shapes.shape == (len(BROW_WAYS), 2, 3)
    assert shapes[0, 0, 1] == shapes[1, 1, 1] > 0 == shapes[0, 1, 1] == shapes[1, 0, 1]
    assert shapes[3, 0, 0] == -shapes[3, 1, 0] < 0


def test_lids_stay() -> None:
    low = np.array([(0.3, 6.05, 1)], np.float32)
    assert not brow_shapes(low, np.array([SKIN], np.uint8), EYES)[1].any()


def test_brows_at_rest_go_no_way() -> None:
    assert not brow_ways(np.zeros(UNIT_COUNT, np.float32)).any()
    assert brow_ways(unit_vector({"browInnerUp": 0.5, "browOuterUp": 0.5})).tolist() == [0.5, 0.5, 0, 0]
    assert brow_ways(unit_vector({"browDown": 0.5})).tolist() == [0, 0, 0, 0.5]
