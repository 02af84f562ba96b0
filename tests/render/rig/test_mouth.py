from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import avatar, face, meshed, moved
from visavis.render.rig.interior import Interior
from visavis.render.rig.mesh import shape
from visavis.render.rig.mouth import LIP_WAYS, TONGUE_WAYS, fitted, lip_shapes, lip_ways, tongue_shapes
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.tensors import LOWER_TEETH, SKIN, TONGUE, UPPER_TEETH
from visavis.render.rig.units import UNIT_COUNT, unit_vector

F32 = NDArray[np.float32]
NAMES = ("ruby", "marcus")
MOUTH = np.array([0, 5, 1], np.float32)


def test_teeth_grow_narrower_and_nothing_else_moves() -> None:
    vertices = np.array([(0.2, 5, 1), (-0.2, 4.9, 1), (0.2, 5, 1), (0.2, 4.9, 1)], np.float32)
    part = np.array([UPPER_TEETH, LOWER_TEETH, SKIN, TONGUE], np.uint8)
    narrow = fitted(vertices, part, MOUTH)
    assert 0.15 < narrow[0, 0] == -narrow[1, 0] < 0.19
    assert np.array_equal(narrow[2:], vertices[2:])
    assert np.array_equal(narrow[1:, 1:], vertices[1:, 1:])


def test_edges_of_the_upper_teeth_come_nearer_to_one_line_in_their_order() -> None:
    high = np.linspace(0, 0.2, 50)
    vertices = np.stack([high * 0, 4.9 + high, high * 0 + 1], 1).astype(np.float32)
    even = fitted(vertices, np.full(50, UPPER_TEETH, np.uint8), MOUTH)[:, 1] - 4.9
    assert (np.diff(even) > 0).all()
    assert even[0] == 0
    assert even[2] < 0.6 * high[2]
    assert even[-1] == pytest.approx(high[-1], abs=0.001)


@pytest.mark.parametrize("name", NAMES)
def test_a_tongue_lifts_its_tip_or_its_back_or_lies_low(name: str) -> None:
    mesh = meshed(name)
    own, shapes = tongue_shapes(mesh.rest, mesh.part)
    assert shapes.shape == (len(TONGUE_WAYS), len(own), 3)
    depth = mesh.rest[own, 2]
    front, middle = depth > depth.max() - 0.06, np.abs(depth - depth.mean()) < 0.08
    tip, back, low = shapes[..., 1]
    assert tip[front].min() > 0.04
    assert tip[front].mean() > 2 * tip[middle].mean()
    assert back[middle].mean() > 2 * back[front].mean()
    assert (shapes[1, :, 2] <= 0).all()
    assert (low <= 0).all()
    assert low[middle].mean() < low[front].mean() < 0


@pytest.mark.parametrize("name", NAMES)
def test_a_tongue_moves_in_the_mouth_and_moves_nothing_else(name: str) -> None:
    one, mesh, canvas = face(name), meshed(name), face(name).canvas()
    open_jaw = moved({"jawOpen": 0.3})
    one.lip_gap(open_jaw, canvas)
    before = canvas.world.copy()
    for way in range(len(TONGUE_WAYS)):
        one.lip_gap(moved({"jawOpen": 0.3}, tongue=tuple(np.eye(3)[way].tolist())), canvas)
        changed = np.abs(canvas.world - before).max(1) > 1e-6
        assert changed[mesh.part == TONGUE].mean() > 0.5
        assert not changed[mesh.part != TONGUE].any()


def test_a_mesh_without_a_tongue_has_none_that_moves() -> None:
    own, shapes = tongue_shapes(np.ones((4, 3), np.float32), np.full(4, SKIN, np.uint8))
    assert len(own) == shapes.size == 0


@pytest.mark.parametrize("name", NAMES)
def test_lips_open_rounder_beside_their_middle_which_stays(name: str) -> None:
    mesh = meshed(name)
    drop = np.zeros(len(mesh.rest), np.float32)
    body = mesh.body
    jaw = slice(*body.shape_start[[24, 25]].tolist())
    drop[body.shape_vertex[jaw]] = -body.shape_delta[jaw, 1]
    own, shapes = lip_shapes(mesh.rest, mesh.part, mesh.mouth, drop)
    assert shapes.shape == (len(LIP_WAYS), len(own), 3)
    assert (mesh.part[own] == SKIN).all()
    assert not shapes[:4, :, [0, 2]].any()
    even, round_, arch, _, _ = shapes[..., 1]
    for shaped, most in ((even, -0.01), (round_, -0.06)):
        assert most < shaped.min() < -0.002
        assert shaped.max() <= 0
        assert np.abs(shaped[np.isin(own, mesh.lips)]).max() < 0.15 * -shaped.min()
    assert not round_[drop[own] < 0.05].any()
    assert not even[drop[own] > 0.2].any()
    assert not arch[drop[own] > 0.2].any()
    upper = int(np.flatnonzero(own == mesh.lips[0])[0])
    assert 0.02 < arch[upper] > 0.8 * arch.max()


