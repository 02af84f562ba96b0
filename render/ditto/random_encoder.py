"""A stand-in for the audio encoder: a projection of the sound, in the official shape, from a seed."""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from .features import ROW_HOP, ROW_WINDOW, WIDTH

_SCALE, _BIAS_SCALE = 0.05, 0.1
_STREAM: Final = 0x0A0D10
"""Tells these draws from others of the same seed."""


class ProjectionEncoder:
    """An `AudioEncoder`: rows are 400 samples, 320 apart, times `basis` (400, 1024), plus `bias` (1024,)."""

    def __init__(self, basis: Tensor, bias: Tensor) -> None:
        self._basis, self._bias = basis, bias

    def __call__(self, samples: Tensor) -> Tensor:
        # One window at a time: a product over all is rounded by how many there are.
        found = [row.unfold(0, ROW_WINDOW, ROW_HOP) @ self._basis + self._bias for row in samples]
        return torch.stack(found)


def random_encoder(seed: int) -> ProjectionEncoder:
    """The same for a seed wherever it is drawn."""
    random = np.random.RandomState((seed ^ _STREAM) & 0xFFFFFFFF)
    basis = _SCALE * random.standard_normal((ROW_WINDOW, WIDTH))
    bias = _BIAS_SCALE * random.standard_normal(WIDTH)
    return ProjectionEncoder(
        torch.from_numpy(basis.astype(np.float32)), torch.from_numpy(bias.astype(np.float32))
    )
