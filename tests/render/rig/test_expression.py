import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.rig.expression import EMOTIONS, FADE_FRAMES, HEAD_LIMIT_DEG, aim, limited, mixed, settled
from visavis.render.rig.lips import Mouth
from visavis.render.rig.shapes import OPENING
from visavis.render.rig.units import UNITS, unit_vector
from visavis.stream import controls
from visavis.stream.controls import Controls


def test_each_emotion_of_the_controls_has_its_offsets() -> None:
    assert set(EMOTIONS) == set(controls.EMOTIONS)
    assert not EMOTIONS["neutral"].any()
    assert all(EMOTIONS[name].any() for name in EMOTIONS if name != "neutral")


def test_the_level_scales_an_emotion() -> None:
    half = aim(Controls(emotion="happy", emotion_level=0.5))
    assert np.allclose(half.units, 0.5 * EMOTIONS["happy"])


def test_emotions_mix() -> None:
    both = aim(Controls(emotion={"happy": 0.5, "sad": 0.25}))
    assert np.allclose(both.units, 0.5 * EMOTIONS["happy"] + 0.25 * EMOTIONS["sad"])
    assert np.allclose(both.head, [0, 0.5 * -1.0 + 0.25 * 5.5, 0.5 * 0.8 + 0.25 * 1.5])


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
    assert np.array_equal(second.at(105 + second.frames).units, EMOTIONS["sad"])


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


def test_an_emotion_gives_way_to_speech_where_both_want_the_lips() -> None:
    smile, brow = UNITS.index("mouthSmileLeft"), UNITS.index("browOuterUpLeft")
    free, held = (mixed(Mouth(np.zeros(52, np.float32), holds), EMOTIONS["happy"]) for holds in (0.0, 1.0))
    round_ = mixed(Mouth(unit_vector({"mouthPucker": 1.0}), 0.0), EMOTIONS["happy"])
    assert np.array_equal(free, EMOTIONS["happy"])
    assert held[smile] < 0.75 * free[smile]
    assert round_[smile] < 0.6 * free[smile]
    assert mixed(Mouth(unit_vector({"jawOpen": 0.4}), 0.0), EMOTIONS["happy"])[smile] < 0.75 * free[smile]
    assert held[brow] == round_[brow] == free[brow]


@given(st.sampled_from(sorted(EMOTIONS)), st.floats(0, 1))
def test_no_emotion_opens_lips_that_are_held(name: str, level: float) -> None:
    held = mixed(Mouth(np.zeros(52, np.float32), 1.0), np.float32(level) * EMOTIONS[name])
    assert not held[OPENING].any()


def test_an_emotion_bears_the_head_as_far_as_its_level() -> None:
    sad, half = (aim(Controls(emotion="sad", emotion_level=level, head_yaw=5.0)) for level in (1.0, 0.5))
    assert sad.head[0] == half.head[0] == 5
    assert sad.head[1] == 2 * half.head[1] > 2


def test_who_is_serious_or_sad_moves_less_and_steadies_with_the_level() -> None:
    stir = {name: aim(Controls(emotion=name)).stir for name in EMOTIONS}
    assert stir["neutral"] == 1
    assert stir["serious"] < stir["sad"] < stir["concerned"] < 1 < stir["happy"]
    assert aim(Controls(emotion="serious", emotion_level=0.5)).stir == pytest.approx(
        0.5 + stir["serious"] / 2
    )
    fade = settled(Controls()).turned(Controls(emotion="sad"), 0)
    assert stir["sad"] < fade.at(fade.frames // 2).stir < 1
