"""Bones and tendons under the skin of a throat."""

import numpy as np
import pytest
from visavis.scripts.presenters.base import F64
from visavis.scripts.presenters.throat import BONE, DIPS, PIT, STRONG, TENDON, THROATS, bones, larynx

CHIN, BETWEEN = np.array([0.0, -1.0, -0.3]), np.zeros(3)


def at(*spots: tuple[float, float], depth: float = -0.5) -> F64:
    """Places by how far they are from the middle and up from the chin."""
    return np.array([(x, CHIN[1] + y, depth) for x, y in spots])


def test_bones_and_tendons_stand_out_and_the_pit_lies_deep() -> None:
    bone, tendon, pit, dip = bones(CHIN, BETWEEN, at(BONE[1], TENDON[1], PIT, DIPS[0][:2]))
    assert bone > 0.02
    assert tendon > 0.012
    assert pit < -0.01
    assert dip < -0.01


def test_a_strong_neck_has_tendons_an_apple_and_a_notch() -> None:
    tendon, apple, notch, beside = larynx(CHIN, BETWEEN, at(STRONG[1], (0, -0.42), (0, -1.13), (0.2, -0.1)))
    assert min(tendon, apple) > 0.02
    assert notch < -0.02
    assert abs(beside) < 0.01


@pytest.mark.parametrize("kind", THROATS)
def test_both_sides_are_alike(kind: str) -> None:
    raised = THROATS[kind]
    spots = np.random.default_rng(1).uniform((-0.9, -1.0), (0.9, 0.2), (50, 2))
    mine, other = (raised(CHIN, BETWEEN, at(*(spots * (side, 1)))) for side in (1, -1))
    np.testing.assert_allclose(mine, other)


def test_a_face_and_a_nape_stay_as_they_are() -> None:
    assert not bones(CHIN, BETWEEN, at((0.1, 0.5), (0.3, 0.3))).any()
    assert not bones(CHIN, BETWEEN, at(BONE[2], PIT, depth=-1.3)).any()
