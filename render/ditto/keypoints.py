"""From pose, expression and canonical keypoints to the points in space that the warp network follows."""

from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from .motion import BINS, KEYPOINTS, Motion

LIPS: Final = (6, 12, 14, 17, 19, 20)
"""Keypoints of the lips."""
EYES: Final = (11, 13, 15, 16, 18)
"""Keypoints of eyes and lids."""
_BIN_DEGREES, _MIDDLE_BIN = 3.0, 32.5
_LEFT_X, _LEFT_Y, _RIGHT_X, _RIGHT_Y = 33, 34, 45, 46
"""Columns of expression: keypoints 11 and 15, x and y."""
_GAZE_FAR, _GAZE_NEAR, _GAZE_DOWN = 0.001, 0.0007, -0.001
"""What the eye ahead of the turn, the one behind it, and both moving down take from a unit of shift."""


def degrees(scores: Tensor) -> Tensor:
    """`scores` (..., 66) of 3-degree bins as the expected angle (...) float32 in degrees."""
    weights = scores.float().softmax(-1)
    places = torch.arange(BINS, dtype=torch.float32, device=scores.device) - _MIDDLE_BIN
    return (weights * places).sum(-1) * _BIN_DEGREES


def rotation(pitch: Tensor, yaw: Tensor, roll: Tensor) -> Tensor:
    """Angles (...) in degrees as matrices (..., 3, 3) float32 that row vectors are multiplied by from the
    right: the transpose of Rz(roll) Ry(yaw) Rx(pitch)."""
    x, y, z = (torch.deg2rad(angle.float()) for angle in (pitch, yaw, roll))
    sx, sy, sz, cx, cy, cz = x.sin(), y.sin(), z.sin(), x.cos(), y.cos(), z.cos()
    rows = (
        (cy * cz, cy * sz, -sy),
        (sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy),
        (cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy),
    )
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def place(
    turn: Tensor, *, scale: Tensor, translation: Tensor, expression: Tensor, canonical: Tensor
) -> Tensor:
    """Keypoints (..., 21, 3) float32: `scale` (..., 1) times `canonical` (..., 63) turned by `turn`
    (..., 3, 3) plus `expression` (..., 63), moved by x and y of `translation` (..., 3). Its z is not used."""
    still = canonical.float().unflatten(-1, (KEYPOINTS, 3))
    # Summed by hand: a matrix product may be rounded to TF32, and differently for other batches.
    turned = (still[..., None] * turn[..., None, :, :]).sum(-2)
    moved = turned + expression.float().unflatten(-1, (KEYPOINTS, 3))
    aside = F.pad(translation.float()[..., :2], (0, 1))
    return scale.float()[..., None] * moved + aside[..., None, :]


def transform(motion: Motion, canonical: Tensor) -> Tensor:
    """Keypoints (..., 21, 3) float32 of a `canonical` face (..., 63) moved by `motion`."""
    turn = rotation(degrees(motion.pitch), degrees(motion.yaw), degrees(motion.roll))
    return place(
        turn,
        scale=motion.scale,
        translation=motion.translation,
        expression=motion.expression,
        canonical=canonical,
    )


def gaze_shift(dx: Tensor, dy: Tensor) -> Tensor:
    """What to add to expression (..., 63) so that the eyes keep their aim while the head turns by `dx`, `dy`
    (...), shares of degrees of yaw and pitch."""
    dx, dy = dx.float(), dy.float()
    shift = dx.new_zeros((*dx.shape, KEYPOINTS * 3))
    right = dx > 0
    shift[..., _LEFT_X] = dx * torch.where(right, _GAZE_NEAR, _GAZE_FAR)
    shift[..., _RIGHT_X] = dx * torch.where(right, _GAZE_FAR, _GAZE_NEAR)
    shift[..., _LEFT_Y] = shift[..., _RIGHT_Y] = dy * _GAZE_DOWN
    return shift


def columns(*groups: tuple[int, ...]) -> Tensor:
    """(63,) float32: 1 at each coordinate of the keypoints in `groups`, else 0."""
    mask = torch.zeros(KEYPOINTS, 3)
    for group in groups:
        mask[list(group)] = 1
    return mask.flatten()
