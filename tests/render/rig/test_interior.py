import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import meshed
from visavis.render.rig.interior import Interior
from visavis.render.rig.mesh import Mesh
from visavis.render.rig.tensors import CAVITY, TONGUE, UPPER_TEETH


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return meshed()


def tones(
    mesh: Mesh, gap: float, *, depth: float = 0.1, facing: float = 1.0, pursed: float = 0.0
) -> NDArray[np.float32]:
    """Colours with the lower lip lowered by `gap`, all `depth` behind lips that are `pursed` so far, and
    turned the same way."""
    world, normal = mesh.rest.copy(), np.zeros_like(mesh.rest)
    world[mesh.lips[1], 1] = world[mesh.lips[0], 1] - gap
    normal[:, 2], normal[:, 1] = facing, -np.sqrt(1 - facing * facing)
    screen = np.zeros_like(mesh.rest)
    screen[:, 2] = mesh.mouth_depth + depth
    tone = np.zeros_like(mesh.rest)
    Interior(mesh).light(world, screen, normal, pursed, tone)
    return tone


def front_teeth(mesh: Mesh) -> NDArray[np.bool_]:
    """Upper teeth, not gum, in the middle."""
    white = mesh.color.min(1) > 150
    return (mesh.part == UPPER_TEETH) & (np.abs(mesh.rest[:, 0]) < 0.06) & white & (mesh.shade > 0.8)


def test_teeth_shine_in_an_open_mouth_only(mesh: Mesh) -> None:
    teeth = front_teeth(mesh)
    assert teeth.any()
    assert tones(mesh, 0.15)[teeth].mean() > 160
    assert tones(mesh, 0.0)[teeth].mean() < 80


def test_teeth_are_darker_at_the_corners_of_the_mouth(mesh: Mesh) -> None:
    tone = tones(mesh, 0.15).mean(1)
    corner = (mesh.part == UPPER_TEETH) & (np.abs(mesh.rest[:, 0]) > 0.24)
    assert tone[corner].max() < 0.6 * tone[front_teeth(mesh)].min()


def test_teeth_are_darker_with_depth_and_when_they_turn_from_the_light(mesh: Mesh) -> None:
    teeth = front_teeth(mesh)
    front = tones(mesh, 0.15)[teeth].mean()
    assert tones(mesh, 0.15, depth=0.5)[teeth].mean() < 0.75 * front
    assert tones(mesh, 0.15, facing=0.4)[teeth].mean() < 0.85 * front


def test_teeth_are_darker_behind_pursed_lips(mesh: Mesh) -> None:
    teeth = front_teeth(mesh)
    free, half, whole = (tones(mesh, 0.15, pursed=pursed)[teeth].mean() for pursed in (0.0, 0.5, 1.0))
    assert 0.7 * free < whole < half < free


def test_a_tongue_is_flesh_that_stands_out_from_the_dark_behind_it(mesh: Mesh) -> None:
    tone = tones(mesh, 0.15)
    tongue, cavity = (tone[mesh.part == part].mean(0) for part in (TONGUE, CAVITY))
    assert tongue[0] > 1.3 * cavity[0]
    assert tongue[0] > 1.5 * tongue[1] > 1.5 * tongue[2]
    assert tone[front_teeth(mesh)].mean() > 1.5 * tongue.mean()


def test_teeth_read_as_one_band_at_a_small_opening(mesh: Mesh) -> None:
    tone = tones(mesh, 0.03).mean(1)
    white = (mesh.part == UPPER_TEETH) & (mesh.color.min(1) > 150)
    row = white & (np.abs(mesh.rest[:, 0]) < 0.06) & (mesh.shade > 0.3)
    assert tone[front_teeth(mesh)].mean() > 160
    assert tone[row].min() > 0.45 * tone[row].max()


def test_a_mouth_opens_without_a_jump_in_its_light(mesh: Mesh) -> None:
    teeth = front_teeth(mesh)
    steps = [tones(mesh, gap)[teeth].mean() for gap in np.linspace(0, 0.06, 25)]
    assert (np.diff(steps) >= -0.01).all()
    assert np.diff(steps).max() < 20


def test_what_no_light_reaches_is_dark_flesh_and_not_a_hole(mesh: Mesh) -> None:
    for gap in (0.0, 0.02, 0.3):
        tone = tones(mesh, gap, depth=0.6, facing=0.0)[np.unique(mesh.inner)]
        assert tone[:, 0].min() > 20
        assert (tone[:, 0] > tone[:, 2]).all()


def test_only_the_interior_is_coloured(mesh: Mesh) -> None:
    others = np.setdiff1d(np.arange(len(mesh.rest)), mesh.inner)
    assert not tones(mesh, 0.1)[others].any()


def test_crossed_lips_have_no_gap(mesh: Mesh) -> None:
    world = mesh.rest.copy()
    world[mesh.lips[1], 1] = world[mesh.lips[0], 1] + 0.1
    assert Interior(mesh).gap(world) == 0.0


def test_a_tongue_near_the_lips_is_pink_and_lit_and_a_far_one_lies_in_the_dark(mesh: Mesh) -> None:
    near, far = (
        tones(mesh, 0.15, depth=depth)[(mesh.part == TONGUE) & (mesh.shade > 0.75)].mean(0)
        for depth in (0.1, 0.45)
    )
    assert near[0] > 150
    assert near[0] < 2.1 * near[1]
    assert far[0] < 0.5 * near[0]
