"""Live controls of a face, checked once at the boundary."""

from collections.abc import Mapping

import msgspec

from .errors import ControlError

EMOTIONS = ("neutral", "happy", "serious", "surprised", "sad", "concerned")
_LIMITS = {
    "intensity": (0.0, 2.0),
    "emotion_level": (0.0, 1.0),
    "gaze_x": (-1.0, 1.0),
    "gaze_y": (-1.0, 1.0),
    "head_yaw": (-20.0, 20.0),
    "head_pitch": (-15.0, 15.0),
    "head_roll": (-15.0, 15.0),
    "blink_per_minute": (0.0, 60.0),
}


class Controls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user may change while a session runs. Angles in degrees, positive yaw to the viewer's right,
    positive pitch down; gaze in -1..1 of the eye's range; `intensity` scales the mouth.

    `emotion` is one name, or several with a weight in 0..1 each: what is left to 1 is neutral, and weights
    that are more together share it.
    """

    emotion: str | dict[str, float] = "neutral"
    emotion_level: float = 1.0
    intensity: float = 1.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    head_yaw: float = 0.0
    head_pitch: float = 0.0
    head_roll: float = 0.0
    blink_per_minute: float = 15.0

    def __post_init__(self) -> None:
        for name, weight in self._named().items():
            if name not in EMOTIONS:
                raise ControlError(f"emotion must be one of {', '.join(EMOTIONS)}, not {name!r}")
            if not 0.0 <= weight <= 1.0:
                raise ControlError(f"emotion: the weight of {name} must be between 0 and 1, not {weight!r}")
        for name, (low, high) in _LIMITS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ControlError(f"{name} must be between {low:g} and {high:g}, not {value!r}")

    @property
    def moods(self) -> Mapping[str, float]:
        """How much of each emotion there is at `emotion_level`, together at most 1; the rest is neutral."""
        named = self._named()
        share = self.emotion_level / max(1.0, sum(named.values()))
        return {name: weight * share for name, weight in named.items()}

    def _named(self) -> Mapping[str, float]:
        return {self.emotion: 1.0} if isinstance(self.emotion, str) else self.emotion


def merged(current: Controls, change: object) -> Controls:
    """`current` with the fields of the JSON object `change` replaced.

    Raises ControlError with the field and its range when something does not fit.
    """
    if not isinstance(change, dict):
        raise ControlError('controls must be a JSON object such as {"emotion": "happy"}')
    fields: dict[str, object] = {**msgspec.to_builtins(current), **change}
    try:
        return msgspec.convert(fields, Controls)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise ControlError(f"controls: {error}; known are {', '.join(Controls.__struct_fields__)}") from error
