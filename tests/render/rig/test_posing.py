import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar
from visavis.render.rig import posing
from visavis.render.rig.mesh import Group, Mesh, load_mesh, projected
from visavis.render.rig.units import unit_vector

F32 = NDArray[np.float32]
Head = tuple[float, float, float]


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return load_mesh(avatar(), avatar().view(SMALL))


def turned(head: Head) -> F32:
    matrices = np.zeros((posing.LEVELS, 3, 3), np.float32)
    posing.turns(np.array(head, np.float32), matrices)
    return matrices


def posed(
    mesh: Mesh,
    units: F32,
    head: Head = (0, 0, 0),
    *,
    group: Group | None = None,
    trail: F32 | None = None,
    lag: tuple[float, float] = (0, 0),
    sway: tuple[float, ...] = (0, 0, 0, 0, 0, 1),
) -> tuple[F32, F32]:
    world, screen = np.zeros_like(mesh.rest), np.zeros_like(mesh.rest)
    own = group or mesh.body
    posing.pose(
        own.first, own.last, mesh.rest, own.shape_start, own.shape_vertex, own.shape_delta, units,
        mesh.head_weight, turned(head), mesh.pivot, mesh.trail if trail is None else trail,
        np.array([*lag, mesh.hair_top], np.float32), np.array(sway, np.float32), mesh.camera, mesh.lens,
        world, screen,
    )  # fmt: skip
    return world[own.first : own.last], screen[own.first : own.last]


def test_turns_are_rotations_that_grow_with_the_weight() -> None:
    matrices = turned((10, -4, 3))
    assert np.allclose(matrices[0], np.eye(3))
    assert np.allclose(matrices @ matrices.transpose(0, 2, 1), np.eye(3), atol=1e-6)
    assert (np.diff(np.abs(matrices - np.eye(3)).sum((1, 2))) > 0).all()


def test_a_turn_is_yaw_then_pitch_then_roll() -> None:
    whole = turned((20, -9, 6))[-1]
    yaw, pitch, roll = turned((20, 0, 0))[-1], turned((0, -9, 0))[-1], turned((0, 0, 6))[-1]
    assert np.allclose(whole, roll @ pitch @ yaw, atol=1e-6)


def test_the_rest_pose_is_the_mesh_as_the_camera_sees_it(mesh: Mesh) -> None:
    world, screen = posed(mesh, unit_vector({}))
    assert np.allclose(world, mesh.rest[: mesh.body.last], atol=1e-5)
    assert np.abs(screen - projected(mesh.rest, mesh.camera, mesh.lens)[: mesh.body.last]).max() < 1e-2


def test_units_add_up(mesh: Mesh) -> None:
    rest, _ = posed(mesh, unit_vector({}))
    jaw, _ = posed(mesh, unit_vector({"jawOpen": 1.0}))
    brow, _ = posed(mesh, unit_vector({"browInnerUp": 1.0}))
    both, _ = posed(mesh, unit_vector({"jawOpen": 0.5, "browInnerUp": 0.25}))
    assert np.abs(jaw - rest).max() > 0.1
    assert np.allclose(both, rest + 0.5 * (jaw - rest) + 0.25 * (brow - rest), atol=1e-4)


@pytest.mark.parametrize(("head", "axis"), [((8, 0, 0), 0), ((0, 8, 0), 1), ((0, 0, 8), 0)])
def test_positive_angles_go_right_down_and_clockwise(mesh: Mesh, head: Head, axis: int) -> None:
    _, rest = posed(mesh, unit_vector({}))
    _, moved = posed(mesh, unit_vector({}), head)
    body = mesh.rest[: mesh.body.last]
    nose_or_top = int(body[:, 1].argmax() if head[2] else body[:, 2].argmax())
    assert moved[nose_or_top, axis] > rest[nose_or_top, axis] + 3


def test_the_collar_stays_when_the_head_turns(mesh: Mesh) -> None:
    still = mesh.head_weight[: mesh.body.last] == 0
    assert still.any()
    _, rest = posed(mesh, unit_vector({}))
    _, moved = posed(mesh, unit_vector({}), (10, 5, 5))
    assert np.array_equal(rest[still], moved[still])


def test_a_sway_lifts_the_collar_more_than_the_head(mesh: Mesh) -> None:
    _, rest = posed(mesh, unit_vector({}))
    _, moved = posed(mesh, unit_vector({}), sway=(3.0, -2.0, -1.0, 0.0, 0.0, 1.0))
    weight = mesh.head_weight[: mesh.body.last]
    shift = moved - rest
    assert shift[:, 0] == pytest.approx(3.0, abs=1e-3)
    assert shift[weight == 0, 1] == pytest.approx(-2.0, abs=1e-3)
    assert shift[weight == 255, 1] == pytest.approx(-1.0, abs=1e-3)
    assert not shift[:, 2].any()


def test_a_tilt_lowers_one_side_of_the_collar_and_not_the_head(mesh: Mesh) -> None:
    _, rest = posed(mesh, unit_vector({}))
    middle, half = float(rest[:, 0].mean()), 20.0
    _, moved = posed(mesh, unit_vector({}), sway=(0.0, 0.0, 0.0, 4.0, middle, half))
    weight, drop = mesh.head_weight[: mesh.body.last], (moved - rest)[:, 1]
    assert np.abs(drop[weight == 255]).max() < 1e-3
    collar, side = weight == 0, (rest[:, 0] - middle) / half
    assert drop[collar & (side > 1)] == pytest.approx(4.0, abs=1e-3)
    assert drop[collar & (side < -1)] == pytest.approx(-4.0, abs=1e-3)
    inner = collar & (np.abs(side) < 1)
    assert drop[inner] == pytest.approx(4 * side[inner], abs=1e-3)


def test_hair_that_trails_has_turned_less_the_lower_it_hangs(mesh: Mesh) -> None:
    group = mesh.reliefs[0].group
    none, lag = np.zeros(len(mesh.rest), np.float32), np.radians(6.0)
    ahead, _ = posed(mesh, unit_vector({}), (12, 0, 0), group=group, trail=none)
    behind, _ = posed(mesh, unit_vector({}), (6, 0, 0), group=group, trail=none)
    whole, _ = posed(mesh, unit_vector({}), (12, 0, 0), group=group, trail=none + 1, lag=(lag, 0))
    half, _ = posed(mesh, unit_vector({}), (12, 0, 0), group=group, trail=none + 0.5, lag=(lag, 0))
    full = mesh.head_weight[group.first : group.last] == 255
    assert np.abs(whole - behind)[full].max() < 0.02
    assert np.abs(half - (ahead + behind) / 2)[full].max() < 0.02
    assert np.abs(whole - ahead)[full].max() > 0.05


def test_normals_have_unit_length_and_look_out_of_a_flat_sheet() -> None:
    world = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9]], np.float32)
    normal = np.full_like(world, 7)
    posing.normals(world, np.array([[0, 1, 2], [0, 2, 3]], np.int32), normal)
    assert np.allclose(normal[:4], [0, 0, 1])
    assert (normal[4] == 7).all()


def test_a_box_grows_to_hold_its_vertices() -> None:
    screen = np.array([(5.2, 7.9, 1), (-3.5, 12.1, 1), (100, 100, 1)], np.float32)
    box = np.array([4, 9, 6, 10], np.int64)
    posing.bound(screen, 0, 2, box)
    assert box.tolist() == [-4, 7, 6, 13]
