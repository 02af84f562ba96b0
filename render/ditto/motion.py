"""One row of motion: what moves a face in one frame, as the motion model writes it."""

from dataclasses import dataclass, fields
from typing import Final, Self

import torch
from torch import Tensor

WIDTH: Final = 265
BINS: Final = 66
KEYPOINTS: Final = 21

SCALE: Final = slice(0, 1)
PITCH: Final = slice(1, 67)
YAW: Final = slice(67, 133)
ROLL: Final = slice(133, 199)
TRANSLATION: Final = slice(199, 202)
EXPRESSION: Final = slice(202, 265)
RIGID: Final = slice(0, 202)
"""All that is not expression."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Rows of motion, any leading dimensions.

    `scale` (..., 1); `pitch`, `yaw`, `roll` (..., 66) bin scores; `translation` (..., 3); `expression`
    (..., 63), keypoint k's axis a at 3 k + a.
    """

    scale: Tensor
    pitch: Tensor
    yaw: Tensor
    roll: Tensor
    translation: Tensor
    expression: Tensor

    @classmethod
    def from_rows(cls, rows: Tensor) -> Self:
        """Views of `rows` (..., 265), whose first column is scale - 1."""
        return cls(
            rows[..., SCALE] + 1,
            rows[..., PITCH],
            rows[..., YAW],
            rows[..., ROLL],
            rows[..., TRANSLATION],
            rows[..., EXPRESSION],
        )

    def to_rows(self) -> Tensor:
        """(..., 265)."""
        return torch.cat(
            (self.scale - 1, self.pitch, self.yaw, self.roll, self.translation, self.expression), dim=-1
        )

    def at(self, index: int | slice | Tensor) -> Self:
        """The rows at `index` of the first dimension."""
        return type(self)(*(getattr(self, field.name)[index] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Source:
    """What a picture of a face holds: its `motion` and its `canonical` keypoints (..., 63)."""

    motion: Motion
    canonical: Tensor
