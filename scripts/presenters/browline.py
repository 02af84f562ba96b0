"""The line that a brow follows."""

import numpy as np

from .base import F64
from .looks import BrowLook


def line(look: BrowLook, along: F64) -> F64:
    """Height over the eyes of a brow's middle (N,), `along` it from the nose, 0, to the temple, 1."""
    rise = look.arch * np.sin(np.clip(along / 0.66, 0, 1.6) * np.pi / 2)
    return look.y + rise - look.fall * np.clip((along - 0.66) / 0.34, 0, 1) ** 1.5
