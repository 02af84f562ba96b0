"""An interrupt in mid-sentence, as a receiver hears and sees it."""

import asyncio
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from support.artifacts import keep
from support.client import talking, tone
from support.landmarks import landmarks, lip_gap
from support.server import serving
from support.viewer import Viewer

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROUNDS = 20
SOUND_LIMIT_MS = 100
LIPS_LIMIT_NS = 250_000_000
SPEECH = Path(__file__).resolve().parents[1] / "assets" / "hibari.wav"


def last_loud_ns(viewer: Viewer, since_ns: int) -> int:
    """When the last loud sound after `since_ns` arrived; `since_ns` if none did."""
    loud = [at for at, _, samples in viewer.sounds if at > since_ns and np.abs(samples).max() > 0.05]
    return max(loud, default=since_ns)


def loud_ms(viewer: Viewer, since: int) -> float:
    """How long it was loud from sound number `since` on."""
    return sum(float((np.abs(samples) > 0.02).sum()) for _, _, samples in viewer.sounds[since:]) / 48


async def test_old_sound_stops_within_a_tenth_of_a_second_and_the_position_is_what_was_sent(
    tmp_path: Path,
) -> None:
    stops: list[float] = []
    errors: list[float] = []
    with serving(tmp_path / "server.log", engine="support.pattern:PatternEngine") as server:
        session = await asyncio.to_thread(server.open)
        async with Viewer(server.url, f"/whep/{session['id']}") as viewer, talking(server, session) as talk:
            await viewer.until_frames(25)
            for turn in range(ROUNDS):
                first = len(viewer.sounds)
                await talk.sound(tone(5), f"tone-{turn}")
                await talk.until("playback_started")
                await viewer.until_frames(len(viewer.frames) + 12 + turn % 7)
                asked_ns = time.monotonic_ns()
                await talk.tell(type="interrupt")
                finished = await talk.until("playback_finished")
                await viewer.until_frames(len(viewer.frames) + 20)
                stops.append((last_loud_ns(viewer, asked_ns) - asked_ns) / 1e6)
                assert finished["interrupted"]
                assert finished["id"] == f"tone-{turn}"
                errors.append(
                    loud_ms(viewer, first) * np.pi / (np.pi - 2 * np.arcsin(0.05)) - finished["position_ms"]
                )
    keep("interrupt-ms", {"last old sound": stops, "position error": errors})
    assert float(np.percentile(stops, 95)) <= SOUND_LIMIT_MS, stops
    assert float(np.abs(errors).max()) <= 45, errors


class LipWatch(Viewer):
    """Keeps (arrival ns, lip gap) of each frame."""

    def __init__(self, url: str, path: str) -> None:
        super().__init__(url, path, read_pattern=False)
        self.pictures: list[tuple[int, np.ndarray]] = []

    def see(self, now_ns: int, i420: np.ndarray) -> None:
        self.pictures.append((now_ns, i420))


async def test_lips_are_at_rest_a_quarter_of_a_second_after_an_interrupt(tmp_path: Path) -> None:
    speech = SPEECH.read_bytes()[44:]
    with serving(tmp_path / "server.log") as server:
        session = await asyncio.to_thread(server.open)
        async with LipWatch(server.url, f"/whep/{session['id']}") as viewer, talking(server, session) as talk:
            await viewer.until_frames(30)
            asked: list[int] = []
            for turn in range(5):
                await talk.sound(speech, f"speech-{turn}")
                await talk.until("playback_started")
                await viewer.until_frames(len(viewer.frames) + 25 + 9 * turn)
                asked.append(time.monotonic_ns())
                await talk.tell(type="interrupt")
                await talk.until("playback_finished")
                await viewer.until_frames(len(viewer.frames) + 20)
    gaps = [(at, _gap(picture)) for at, picture in viewer.pictures]
    rest = float(np.median([gap for at, gap in gaps if at < asked[0] - 2_000_000_000] or [gaps[0][1]]))
    spoken = [gap for at, gap in gaps if any(0 < ask - at < 800_000_000 for ask in asked)]
    assert max(spoken) - rest > 0.02, "the lips never opened"
    for ask in asked:
        still = [gap for at, gap in gaps if LIPS_LIMIT_NS < at - ask < 700_000_000]
        assert len(still) >= 8
        steady = [sorted(three)[1] for three in zip(still, still[1:], still[2:], strict=False)]
        assert max(steady) - rest < 0.15 * (max(spoken) - rest), still


def _gap(i420: np.ndarray) -> float:
    return lip_gap(landmarks(cv2.cvtColor(i420, cv2.COLOR_YUV2RGB_I420))[1])
