from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from visavis.stream.media import AudioChunk, Packet, Span, TickAudio

PACKET = Packet(b"\x00", pts=3600, clock_rate=90_000, keyframe=True)
CHUNK = AudioChunk("a", np.zeros(3, np.float32), 16_000)
TICK = TickAudio(
    index=4,
    sent=np.zeros(1920, np.float32),
    heard=np.zeros(640, np.float32),
    rows=np.zeros((4, 15), np.float32),
    known=np.zeros(4, np.bool_),
    spans=(),
    speech=False,
)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (PACKET, "pts"),
        (CHUNK, "rate"),
        (Span("a", 0, 1, last=False), "end"),
        (TICK, "index"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_flows_cannot_be_changed_or_grow_fields(value: object, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, 0)
    assert not hasattr(value, "__dict__")


def test_a_chunk_comes_without_mouth_shapes_unless_they_are_given() -> None:
    assert CHUNK.cues == ()


def test_equal_packets_and_spans_are_equal() -> None:
    assert Packet(b"\x00", 3600, 90_000, keyframe=True) == PACKET
    assert Span("a", 0, 1, last=False) != Span("a", 0, 1, last=True)
