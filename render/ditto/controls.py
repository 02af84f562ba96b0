"""What decides, slot by slot, how a face follows the motion that the model made.

`Controls` are the tensors that the motion stitch reads; `Following` is what a session sets once and
`FrameControls` what one frame brings, both on the host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .motion import KEYPOINTS

_COORDINATES: Final = 3 * KEYPOINTS


class Item(IntEnum):
    """The parts of a face's motion, as they stand in a row."""

    SCALE = 0
    PITCH = 1
    YAW = 2
    ROLL = 3
    TRANSLATION = 4
    EXPRESSION = 5
    CANONICAL = 6


OFFICIAL: Final[Mapping[str, Item]] = {
    "scale": Item.SCALE,
    "pitch": Item.PITCH,
    "yaw": Item.YAW,
    "roll": Item.ROLL,
    "t": Item.TRANSLATION,
    "exp": Item.EXPRESSION,
    "kp": Item.CANONICAL,
}
"""The names that official configurations use."""
POSE: Final = (Item.PITCH, Item.YAW, Item.ROLL)
HEAD_AND_FACE: Final = (Item.EXPRESSION, *POSE, Item.TRANSLATION)
"""What follows the driver on a picture; on a video only the expression does."""


class Fade(IntEnum):
    """What a fade leads to."""

    NONE = 0
    SOURCE = 1
    FIRST = 2
    """The first driven frame of the run."""


@dataclass(frozen=True, slots=True)
class Following:
    """How a session's face follows the driver; the defaults are those of a picture.

    `factors` holds the items that follow and by how much; `relative` moves the source by the driver's change
    since its first frame, else the driver replaces the source; `drive_eyes` lets the eyes follow and keeps
    their aim when the head turns; `blinking` takes lids from blink offsets instead of the driver.
    """

    factors: Mapping[Item, float] = field(default_factory=lambda: dict.fromkeys(HEAD_AND_FACE, 1.0))
    relative: bool = True
    drive_eyes: bool = True
    blinking: bool = False
    fade: Fade = Fade.NONE
    stitching: bool = True

    @classmethod
    def of_video(cls) -> Self:
        """The defaults of a filmed face."""
        return cls(factors={Item.EXPRESSION: 1.0}, drive_eyes=False)

    def scaled(self, ratio: float) -> "Following":
        """Expression and pose by `ratio` more: the scale of the face the driver is for, over this one's."""
        larger = {
            item: factor * (ratio if item in (Item.EXPRESSION, *POSE) else 1.0)
            for item, factor in self.factors.items()
        }
        return replace(self, factors=larger)


@dataclass(frozen=True, slots=True)
class FrameControls:
    """What one frame brings.

    `delta` degrees to add to pitch, yaw and roll, None for none; `alpha` what they are multiplied by: degrees
    beside a delta, else the 66 scores, as the reference does. `vad_alpha` below 1 takes all of expression
    back to the source by that share, `lip_alpha` only the lips; above 1 it moves them further.
    `delta_expression` and `blink` (63,) are added. `fade_alpha`, of `fade_items`, is 1 for the driver and 0
    for what the session's fade leads to.
    """

    delta: tuple[float | None, float | None, float | None] = (None, None, None)
    alpha: tuple[float, float, float] = (1.0, 1.0, 1.0)
    vad_alpha: float = 1.0
    lip_alpha: float = 1.0
    delta_expression: NDArray[np.float32] | None = None
    blink: NDArray[np.float32] | None = None
    fade_alpha: float | None = None
    fade_items: tuple[Item, ...] = (Item.EXPRESSION,)