def test_smiling_lips_are_a_bow_and_no_wedge() -> None:
    """Their line is lower between middle and corners, and higher in the middle."""
    sides = np.array([0.0, 0.14, -0.14, 0.3], np.float32)
    points = (MOUTH + np.stack([sides, sides * 0, sides * 0], 1)).astype(np.float32)
    own, shapes = lip_shapes(points, np.full(4, SKIN, np.uint8), MOUTH, np.zeros(4, np.float32))
    middle, half, other, corner = shapes[3, own, 1]
    assert half == other < -0.01 < corner < 0 < middle


def test_a_bite_is_a_roll_of_the_lower_lip_that_no_press_reaches() -> None:
    press, half, whole = (
        lip_ways(unit_vector({"mouthRollLower": roll}))[4]
        for roll in (SHAPES["pp"].units["mouthRollLower"], 0.6, SHAPES["ff"].units["mouthRollLower"])
    )
    assert press == 0 < half < whole == 1


def test_a_bitten_lip_rises_as_far_as_it_lacks_to_reach_the_teeth() -> None:
    """One vertex of each lip, one beside the lower one, and front teeth whose edge is lower or higher."""
    points = MOUTH + np.array(
        [(0, 0.01, -0.05), (0, 0.03, -0.05), (0.2, 0, -0.05), (0, 0, -0.15)], np.float32
    )
    part = np.array([SKIN, SKIN, SKIN, UPPER_TEETH], np.uint8)
    drop = np.array([0.33, 0, 0.3, 0], np.float32)
    rises: list[F32] = []
    for edge in (-0.08, -0.03, 0.0):
        points[3, 1] = MOUTH[1] + edge
        own, shapes = lip_shapes(points.astype(np.float32), part, MOUTH, drop)
        assert own.tolist() == [0, 1, 2]
        rises.append(shapes[4])
    assert not rises[0].any()
    for less, more in pairwise(rises):
        assert (more[:, 1] > less[:, 1]).all()
        assert (more[[0, 2], 2] < less[[0, 2], 2]).all()
        assert more[2, 1] > more[0, 1]


@pytest.mark.parametrize("name", NAMES)
def test_lips_of_a_bite_meet_beside_its_teeth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from the front, nothing dark of the mouth shows between the teeth, here white, and a corner."""
    mesh, canvas = meshed(name), face(name).canvas()
    light, teeth = Interior.light, np.isin(mesh.part, (UPPER_TEETH, LOWER_TEETH))

    def whitened(one: Interior, *poses: NDArray[np.float32]) -> None:
        light(one, *poses)
        poses[-1][teeth] = 255

    monkeypatch.setattr(Interior, "light", whitened)
    pixels = face(name).draw(moved(SHAPES["ff"].units), canvas)
    x, y = canvas.screen[mesh.lips, :2].mean(0)
    wide, high = (float(mesh.lens[0]) / mesh.mouth_depth * reach for reach in (0.2, 0.035))
    seen = pixels[round(y - high) : round(y + high), round(x - wide) : round(x + wide), 0]
    assert (seen < 70).mean() < 0.003


def test_lips_that_are_shut_stay_as_they_are() -> None:
    assert not lip_ways(np.zeros(UNIT_COUNT, np.float32)).any()
    assert not lip_ways(unit_vector({"jawOpen": 0.2, "mouthClose": 0.22})).any()
    assert lip_ways(unit_vector({"mouthSmile": 0.6})).tolist() == [0, 0, 0, 1, 0]
    half, whole = (lip_ways(unit_vector({"jawOpen": weight})) for weight in (0.06, 0.6))
    assert 0 < half[1] < half[0] < 1
    assert whole.tolist() == [1, 1, 1, 0, 0]


def test_jaw_open_is_where_the_shapes_of_lips_look_for_it() -> None:
    assert shape(avatar(), "jawOpen")[:, 1].min() < -0.2


def test_lower_teeth_lie_lower_far_behind_the_front_ones() -> None:
    vertices = np.array([(0, 5, 1), (0, 5, 0.96), (0.1, 5, 0.7), (0.1, 5, 0.5)], np.float32)
    height = fitted(vertices, np.full(4, LOWER_TEETH, np.uint8), MOUTH)[:, 1]
    assert (height[:2] == 5).all()
    assert height[2] == height[3] < 4.95
