"""Sound and picture at a decoding receiver, by flashes and beeps that belong together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import websockets
from support.artifacts import keep
from support.server import Server, serving
from support.viewer import Viewer, beep_starts, flash_starts
from visavis.stream.clock import PROGRAM_HZ, VIDEO_CLOCK_HZ
from visavis.stream.pcm import from_float

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

RATE = 16_000
BEEP_EVERY_MS = 1_000
BEEP_MS = 120
SECONDS = 300
PIECE_SECONDS = 1
LIMIT_MS = 20


def beeps(seconds: int) -> bytes:
    """Silence with a beep at the start of each second, which falls on a tick."""
    at = np.arange(RATE * seconds)
    loud = at % (RATE * BEEP_EVERY_MS // 1000) < RATE * BEEP_MS // 1000
    return from_float((0.5 * loud * np.sin(2 * np.pi * 1000 * at / RATE)).astype(np.float32))


@contextlib.asynccontextmanager
async def speaking(server: Server, session: dict[str, object], seconds: int) -> AsyncIterator[None]:
    """Stream beeps for `seconds`, as fast as the server takes them."""
    url = server.url.replace("http", "ws", 1) + f"/v1/sessions/{session['id']}/ws"

    async def stream() -> None:
        async with websockets.connect(url) as socket:
            await socket.send('{"type": "start", "sample_rate": 16000, "format": "s16le"}')
            piece = beeps(PIECE_SECONDS)
            for _ in range(seconds // PIECE_SECONDS):
                await socket.send(piece)
            await socket.send('{"type": "segment_end", "id": "beeps"}')
            async for _ in socket:
                pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(stream())
        yield
        task.cancel()


def presented_skew_ms(viewer: Viewer, *, last: int) -> list[float]:
    """Sound behind picture, by the times that the sender reports give to both, of the last beeps."""
    pairs = _pairs(_times(viewer, "audio"), _times(viewer, "video"))
    return [(sound - picture) * 1000 for sound, picture in pairs][-last:]


def arrival_skew_ms(viewer: Viewer, *, last: int) -> list[float]:
    """Sound behind picture, by when they came out of the receiver, of the last beeps."""
    sounds = [arrived / 1e9 for arrived, _ in beep_starts(viewer.sounds)]
    pictures = [arrived / 1e9 for arrived, _ in flash_starts(viewer.frames)]
    return [(sound - picture) * 1000 for sound, picture in _pairs(sounds, pictures)][-last:]


def _times(viewer: Viewer, kind: str) -> list[float]:
    starts = beep_starts(viewer.sounds) if kind == "audio" else flash_starts(viewer.frames)
    clock = PROGRAM_HZ if kind == "audio" else VIDEO_CLOCK_HZ
    seconds, stamp = viewer.reports[kind][-1]
    origin = viewer.origins[kind]
    return [seconds + ((origin + pts - stamp + 2**31) % 2**32 - 2**31) / clock for _, pts in starts]


def _pairs(sounds: list[float], pictures: list[float]) -> list[tuple[float, float]]:
    """Each beep with the flash nearest to it, not further than half the time between beeps."""
    found: list[tuple[float, float]] = []
    for sound in sounds:
        picture = min(pictures, key=lambda at: abs(at - sound), default=None)
        if picture is not None and abs(sound - picture) < BEEP_EVERY_MS / 2000:
            found.append((sound, picture))
    return found


async def test_sound_and_picture_stay_together_for_five_minutes_while_viewers_come_and_go(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "server.log", engine="support.pattern:PatternEngine") as server:
        session = await asyncio.to_thread(server.open)
        path = f"/whep/{session['id']}"
        async with Viewer(server.url, path) as first, speaking(server, session, SECONDS + 20):
            await first.until_beeps(8)
            early, early_arrival = presented_skew_ms(first, last=5), arrival_skew_ms(first, last=5)
            async with Viewer(server.url, path) as second:
                await second.until_beeps(8)
                joined = presented_skew_ms(second, last=5)
            await first.until_beeps(SECONDS - 10, seconds=SECONDS + 30)
            async with Viewer(server.url, path) as third:
                await third.until_beeps(8)
                at_last_joined = presented_skew_ms(third, last=5)
            late, late_arrival = presented_skew_ms(first, last=8), arrival_skew_ms(first, last=8)
    figures = {
        "at start": early,
        "at start, by arrival": early_arrival,
        "second viewer": joined,
        "after five minutes": late,
        "after five minutes, by arrival": late_arrival,
        "viewer who joined after five minutes": at_last_joined,
    }
    keep("skew-ms", figures)
    for name, skews in figures.items():
        assert len(skews) >= 5, name
        assert abs(float(np.median(skews))) <= LIMIT_MS, (name, skews)
    numbers = [number for _, _, number, _ in first.frames]
    missing = [b - a for a, b in pairwise(numbers) if b != a + 1]
    assert len(missing) <= len(numbers) // 100, missing
