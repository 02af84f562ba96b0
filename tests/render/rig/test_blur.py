import numpy as np
import pytest
from visavis.render.rig.blur import AROUND, blurred
from visavis.render.rig.lips import Mouth, sealed
from visavis.render.rig.opening import opening
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.units import UNIT_COUNT, UNITS, unit_vector

ROLL, JAW, PUCKER = (UNITS.index(unit) for unit in ("mouthRollLower", "jawOpen", "mouthPucker"))
WIDE = Mouth(unit_vector(SHAPES["aa"].units), 0.0, np.array([0, 0, 1], np.float32))
ROUND = Mouth(unit_vector(SHAPES["ou"].units), 0.0, np.array([0, 1, 0], np.float32))
BITE = Mouth(unit_vector(SHAPES["ff"].units), 1.0)
SHUT = Mouth(sealed(unit_vector({"jawOpen": 0.2, "mouthRollLower": 0.2}), 1.0), 1.0, seals=1.0)


def walked(sequence: list[Mouth]) -> list[Mouth]:
    """The mouths of a `sequence` that begins and ends as it goes on."""
    row = [sequence[0]] * AROUND + sequence + [sequence[-1]] * AROUND
    return [
        blurred({k: row[at + k] for k in range(-AROUND, AROUND + 1)})
        for at in range(AROUND, len(row) - AROUND)
    ]


def test_a_mouth_that_stays_is_left_as_it_is() -> None:
    for mouth in (WIDE, ROUND):
        (found,) = walked([mouth])
        assert found.units == pytest.approx(mouth.units, abs=1e-6)
        assert found.tongue == pytest.approx(mouth.tongue, abs=1e-6)


def test_a_bite_is_whole_in_its_frame_and_begins_before_it() -> None:
    roll = [mouth.units[ROLL] for mouth in walked([WIDE] * 4 + [BITE] + [WIDE] * 4)]
    assert roll[4] == BITE.units[ROLL]
    assert roll[2:5] == sorted(roll[2:5])
    assert 0.1 < roll[2] < roll[3] < 0.6


def test_a_closure_of_one_frame_is_shut_though_the_jaw_hangs_as_before() -> None:
    found = walked([WIDE] * 4 + [SHUT] + [WIDE] * 4)
    assert opening(found[4].units) < 0.01
    assert found[4].holds == 1
    assert found[4].units[JAW] > SHUT.units[JAW]
    assert 0 < found[3].holds < 0.6


def test_rounding_takes_longer_than_opening() -> None:
    found = walked([WIDE] * 4 + [ROUND] * 4)
    steps = np.abs(np.diff([mouth.units for mouth in found], axis=0)).max(0)
    far = np.abs(ROUND.units - WIDE.units)
    assert steps[PUCKER] < 0.4 * far[PUCKER]
    assert steps[JAW] < 0.6 * far[JAW]


def test_no_number_leaves_the_range_of_those_around_it() -> None:
    random = np.random.default_rng(4)
    row = [Mouth(random.random(UNIT_COUNT).astype(np.float32), 0.0) for _ in range(9)]
    found = np.array([mouth.units for mouth in walked(row)])
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-6


def test_a_tongue_that_is_out_for_a_frame_is_seen_for_three() -> None:
    out = Mouth(unit_vector({"jawOpen": 0.2, "tongueOut": 0.7}), 0.0, np.array([0.6, 0, 0], np.float32))
    found = walked([WIDE] * 4 + [out] + [WIDE] * 4)
    for seen in (
        [mouth.units[UNITS.index("tongueOut")] / 0.7 for mouth in found],
        [float(mouth.tongue[0]) / 0.6 for mouth in found],
    ):
        assert seen[4] == pytest.approx(1.0)
        assert min(seen[3], seen[5]) > 0.6
        assert 0 < max(seen[2], seen[6]) < 0.4
