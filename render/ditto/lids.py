"""What blinks and looks add to the expression: offsets (63,) of the keypoints of eyes and lids."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray

from . import keypoints
from .motion import KEYPOINTS

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_LID_DOWN, _LID_UP = 0.035, -0.0105
"""Of the crop's half width, at scale 1: how far the keypoint of an upper lid falls to shut the eye, and the
one under it rises."""
_UPPER, _LOWER = (11, 15), (13, 16)
LOOK: Final = (30.0, 20.0)
"""Shift of `keypoints.gaze_shift` at the end of the eyes' range, across and up: the iris of an eye 55 pixels
wide, as crops have it, moves by 10."""


@dataclass(frozen=True, slots=True)
class Blink:
    """How lids shut: `offsets` (R, 63) float32 from open, all zero, to shut, at the shares `shut` (R,) of a
    whole blink, which grow from 0 to 1."""

    offsets: F32
    shut: F64

    @classmethod
    def plain(cls) -> Self:
        """Of our own: small, straight down."""
        offsets = np.zeros((2, KEYPOINTS, 3), np.float32)
        offsets[1, _UPPER, 1], offsets[1, _LOWER, 1] = _LID_DOWN, _LID_UP
        return cls(offsets.reshape(2, -1), np.array([0.0, 1.0]))

    @classmethod
    def of_frames(cls, frames: F32) -> Self:
        """As the `frames` (m, 63) of one filmed blink, the first of which is rest. Only how the lids shut is
        taken, from rest to the frame that differs most; where the lids rest is the picture's own affair."""
        moved = frames - frames[:1]
        far = np.linalg.norm(moved, axis=1)
        least = int(far.argmax())
        if not far[least] > 0:
            return cls.plain()
        rising = [0]
        rising += [row for row in range(1, least + 1) if far[row] > far[:row].max()]
        return cls(moved[rising].astype(np.float32), (far[rising] / far[least]).astype(np.float64))

    def at(self, shut: float) -> F32:
        """The offsets (63,) of lids that are `shut`, 0 open to 1."""
        if shut <= 0:
            return self.offsets[0]
        place = int(np.searchsorted(self.shut, shut, side="right")) - 1
        if place >= len(self.shut) - 1:
            return self.offsets[-1]
        low, high = self.shut[place], self.shut[place + 1]
        share = (shut - low) / (high - low)
        between = self.offsets[place] * (1 - share) + self.offsets[place + 1] * share
        return between.astype(np.float32)


def look(across: float, up: float) -> F32:
    """The offsets (63,) of eyes turned by -1..1 of their range, to the viewer's right and up."""
    side = _RIGHT if across > 0 else _LEFT
    return (abs(across) * LOOK[0] * side + up * LOOK[1] * _UP).astype(np.float32)


def _shift(across: float, up: float) -> F32:
    return keypoints.gaze_shift(torch.tensor(across), torch.tensor(up)).numpy()


_RIGHT, _LEFT, _UP = _shift(1, 0), _shift(-1, 0), _shift(0, 1)
