"""The official configuration files: options and arrays that the motion model is driven with.

They are pickles, which are read by `plain_pickle` so that nothing in them runs. Names are the official ones,
spelt out here where ours say more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import SetupError
from ..weights import again_at, impostor, trouble
from .plain_pickle import MOST_FILE_BYTES, PickleError, Plain, read_pickle

F32 = NDArray[np.float32]
Values = Mapping[str, Plain]
ValueT = TypeVar("ValueT")
Emotion = int | tuple[int, ...] | tuple[tuple[int, ...], ...] | F32
"""One label; labels that mix; a mixture for each frame; or (m, 8) float32, a row for each frame."""

MOTION_WIDTH: Final = 265
EXPRESSION_WIDTH: Final = 63
EMOTIONS: Final = 8


@dataclass(frozen=True, slots=True)
class Model:
    """What the motion model was trained with: columns of its input and output, rows of a window."""

    motion_width: int = MOTION_WIDTH
    condition_width: int = 1103
    window: int = 80
    emotion: bool = True
    canonical: bool = True
    eye_open: bool = True
    eye_ball: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """`ch_info`: the face that the model believes to move. `motion` holds the first frame's items by their
    official names, each (n,) float32; `eye_open` (N, 2), `eye_ball` (N, 6), `canonical` (63,)."""

    motion: Mapping[str, F32]
    eye_open: F32
    eye_ball: F32
    canonical: F32


@dataclass(frozen=True, slots=True)
class Options:
    """`default_kwargs`. Defaults are those of the reference where a file says nothing.

    `blinks` (m, 63) float32 are offsets of the expression; `limits` (2, 265) float32 the least and the most
    of each column; `follow` maps items to factors, None follows what is usual; `controls` are the numbers
    that hold for every frame; `blink_gap` is one count of frames or several in turn.
    """

    max_size: int = 1920
    crop_scale: float = 2.3
    crop_shift_y: float = -0.125
    crop_rotates: bool = True
    source_smoothing: int = 13
    emotion: Emotion = 4
    eyes_of_first_frame: bool = False
    template_frames: int = -1
    overlap: int = 10
    restart_every: int = 0
    restart_keeps: tuple[int, int] | None = None
    steps: int = 50
    online: bool = False
    limits: F32 | None = None
    motion_smoothing: int = 3
    frames: int = -1
    follow: Mapping[str, float] | None = None
    relative: bool = True
    drive_eyes: bool | None = None
    blinks: F32 | None = None
    blink_gap: int | tuple[int, ...] = 0
    fade: str = ""
    fade_items: tuple[str, ...] = ("exp",)
    stitch: bool = True
    reference: Reference | None = None
    controls: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configuration:
    """One official file. `unknown` are the options that it sets and that nobody here knows."""

    model: Model
    options: Options
    unknown: tuple[str, ...]


class _Misfit(ValueError):
    """A value of the wrong kind; the message says which is wanted."""


def load_configuration(path: Path) -> Configuration:
    """Raises SetupError, in one line that names the file, for one that is missing, damaged or not plain."""
    try:
        if wrong := impostor(path):
            raise SetupError(f"{path} {wrong}")
        with path.open("rb") as stream:
            blob = stream.read(MOST_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise SetupError(f"{path} is missing: get it with {again_at(path)}") from error
    except OSError as error:
        raise SetupError(f"{path} {trouble(error)}") from error
    try:
        value = read_pickle(blob)
    except PickleError as error:
        raise SetupError(f"{path} {error}; fetch it again with {again_at(path)}") from error
    return from_plain(value, str(path))


def from_plain(value: Plain, name: str) -> Configuration:
    """The configuration in the plain `value` of the file `name`. Raises SetupError."""
    parts = value if isinstance(value, dict) else {}
    try:
        model = _read(Model, _MODEL, _section(parts, "audio2motion_cfg"))
        values = _section(parts, "default_kwargs")
        options = _read(Options, _OPTIONS, values)
    except _Misfit as error:
        raise SetupError(f"{name} is no configuration of Ditto: {error}; fetch it again") from error
    unknown = tuple(sorted(values.keys() - {official for official, _ in _OPTIONS.values()} - _UNUSED))
    return Configuration(model, options, unknown)


def _section(parts: Mapping[str | int, Plain], key: str) -> Values:
    section = parts.get(key)
    if not isinstance(section, dict):
        raise _Misfit(f"it has no {key}")
    return {str(name): value for name, value in section.items()}


Reader = Callable[[Plain], object]


def _read(kind: type[ValueT], table: Mapping[str, tuple[str, Reader]], values: Values) -> ValueT:
    """`kind` with what `values` say; what they leave out, or leave at None, keeps its default."""
    found: dict[str, object] = {}
    for name, (official, reader) in table.items():
        if (value := values.get(official)) is None:
            continue
        try:
            found[name] = reader(value)
        except _Misfit as error:
            raise _Misfit(f"{official} {error}") from error
        except (ValueError, TypeError, OverflowError) as error:
            raise _Misfit(f"{official} has values of the wrong kind") from error
    return kind(**found)


def _whole(value: Plain) -> int:
    if not isinstance(value, int | float) or value != int(value):
        raise _Misfit("is no whole number")
    return int(value)


def _within(least: int, most: int) -> Reader:
    def read(value: Plain) -> int:
        if not least <= (whole := _whole(value)) <= most:
            raise _Misfit(f"is {whole}, not {least} to {most}")
        return whole

    return read


def _number(value: Plain) -> float:
    if not isinstance(value, int | float) or not np.isfinite(value):
        raise _Misfit("is no number")
    return float(value)


def _flag(value: Plain) -> bool:
    if not isinstance(value, bool) and value not in (0, 1):
        raise _Misfit("is neither true nor false")
    return bool(value)


def _text(value: Plain) -> str:
    if not isinstance(value, str):
        raise _Misfit("is no text")
    return value


def _texts(value: Plain) -> tuple[str, ...]:
    return (_text(value),) if isinstance(value, str) else tuple(_text(one) for one in _list(value))


def _list(value: Plain) -> list[Plain]:
    if not isinstance(value, list):
        raise _Misfit("is no list")
    return value


def _array(value: Plain, *shape: int) -> F32:
    """`value` as float32 of `shape`, in which -1 is any length above 0; extra dimensions of 1 go."""
    if not isinstance(value, np.ndarray | list):
        raise _Misfit("is no array")
    array = np.asarray(value, np.float32)
    if array.ndim > len(shape):
        array = array.reshape([side for side in array.shape if side != 1] or [1])
    if array.ndim != len(shape) or not all(
        side == wanted or (wanted == -1 and side > 0) for side, wanted in zip(array.shape, shape, strict=True)
    ):
        raise _Misfit(f"has shape {array.shape} instead of {shape}")
    if not np.isfinite(array).all():
        raise _Misfit("has a value that is no number")
    array.flags.writeable = False
    return array


def _emotion(value: Plain) -> Emotion:
    if isinstance(value, np.ndarray):
        return _array(value, -1, EMOTIONS)
    if isinstance(value, list) and value and isinstance(value[0], list):
        return tuple(_labels(one) for one in value)
    return _labels(value) if isinstance(value, list) else _label(value)


def _labels(value: Plain) -> tuple[int, ...]:
    return tuple(_label(one) for one in _list(value))


def _label(value: Plain) -> int:
    label = _whole(value)
    if not 0 <= label < EMOTIONS:
        raise _Misfit(f"has label {label}, which is not below {EMOTIONS}")
    return label


def _columns(value: Plain) -> tuple[int, int]:
    start, stop = (_whole(one) for one in _sequence(value))
    if not 0 <= start <= stop <= MOTION_WIDTH:
        raise _Misfit("lies outside of a row of motion")
    return start, stop


def _sequence(value: Plain) -> list[Plain]:
    found = cast(list[Plain], value.tolist()) if isinstance(value, np.ndarray) else _list(value)
    if len(found) != 2:
        raise _Misfit("is no pair")
    return found


def _limits(value: Plain) -> F32:
    rows = _array(value, -1, MOTION_WIDTH)[:2]
    if len(rows) < 2:
        raise _Misfit("has one row, not the least and the most")
    return rows


def _factors(value: Plain) -> dict[str, float]:
    """Items with their factors; a list of items means 1 for each."""
    if isinstance(value, dict):
        return {_text(cast(Plain, key)): _number(one) for key, one in value.items()}
    return dict.fromkeys(_texts(value), 1.0)


def _controls(value: Plain) -> dict[str, float]:
    """The numbers of a table; what it adds to the expression is for clips."""
    if not isinstance(value, dict):
        raise _Misfit("is no table")
    return {_text(cast(Plain, key)): _number(one) for key, one in value.items() if key != "delta_exp"}


def _gap(value: Plain) -> int | tuple[int, ...]:
    return tuple(_whole(one) for one in value) if isinstance(value, list) else _whole(value)


def _reference(value: Plain) -> Reference:
    if not isinstance(value, dict):
        raise _Misfit("is no table")
    try:
        first = _list(value["x_s_info_lst"])[0]
        if not isinstance(first, dict):
            raise _Misfit("has no motion")
        return Reference(
            {str(key): _array(one, -1) for key, one in first.items()},
            _rows(value["eye_open_lst"], 2),
            _rows(value["eye_ball_lst"], 6),
            _array(value["sc"], EXPRESSION_WIDTH),
        )
    except IndexError as error:
        raise _Misfit("has no frame") from error
    except KeyError as error:
        raise _Misfit(f"lacks {error}") from error


def _rows(value: Plain, width: int) -> F32:
    """(N, width), of an array or a list of rows."""
    rows = [value] if isinstance(value, np.ndarray) else _list(value)
    return np.concatenate([np.asarray(row, np.float32).reshape(-1, width) for row in rows])


_MODEL: Final[Mapping[str, tuple[str, Reader]]] = MappingProxyType(
    {
        "motion_width": ("motion_feat_dim", _whole),
        "condition_width": ("audio_feat_dim", _whole),
        "window": ("seq_frames", _whole),
        "emotion": ("use_emo", _flag),
        "canonical": ("use_sc", _flag),
        "eye_open": ("use_eye_open", _flag),
        "eye_ball": ("use_eye_ball", _flag),
    }
)
_OPTIONS: Final[Mapping[str, tuple[str, Reader]]] = MappingProxyType(
    {
        "max_size": ("max_size", _whole),
        "crop_scale": ("crop_scale", _number),
        "crop_shift_y": ("crop_vy_ratio", _number),
        "crop_rotates": ("crop_flag_do_rot", _flag),
        "source_smoothing": ("smo_k_s", _within(0, 1_000)),
        "emotion": ("emo", _emotion),
        "eyes_of_first_frame": ("eye_f0_mode", _flag),
        "template_frames": ("template_n_frames", _whole),
        "overlap": ("overlap_v2", _within(0, 79)),
        "restart_every": ("fix_kp_cond", _within(0, 1_000_000)),
        "restart_keeps": ("fix_kp_cond_dim", _columns),
        "steps": ("sampling_timesteps", _within(1, 1_000)),
        "online": ("online_mode", _flag),
        "limits": ("v_min_max_for_clip", _limits),
        "motion_smoothing": ("smo_k_d", _within(0, 1_000)),
        "frames": ("N_d", _whole),
        "follow": ("use_d_keys", _factors),
        "relative": ("relative_d", _flag),
        "drive_eyes": ("drive_eye", _flag),
        "blinks": ("delta_eye_arr", lambda value: _array(value, -1, EXPRESSION_WIDTH)),
        "blink_gap": ("delta_eye_open_n", _gap),
        "fade": ("fade_type", _text),
        "fade_items": ("fade_out_keys", _texts),
        "stitch": ("flag_stitching", _flag),
        "reference": ("ch_info", _reference),
        "controls": ("overall_ctrl_info", _controls),
    }
)
_UNUSED: Final = frozenset(("crop_vx_ratio", "ctrl_info"))
"""The reference ignores the first, and the second is a list for the frames of one clip."""
