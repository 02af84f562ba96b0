import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.controls import EMOTIONS, Controls, merged
from visavis.stream.errors import ControlError

RANGES = {
    "emotion_level": (0.0, 1.0),
    "intensity": (0.0, 2.0),
    "gaze_x": (-1.0, 1.0),
    "gaze_y": (-1.0, 1.0),
    "head_yaw": (-20.0, 20.0),
    "head_pitch": (-15.0, 15.0),
    "head_roll": (-15.0, 15.0),
    "blink_per_minute": (0.0, 60.0),
}
EACH = pytest.mark.parametrize(("name", "low", "high"), [(name, *ends) for name, ends in RANGES.items()])

single = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3)
anything = single | st.lists(single, max_size=2) | st.dictionaries(st.text(max_size=3), single, max_size=2)


def test_every_number_has_a_range_that_is_tested_here() -> None:
    assert {"emotion", *RANGES} == set(Controls.__struct_fields__)


def test_the_defaults_are_a_neutral_face_at_rest() -> None:
    plain = Controls()
    assert plain.emotion == "neutral"
    assert (plain.gaze_x, plain.gaze_y, plain.head_yaw, plain.head_pitch, plain.head_roll) == (0,) * 5
    assert (plain.intensity, plain.emotion_level, plain.blink_per_minute) == (1, 1, 15)
    assert merged(plain, {}) == plain


def test_controls_cannot_be_changed_in_place() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Controls().intensity = 2.0  # type: ignore[misc]


@EACH
def test_both_ends_of_a_range_are_allowed(name: str, low: float, high: float) -> None:
    assert getattr(merged(Controls(), {name: low}), name) == low
    assert getattr(merged(Controls(), {name: high}), name) == high


@EACH
def test_just_outside_a_range_is_refused_with_the_range(name: str, low: float, high: float) -> None:
    expected = f"{name} must be between {low:g} and {high:g}, not "
    for value in (math.nextafter(low, -math.inf), math.nextafter(high, math.inf)):
        with pytest.raises(ControlError) as caught:
            merged(Controls(), {name: value})
        assert str(caught.value) == f"{expected}{value!r}"


@EACH
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused(name: str, low: float, high: float, value: float) -> None:
    with pytest.raises(ControlError, match=f"{name} must be between"):
        merged(Controls(), {name: value})


@EACH
@pytest.mark.parametrize("value", ["1", None, True, [], {}, b"1", 10**400, 1j], ids=repr)
def test_what_is_no_number_is_refused(name: str, low: float, high: float, value: object) -> None:
    with pytest.raises(ControlError, match=name):
        merged(Controls(), {name: value})


@pytest.mark.parametrize("emotion", EMOTIONS)
def test_each_emotion_can_be_asked_for(emotion: str) -> None:
    assert merged(Controls(), {"emotion": emotion}).emotion == emotion


@pytest.mark.parametrize("emotion", ["angry", "", "Happy", "happy ", "\ud800", None, 1, ["happy"]], ids=repr)
def test_any_other_emotion_is_refused(emotion: object) -> None:
    with pytest.raises(ControlError, match="emotion"):
        merged(Controls(), {"emotion": emotion})


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ControlError, match="unknown field `smile`; known are emotion, emotion_level, "):
        merged(Controls(), {"smile": 1})


@pytest.mark.parametrize("name", [1, b"gaze_x", None, ("gaze_x",), "\ud800"], ids=repr)
def test_a_name_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(ControlError):
        merged(Controls(), {name: 1})


@pytest.mark.parametrize("change", [None, 1, "happy", ["emotion"], [("emotion", "happy")]], ids=repr)
def test_a_change_must_be_an_object(change: object) -> None:
    with pytest.raises(ControlError, match="must be a JSON object such as"):
        merged(Controls(), change)


def test_a_change_keeps_the_other_fields_and_the_controls_before_it() -> None:
    before = Controls(emotion="sad", gaze_x=0.5)
    after = merged(before, {"gaze_y": -1})
    assert after == Controls(emotion="sad", gaze_x=0.5, gaze_y=-1.0)
    assert type(after.gaze_y) is float
    assert before == Controls(emotion="sad", gaze_x=0.5)


def test_one_bad_field_refuses_the_whole_change() -> None:
    with pytest.raises(ControlError, match="intensity"):
        merged(Controls(), {"emotion": "happy", "intensity": 3})


@given(anything | st.dictionaries(st.sampled_from(["emotion", *RANGES]) | single, anything, max_size=3))
def test_nothing_that_is_sent_raises_anything_but_a_control_error(change: object) -> None:
    try:
        result = merged(Controls(), change)
    except ControlError:
        return
    assert sum(result.moods.values()) <= 1 + 1e-9
    assert set(result.moods) <= set(EMOTIONS)
    assert all(low <= getattr(result, name) <= high for name, (low, high) in RANGES.items())


@given(st.fixed_dictionaries({}, optional={name: st.floats(*ends) for name, ends in RANGES.items()}))
def test_controls_go_through_json_and_back(change: dict[str, float]) -> None:
    controls = merged(Controls(), change)
    assert merged(Controls(), msgspec.json.decode(msgspec.json.encode(controls))) == controls


def test_one_emotion_has_all_the_level_that_is_asked_for() -> None:
    assert Controls(emotion="sad", emotion_level=0.4).moods == {"sad": 0.4}


def test_several_emotions_mix_and_the_rest_is_neutral() -> None:
    mixed = merged(Controls(), {"emotion": {"happy": 0.5, "surprised": 0.25}, "emotion_level": 0.5})
    assert mixed.moods == {"happy": 0.25, "surprised": 0.125}
    assert merged(mixed, {"emotion": {}}).moods == {}


def test_emotions_that_are_too_much_together_share_the_face() -> None:
    assert Controls(emotion={"happy": 1, "sad": 0.6}).moods == pytest.approx({"happy": 0.625, "sad": 0.375})


@pytest.mark.parametrize("weight", [-0.1, 1.01, math.nan, math.inf])
def test_the_weight_of_an_emotion_is_refused_with_its_range(weight: float) -> None:
    with pytest.raises(ControlError, match="weight of sad must be between 0 and 1, not "):
        merged(Controls(), {"emotion": {"sad": weight}})


@pytest.mark.parametrize(
    "emotion", [{"angry": 1}, {"sad": "1"}, {"sad": None}, {1: 1}, {"\ud800": 1}], ids=repr
)
def test_a_mixture_of_anything_else_is_refused(emotion: object) -> None:
    with pytest.raises(ControlError, match="emotion"):
        merged(Controls(), {"emotion": emotion})


def test_a_mixture_goes_over_the_link_and_back() -> None:
    mixture = Controls(emotion={"happy": 0.5, "sad": 0.1})
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(mixture), type=Controls) == mixture
