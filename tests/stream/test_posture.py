import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.stream.chance import Chance
from visavis.stream.posture import Posture

MINUTE = 1500


def heads(seed: int, frames: range, speaking: float) -> NDArray[np.float64]:
    posture = Posture(Chance(seed))
    return np.array([posture.head(index, speaking, 0.0, 0.0) for index in frames])


def leans(seed: int, frames: range, speaking: float = 0.0) -> NDArray[np.float64]:
    posture = Posture(Chance(seed))
    return np.array([posture.lean(index, speaking) for index in frames])


@pytest.mark.parametrize("speaking", [0.0, 1.0], ids=["silent", "speaking"])
def test_the_head_moves_smoothly_and_stays_near_the_front(speaking: float) -> None:
    head = heads(9, range(4 * MINUTE), speaking)
    assert (np.abs(head).max(0) < (8, 6, 6)).all()
    assert np.abs(np.diff(head, axis=0)).max() < 0.6
    assert np.abs(np.diff(head, 2, axis=0)).max() < 0.1


def test_speaking_adds_movement() -> None:
    silent, speaking = (heads(9, range(MINUTE), level) for level in (0.0, 1.0))
    assert np.diff(speaking, axis=0).std() > 1.5 * np.diff(silent, axis=0).std()


def test_the_shoulders_drift_and_now_and_then_shift_their_weight() -> None:
    for seed in range(4):
        lean = leans(seed, range(10 * MINUTE))
        assert np.abs(lean).max() <= 1
        assert 0.15 < lean.std() < 0.6
        assert np.abs(np.diff(lean)).max() < 0.08
        assert lean.min() < -0.2
        assert lean.max() > 0.2


def test_the_head_stays_upright_over_a_lean_and_lifts_with_a_breath() -> None:
    posture = Posture(Chance(1))
    plain = posture.head(10, 0.0, 0.0, 0.0)
    assert posture.head(10, 0.0, 0.0, 1.0)[2] < plain[2] - 0.5
    assert posture.head(10, 0.0, 1.0, 0.0)[1] < plain[1] - 0.2


def test_speaking_stirs_the_shoulders() -> None:
    calm, stirred = (np.diff(leans(5, range(2 * MINUTE), level)).std() for level in (0.0, 1.0))
    assert stirred > 1.1 * calm


def test_a_silent_head_is_hardly_ever_still() -> None:
    head = heads(3, range(4 * MINUTE), 0.0)
    still = np.hypot(*np.diff(head[:, :2], axis=0).T) < 0.03
    assert still.mean() < 0.3
    assert np.diff(np.flatnonzero(~still)).max() < 75
