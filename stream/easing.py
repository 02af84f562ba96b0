"""Smooth edges in motion space: Hermite steps, and how long one must last to stay within an acceleration."""

import math


def hermite(t: float) -> float:
    """0 up to t = 0, 1 from t = 1, 3t² - 2t³ between: no jump in value or speed."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def edge(index: int, *, start: int, frames: int) -> float:
    """How far an edge over `frames` frames has come at frame `index`: 0 at `start`, 1 from `start + frames`
    on."""
    if frames < 1:
        return 0.0 if index < start else 1.0
    return hermite((index - start) / frames)


def edge_frames(change: float, limit: float, *, least: int) -> int:
    """Frames that a Hermite edge of size `change` needs so that its acceleration stays within `limit` a
    frame².

    Never fewer than `least`. The steepest second derivative of the edge is 6 * change / frames².
    """
    if limit <= 0:
        raise ValueError(f"an acceleration limit must be positive, not {limit}")
    return max(least, math.ceil(math.sqrt(6.0 * abs(change) / limit)))
