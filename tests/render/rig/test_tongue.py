import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import face, meshed, moved
from visavis.render.rig.motion import Motion
from visavis.render.rig.tensors import LOWER_TEETH, TONGUE, UPPER_TEETH

F32 = NDArray[np.float32]
NAMES = ("ruby", "marcus")


def posed(name: str, motion: Motion) -> F32:
    canvas = face(name).canvas()
    face(name).lip_gap(motion, canvas)
    return canvas.world.copy()


def front(name: str, part: int) -> NDArray[np.intp]:
    mesh = meshed(name)
    return np.flatnonzero((mesh.part == part) & (np.abs(mesh.rest[:, 0]) < 0.06))


@pytest.mark.parametrize("out", [0.3, 0.5, 0.78, 0.9])
@pytest.mark.parametrize("tip", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("name", NAMES)
def test_a_tongue_that_is_out_lies_under_the_upper_teeth_and_over_the_lower_ones(
    name: str, tip: float, out: float
) -> None:
    """It is cut by neither row: before the backs of the upper teeth nothing of it is above their edge."""
    mesh = meshed(name)
    world = posed(name, moved({"jawOpen": 0.2, "tongueOut": out}, tongue=(tip, 0.0, 0.0)))
    tongue = world[mesh.part == TONGUE]
    upper, lower = world[front(name, UPPER_TEETH)], world[front(name, LOWER_TEETH)]
    edge, top = float(upper[:, 1].min()), float(lower[:, 1].max())
    behind = float(upper[upper[:, 1] < edge + 0.03, 2].min())
    among = tongue[tongue[:, 2] > behind]
    assert len(among)
    assert edge - (0.03 if tip else 0.06) < among[:, 1].max() < edge
    assert among[:, 1].min() > top - 0.01


@pytest.mark.parametrize("jaw", [0.12, 0.2, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_a_raised_tip_reaches_up_behind_the_teeth_however_low_the_jaw_hangs(name: str, jaw: float) -> None:
    mesh = meshed(name)
    world = posed(name, moved({"jawOpen": jaw, "tongueOut": 0.08}, tongue=(0.5, 0.0, 0.0)))
    low = posed(name, moved({"jawOpen": jaw, "tongueOut": 0.08}))
    edge = float(world[front(name, UPPER_TEETH), 1].min())
    own = np.flatnonzero(mesh.part == TONGUE)
    tip = own[mesh.rest[own, 2] > mesh.rest[own, 2].max() - 0.02]
    assert world[tip, 1].max() > edge + 0.01
    assert low[tip, 1].max() < world[tip, 1].max() - 0.02


@pytest.mark.parametrize("name", NAMES)
def test_the_underside_of_a_raised_tip_hangs_behind_it(name: str) -> None:
    """So there is flesh to be seen between the teeth, and not a flap over a hole."""
    mesh = meshed(name)
    high, low = (
        posed(name, moved({"jawOpen": 0.3, "tongueOut": 0.08}, tongue=(tip, 0.0, 0.0))) for tip in (0.5, 0.0)
    )
    own = np.flatnonzero((mesh.part == TONGUE) & (np.abs(mesh.rest[:, 0]) < 0.02))
    near = own[mesh.rest[own, 2] > mesh.rest[own, 2].max() - 0.07]
    rise = high[near, 1] - low[near, 1]
    top, under = near[mesh.rest[near, 1].argmax()], near[mesh.rest[near, 1].argmin()]
    assert rise.min() > 0
    assert rise[near == under] < 0.5 * rise[near == top]


def test_a_tip_half_raised_is_between_and_the_shared_mesh_stays() -> None:
    mesh = meshed()
    rest = mesh.rest.copy()
    own = np.flatnonzero(mesh.part == TONGUE)
    tip = own[mesh.rest[own, 2].argmax()]
    heights = [
        posed("ruby", moved({"jawOpen": 0.3}, tongue=(share, 0.0, 0.0)))[tip, 1]
        for share in (0.0, 0.1, 0.2, 0.3, 0.4)
    ]
    assert (np.diff(heights) > 0.005).all()
    assert np.array_equal(mesh.rest, rest)


def test_a_canvas_remembers_no_tongue_of_the_frame_before() -> None:
    one, canvas = face("ruby"), face("ruby").canvas()
    first = moved({"jawOpen": 0.2})
    one.lip_gap(first, canvas)
    before = canvas.world.copy()
    one.lip_gap(moved({"jawOpen": 0.3, "tongueOut": 0.7}, tongue=(0.6, 0.0, 0.0)), canvas)
    one.lip_gap(first, canvas)
    assert np.array_equal(canvas.world, before)
