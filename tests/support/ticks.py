"""Ticks of sound that can be told apart."""

import numpy as np
from visavis.stream.media import Span, TickAudio


def tick(index: int, *, marker: float = 0.0, spans: tuple[Span, ...] = ()) -> TickAudio:
    """Tick `index` whose every sample is `marker`."""
    return TickAudio(
        index=index,
        sent=np.full(1920, marker, np.float32),
        heard=np.full(640, marker, np.float32),
        rows=np.zeros((4, 15), np.float32),
        known=np.zeros(4, np.bool_),
        spans=spans,
        speech=bool(spans),
    )
