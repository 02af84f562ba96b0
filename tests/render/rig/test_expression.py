import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.rig.expression import EMOTIONS, FADE_FRAMES, HEAD_LIMIT_DEG, aim, limited, settled
from visavis.stream import controls
from visavis.stream.controls import Controls


def test_each_emotion_of_the_controls_has_its_offsets() -> None:
    assert set(EMOTIONS) == set(controls.EMOTIONS)
    assert not EMOTIONS["neutral"].any()
    assert all(EMOTIONS[name].any() for name in EMOTIONS if name != "neutral")


def test_the_level_scales_an_emotion() -> None:
    half = aim(Controls(emotion="happy", emotion_level=0.5))
    assert np.allclose(half.units, 0.5 * EMOTIONS["happy"])


def test_an_emotion_fades_in_over_four_tenths_of_a_second() -> None:
    fade = settled(Controls()).turned(Controls(emotion="happy"), 100)
    weight = [float(fade.at(frame).units.sum()) for frame in range(99, 100 + FADE_FRAMES + 2)]
    assert weight[:2] == [0.0, 0.0]
    assert (np.diff(weight[1:-1]) > 0).all()
    assert weight[-2] == weight[-1] == pytest.approx(float(EMOTIONS["happy"].sum()))


def test_a_change_in_the_middle_of_a_fade_goes_on_from_there() -> None:
    first = settled(Controls()).turned(Controls(emotion="happy"), 100)
    second = first.turned(Controls(emotion="sad"), 105)
    assert np.array_equal(second.at(105).units, first.at(105).units)
    assert np.array_equal(second.at(105 + FADE_FRAMES).units, EMOTIONS["sad"])


def test_a_large_turn_takes_longer_than_a_small_one() -> None:
    near = settled(Controls()).turned(Controls(head_yaw=2.0), 0)
    far = settled(Controls(head_yaw=-20.0)).turned(Controls(head_yaw=20.0), 0)
    assert near.frames == FADE_FRAMES
    assert far.frames > 2 * FADE_FRAMES


def test_settled_controls_have_no_edge() -> None:
    fade = settled(Controls(intensity=1.5, gaze_x=0.5))
    assert fade.at(0).intensity == fade.at(50).intensity == 1.5


@given(st.lists(st.floats(-60, 60), min_size=3, max_size=3))
def test_the_head_stays_within_what_one_picture_can_show(head: list[float]) -> None:
    bent = limited(np.array(head, np.float32))
    assert (np.abs(bent) <= HEAD_LIMIT_DEG).all()
    assert (np.sign(bent) == np.sign(np.array(head, np.float32))).all()


def test_small_angles_pass_almost_unchanged() -> None:
    head = np.array([5.0, -4.0, 4.0], np.float32)
    assert np.abs(limited(head) - head).max() < 0.06
