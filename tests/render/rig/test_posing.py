import numpy as np
import pytest
from support.rig import SMALL, avatar
from visavis.render.rig import posing
from visavis.render.rig.face import turns
from visavis.render.rig.mesh import Mesh, load_mesh
from visavis.render.rig.units import unit_vector

F32 = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return load_mesh(avatar(), avatar().view(SMALL))


def posed(mesh: Mesh, units: F32, head: tuple[float, float, float] = (0, 0, 0)) -> tuple[F32, F32]:
    world, screen = np.zeros_like(mesh.rest), np.zeros_like(mesh.rest)
    turn = turns(np.array(head, np.float32))
    posing.pose(
        mesh.rest,
        mesh.shape_start,
        mesh.shape_vertex,
        mesh.shape_delta,
        units,
        mesh.head_weight,
        turn,
        mesh.pivot,
        mesh.camera,
        mesh.lens,
        world,
        screen,
    )
    return world, screen


def test_the_rest_pose_lies_on_its_own_texture(mesh: Mesh) -> None:
    _, screen = posed(mesh, unit_vector({}))
    _, _, width, height = avatar().view(SMALL).crop
    front = np.unique(mesh.whole.triangles[mesh.whole.kinds == 0])
    inside = front[(mesh.uv[front] > 1).all(1) & (mesh.uv[front] < (width - 1, height - 1)).all(1)]
    apart = np.abs(screen[inside, :2] - mesh.uv[inside]).max(1)
    assert (apart[mesh.head_weight[inside] == 255] < 0.05).mean() > 0.9


def test_units_add_up(mesh: Mesh) -> None:
    rest, _ = posed(mesh, unit_vector({}))
    jaw, _ = posed(mesh, unit_vector({"jawOpen": 1.0}))
    brow, _ = posed(mesh, unit_vector({"browInnerUp": 1.0}))
    both, _ = posed(mesh, unit_vector({"jawOpen": 0.5, "browInnerUp": 0.25}))
    assert np.allclose(both, rest + 0.5 * (jaw - rest) + 0.25 * (brow - rest), atol=1e-4)


@pytest.mark.parametrize(("head", "axis"), [((8, 0, 0), 0), ((0, 8, 0), 1), ((0, 0, 8), 0)])
def test_positive_angles_go_right_down_and_clockwise(
    mesh: Mesh, head: tuple[float, float, float], axis: int
) -> None:
    _, rest = posed(mesh, unit_vector({}))
    _, turned = posed(mesh, unit_vector({}), head)
    nose_or_top = int(mesh.rest[:, 1].argmax() if head[2] else mesh.rest[:, 2].argmax())
    assert turned[nose_or_top, axis] > rest[nose_or_top, axis] + 3


def test_the_shoulders_stay_when_the_head_turns(mesh: Mesh) -> None:
    still = mesh.head_weight == 0
    assert still.any()
    _, rest = posed(mesh, unit_vector({}))
    _, turned = posed(mesh, unit_vector({}), (10, 5, 5))
    assert np.array_equal(rest[still], turned[still])


def test_normals_have_unit_length_and_look_out_of_a_flat_sheet() -> None:
    world = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9]], np.float32)
    normal = np.full_like(world, 7)
    posing.normals(world, np.array([[0, 1, 2], [0, 2, 3]], np.int32), normal)
    assert np.allclose(normal[:4], [0, 0, 1])
    assert (normal[4] == 7).all()
