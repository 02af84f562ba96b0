"""Means over neighbouring frames."""

import torch.nn.functional as F
from torch import Tensor

VIDEO_FRAMES = 13
"""Frames that the motion of a filmed face is averaged over."""


def moving_mean(rows: Tensor, frames: int) -> Tensor:
    """`rows` (..., T, D), each the mean of the up to `frames` // 2 rows on either side and itself; ends are
    cut, not padded."""
    reach = frames // 2
    if frames <= 1 or rows.shape[-2] < 2:
        return rows
    flat = rows.reshape(-1, *rows.shape[-2:]).transpose(1, 2)
    mean = F.avg_pool1d(flat, 2 * reach + 1, stride=1, padding=reach, count_include_pad=False)
    return mean.transpose(1, 2).reshape(rows.shape)