@dataclass(frozen=True, slots=True)
class Controls:
    """What the motion stitch reads of B slots, written in place.

    By item: `follow` (B, 6) bool, `factor` (B, 6), `fade_items` (B, 7) bool. By angle (pitch, yaw, roll):
    `delta` (B, 3) degrees where `has_delta` (B, 3) bool, `alpha` (B, 3). `blink` and `delta_expression`
    (B, 63). A number each, (B,): `vad_alpha`, `lip_alpha`, `fade_alpha`, and `fade` int64. A bool each, (B,):
    `relative`, `drive_eyes`, `blinking`, `fading` (this frame has a `fade_alpha`), `stitching`. What each
    means is told by `Following` and `FrameControls`.
    """

    follow: Tensor
    factor: Tensor
    relative: Tensor
    drive_eyes: Tensor
    blinking: Tensor
    blink: Tensor
    vad_alpha: Tensor
    lip_alpha: Tensor
    delta: Tensor
    has_delta: Tensor
    alpha: Tensor
    delta_expression: Tensor
    fade: Tensor
    fading: Tensor
    fade_alpha: Tensor
    fade_items: Tensor
    stitching: Tensor

    @classmethod
    def init(cls, slots: int, device: torch.device | str = "cpu") -> Self:
        """Pictures whose frames bring nothing."""
        flag, number = (slots, torch.bool), (slots, torch.float32)
        found = cls(
            follow=_zeros(*flag, len(Item) - 1),
            factor=_zeros(*number, len(Item) - 1),
            relative=_zeros(*flag),
            drive_eyes=_zeros(*flag),
            blinking=_zeros(*flag),
            blink=_zeros(*number, _COORDINATES),
            vad_alpha=_zeros(*number),
            lip_alpha=_zeros(*number),
            delta=_zeros(*number, len(POSE)),
            has_delta=_zeros(*flag, len(POSE)),
            alpha=_zeros(*number, len(POSE)),
            delta_expression=_zeros(*number, _COORDINATES),
            fade=_zeros(slots, torch.int64),
            fading=_zeros(*flag),
            fade_alpha=_zeros(*number),
            fade_items=_zeros(*flag, len(Item)),
            stitching=_zeros(*flag),
        )
        desk = Desk(found)
        for slot in range(slots):
            desk.follow_as(slot, Following())
            desk.touch(slot, FrameControls())
        return cls(*(getattr(found, each.name).to(device) for each in fields(cls)))

    def copy_(self, other: "Controls") -> None:
        """All of `other`, which may lie in the host's memory, without allocating."""
        for each in fields(self):
            getattr(self, each.name).copy_(getattr(other, each.name), non_blocking=True)


class Desk:
    """Where the host writes `Controls`, which lie in its memory: as numpy does, in a fifth of the time, since
    sixteen slots bring something in every tick."""

    def __init__(self, controls: Controls) -> None:
        self._told: dict[str, NDArray[Any]] = {
            each.name: getattr(controls, each.name).numpy() for each in fields(Controls)
        }

    def follow_as(self, slot: int, following: Following) -> None:
        """From now on `slot` follows like this."""
        told = self._told
        told["follow"][slot] = _flags(following.factors, len(Item) - 1)
        told["factor"][slot] = [following.factors.get(Item(item), 1.0) for item in range(len(Item) - 1)]
        told["relative"][slot] = following.relative
        told["drive_eyes"][slot] = following.drive_eyes
        told["blinking"][slot] = following.blinking
        told["fade"][slot] = int(following.fade)
        told["stitching"][slot] = following.stitching

    def touch(self, slot: int, frame: FrameControls) -> None:
        """What the next frame of `slot` brings; nothing of the frame before stays."""
        told = self._told
        told["has_delta"][slot] = [angle is not None for angle in frame.delta]
        told["delta"][slot] = [angle or 0.0 for angle in frame.delta]
        told["alpha"][slot] = frame.alpha
        told["vad_alpha"][slot] = frame.vad_alpha
        told["lip_alpha"][slot] = frame.lip_alpha
        told["delta_expression"][slot] = 0.0 if frame.delta_expression is None else frame.delta_expression
        told["blink"][slot] = 0.0 if frame.blink is None else frame.blink
        told["fading"][slot] = frame.fade_alpha is not None
        told["fade_alpha"][slot] = 1.0 if frame.fade_alpha is None else frame.fade_alpha
        told["fade_items"][slot] = _flags(frame.fade_items, len(Item))


def _flags(items: Sequence[Item] | Mapping[Item, float], count: int) -> list[bool]:
    return [item in items for item in range(count)]


def _zeros(slots: int, dtype: torch.dtype, *shape: int) -> Tensor:
    return torch.zeros(slots, *shape, dtype=dtype)
