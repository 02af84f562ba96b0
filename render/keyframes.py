"""Where the keyframes of a clip go.

A keyframe draws the texture of a still face anew, which shows as a pulse. While the head turns or the eyes
blink nobody sees it.
"""

import numpy as np
from numpy.typing import NDArray

SOONEST, LATEST = 100, 250
"""Frames from one keyframe to the next: four seconds, and ten, so that players seek quickly."""
_STRIKING = 3.0
"""Of the usual change between two pictures: so much hides a keyframe as soon as there may be one. The longer
it is overdue the less will do."""
_SETTLE = 0.04
_STRIDE_PX = 8


class Keyframes:
    """Says of each picture of one clip in turn whether it should be a keyframe."""

    def __init__(self) -> None:
        self._before: NDArray[np.int16] | None = None
        self._usual = 0.0
        self._since = 0

    def due(self, luma: NDArray[np.uint8]) -> bool:
        """Take the next picture's `luma` (H, W)."""
        now = luma[::_STRIDE_PX, ::_STRIDE_PX].astype(np.int16)
        change = 0.0 if self._before is None else float(np.abs(now - self._before).mean())
        due = self._before is None or change >= self._hidden()
        self._before = now
        self._usual += _SETTLE * (change - self._usual)
        self._since = 1 if due else self._since + 1
        return due

    def _hidden(self) -> float:
        """The change that hides a keyframe now."""
        if self._since < SOONEST:
            return float("inf")
        return _STRIKING * self._usual * max(0.0, 1.0 - (self._since - SOONEST) / (LATEST - SOONEST))
