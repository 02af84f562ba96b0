import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar
from visavis.render.rig.interior import Interior
from visavis.render.rig.mesh import UPPER_TEETH, Mesh, load_mesh


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return load_mesh(avatar(), avatar().view(SMALL))


def tones(mesh: Mesh, gap: float) -> NDArray[np.float32]:
    """Colours with the lower lip lowered by `gap`."""
    world, facing = mesh.rest.copy(), np.zeros_like(mesh.rest)
    world[mesh.lips[1], 1] = world[mesh.lips[0], 1] - gap
    facing[:, 2] = 1
    screen = np.zeros_like(mesh.rest)
    screen[:, 2] = mesh.mouth_depth + 0.1
    tone = np.zeros_like(mesh.rest)
    Interior(mesh).light(world, screen, facing, tone)
    return tone


def front_teeth(mesh: Mesh) -> NDArray[np.bool_]:
    return (mesh.part == UPPER_TEETH) & (np.abs(mesh.rest[:, 0]) < 0.06)


def test_teeth_shine_in_an_open_mouth_only(mesh: Mesh) -> None:
    teeth = front_teeth(mesh)
    assert tones(mesh, 0.15)[teeth].mean() > 180
    assert tones(mesh, 0.0)[teeth].mean() < 80


def test_teeth_are_darker_at_the_corners_of_the_mouth(mesh: Mesh) -> None:
    tone = tones(mesh, 0.15).mean(1)
    corner = (mesh.part == UPPER_TEETH) & (np.abs(mesh.rest[:, 0]) > 0.28)
    assert tone[corner].max() < 0.6 * tone[front_teeth(mesh)].min()


def test_colours_fit_a_byte(mesh: Mesh) -> None:
    for gap in (0.0, 0.02, 0.3):
        tone = tones(mesh, gap)
        assert tone.min() >= 0
        assert tone.max() < 256


def test_only_the_interior_is_coloured(mesh: Mesh) -> None:
    others = np.setdiff1d(np.arange(len(mesh.rest)), mesh.inner)
    assert not tones(mesh, 0.1)[others].any()


def test_crossed_lips_have_no_gap(mesh: Mesh) -> None:
    world = mesh.rest.copy()
    world[mesh.lips[1], 1] = world[mesh.lips[0], 1] + 0.1
    assert Interior(mesh).gap(world) == 0.0
