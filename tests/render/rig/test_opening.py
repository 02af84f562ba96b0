import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mouths import gap
from visavis.render.rig.lips import Mouth
from visavis.render.rig.opening import AROUND, MEETING, PARTING, Ask, asked, bound, led, opening, parted
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.units import UNITS, unit_vector

FREE = [Ask(0.0, 0.0)] * AROUND
SEALED = unit_vector({"jawOpen": 0.3, "mouthClose": 0.35, "mouthRollLower": 0.14})
asks = st.lists(st.floats(0, 0.25), min_size=8, max_size=30)


def walked(sequence: list[Ask]) -> list[float]:
    """How far lips stand apart that are asked a `sequence`, between rests."""
    row = [*FREE, *sequence, *FREE]
    gaps = [0.0]
    for at in range(AROUND, len(row) - AROUND):
        near = {k: row[at + k] for k in range(-AROUND, AROUND + 1)}
        gaps.append(bound(near, gaps[-1]))
    return gaps[1:]


@pytest.mark.parametrize("presenter", ["ruby", "marcus"])
@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("sil", "pp")])
def test_the_opening_of_units_is_that_of_the_faces(presenter: str, name: str) -> None:
    units = unit_vector(SHAPES[name].units)
    assert opening(units) == pytest.approx(gap(units, presenter), abs=0.02)


def test_sealed_lips_do_not_stand_apart() -> None:
    assert opening(SEALED) == 0
    assert opening(np.zeros(len(UNITS), np.float32)) == 0


@given(asks)
def test_no_step_is_larger_than_lips_can_take(openings: list[float]) -> None:
    steps = np.diff([0.0, *walked([Ask(each, 0.0) for each in openings])])
    assert steps.max() <= PARTING + 1e-6
    assert steps.min() >= -MEETING - 1e-6


def test_what_lips_can_do_is_left_as_it_is() -> None:
    slow = [0.02, 0.05, 0.08, 0.10, 0.10, 0.07, 0.04, 0.01]
    assert walked([Ask(each, 0.0) for each in slow]) == pytest.approx(slow)


def test_a_closure_is_met_in_time_by_lips_that_start_before_it() -> None:
    found = walked([*[Ask(0.15, 0.0)] * 6, Ask(0.0, 1.0), *[Ask(0.15, 0.0)] * 6])
    assert found[6] == 0
    assert found[4:7] == pytest.approx([min(0.15, 2 * MEETING), MEETING, 0.0])
    assert found[7:9] == pytest.approx([PARTING, min(0.15, 2 * PARTING)])


def test_a_valley_that_is_no_closure_is_passed_over_in_part() -> None:
    found = walked([*[Ask(0.15, 0.0)] * 6, Ask(0.0, 0.0), *[Ask(0.15, 0.0)] * 6])
    assert 0.02 < found[6] < 0.08


def test_a_closure_nobody_foresaw_is_met_faster() -> None:
    assert bound({0: Ask(0.0, 1.0)}, 0.25) == pytest.approx(0.25 - 1.35 * MEETING)
    assert bound({0: Ask(0.0, 0.0)}, 0.25) == pytest.approx(0.25 - MEETING)


@pytest.mark.parametrize("name", ["aa", "eh", "oh", "ss"])
@pytest.mark.parametrize("share", [0.2, 0.6, 1.4])
def test_led_lips_stand_as_far_apart_as_told_and_as_round_as_before(name: str, share: float) -> None:
    mouth = Mouth(unit_vector(SHAPES[name].units), 0.0)
    told = share * opening(mouth.units)
    moved = led(mouth, told)
    assert opening(moved.units) == pytest.approx(told, abs=0.003)
    pucker = UNITS.index("mouthPucker")
    assert moved.units[pucker] == mouth.units[pucker]


def test_asking_keeps_the_hold() -> None:
    assert asked(Mouth(SEALED, 0.7)) == Ask(0.0, 0.7)


def test_a_tongue_moves_on_whatever_the_lips_may() -> None:
    mouth = Mouth(unit_vector(SHAPES["aa"].units), 0.0, np.array([0.1, 0.2, 0.9], np.float32))
    assert led(mouth, 0.02).tongue.tolist() == mouth.tongue.tolist()


def test_lips_go_less_far_than_shouts_would_and_small_openings_are_left_alone() -> None:
    def apart(jaw: float) -> float:
        return asked(Mouth(unit_vector({"jawOpen": jaw}), 0.0)).apart

    assert apart(0.25) == pytest.approx(opening(unit_vector({"jawOpen": 0.25})))
    asks = [apart(jaw) for jaw in np.linspace(0.3, 0.7, 9)]
    steps = np.diff(asks) / np.diff(
        [opening(unit_vector({"jawOpen": jaw})) for jaw in np.linspace(0.3, 0.7, 9)]
    )
    assert (steps > 0.5).all()
    assert (steps < 0.6).all()
    assert apart(0.6) < 0.18


@pytest.mark.parametrize("name", ["ss", "nn", "dd"])
def test_lips_never_touch_for_a_sound_that_is_none_of_theirs(name: str) -> None:
    soft = Mouth(0.3 * unit_vector(SHAPES[name].units), 0.0)
    assert opening(soft.units) < 0.02
    assert opening(parted(soft, 1.0).units) == pytest.approx(0.036, abs=1e-3)
    assert opening(parted(soft, 0.2).units) == pytest.approx(max(0.018, opening(soft.units)), abs=1e-3)
    assert parted(soft, 0.0) is soft
    held = Mouth(soft.units, 1.0)
    assert parted(held, 1.0) is held
    wide = Mouth(unit_vector({"jawOpen": 0.4}), 0.0)
    assert parted(wide, 1.0) is wide
