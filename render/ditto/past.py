"""What was shown last, so that a face can go on from any of it when later frames were drawn in vain."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.easing import hermite
from .motion import KEYPOINTS
from .motion_stitch import Driven

I64 = NDArray[np.int64]

KEPT_FRAMES: Final = 32
EASE_FRAMES: Final = 6
"""From the face that was shown at an interrupt to what comes after it: a quarter of a second."""
_WIDTHS: Final = (3, 1, 3, 3 * KEYPOINTS)
_FACE: Final = sum(_WIDTHS)
_SPEED: Final = slice(_FACE, _FACE + 3)
_NEVER: Final = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Past:
    """The last faces of B slots, written in place.

    `faces` (B, R, 73) float32: angles, scale, translation and expression as they were driven, and the speed
    of the angles in degrees a frame; `held` (B, 70), the face that a slot eases away from. In the host's
    memory: `frames` (B, R), which frame each is of, and `resumed` (B,), the first frame after `held`.
    """

    faces: Tensor
    held: Tensor
    frames: I64
    resumed: I64

    @classmethod
    def init(cls, slots: int, device: torch.device | str = "cpu") -> Self:
        """Slots that have shown nothing."""
        return cls(
            torch.zeros(slots, KEPT_FRAMES, _SPEED.stop, device=device),
            torch.zeros(slots, _FACE, device=device),
            np.full((slots, KEPT_FRAMES), _NEVER),
            np.full(slots, _NEVER),
        )

    def reset(self, slot: int) -> None:
        """`slot` has shown nothing."""
        self.frames[slot] = _NEVER
        self.resumed[slot] = _NEVER

    def has_shown(self, slot: int) -> bool:
        """True when there is a face to go on from."""
        return bool((self.frames[slot] != _NEVER).any())

    def resume(self, slot: int, sent: int) -> tuple[Tensor, Tensor] | None:
        """Forget what was drawn after frame `sent`, and ease away from that frame, or the last before it: its
        angles (3,) and their speed (3,). None when nothing was shown."""
        frames = self.frames[slot]
        frames[frames > sent] = _NEVER
        if not self.has_shown(slot):
            self.resumed[slot] = _NEVER
            return None
        face = self.faces[slot, int(frames.argmax())]
        self.held[slot] = face[:_FACE]
        self.resumed[slot] = sent + 1
        return face[: _WIDTHS[0]], face[_SPEED]

    def face(self, slot: int, frame: int, canonical: Tensor) -> Driven:
        """The face of `frame`, one of the last that were kept, as one row; `canonical` (63,) is not kept."""
        angles, scale, translation, expression = (
            self.faces[slot, frame % KEPT_FRAMES, :_FACE].clone()[None].split(_WIDTHS, 1)
        )
        return Driven(angles, scale, translation, expression, canonical[None])

    def share(self, slot: int, frame: int) -> float:
        """Of its own motion, in `frame` of `slot`; the rest is what is held."""
        if self.resumed[slot] == _NEVER:
            return 1.0
        return hermite((frame - int(self.resumed[slot]) + 1) / (EASE_FRAMES + 1))

    def place(self, slot: int, frame: int) -> int:
        """Where the face of `frame` will be kept."""
        place = frame % KEPT_FRAMES
        self.frames[slot, place] = frame
        return place

    def eased(self, driven: Driven, share: Tensor) -> Driven:
        """`driven` with its `share` (B,), and the rest of what is held."""
        own = torch.cat((driven.angles, driven.scale, driven.translation, driven.expression), 1)
        mixed = torch.where(share[:, None] < 1, torch.lerp(self.held, own, share[:, None]), own)
        angles, scale, translation, expression = mixed.split(_WIDTHS, 1)
        return Driven(angles, scale, translation, expression, driven.canonical)

    def keep(self, driven: Driven, speed: Tensor, places: Tensor, active: Tensor) -> None:
        """`driven` with angles of this `speed` (B, 3) was drawn at `places` (B,) int64, where `active`
        (B,)."""
        face = torch.cat((driven.angles, driven.scale, driven.translation, driven.expression, speed), 1)
        index = places[:, None, None].expand(-1, 1, face.shape[1])
        kept = torch.where(active[:, None, None], face[:, None], self.faces.gather(1, index))
        self.faces.scatter_(1, index, kept)
