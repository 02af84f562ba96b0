"""Headless Chromium on the demo page, with a recorder of what the visitor sees and hears."""

import base64
import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from .artifacts import artifact
from .landmarks import eye_gap, landmarks, lip_gap

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
)
_RECORDER = """
() => {
  const video = document.querySelector('#stage');
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 320;
  const brush = canvas.getContext('2d', { willReadFrequently: true });
  const audio = new AudioContext();
  const ear = audio.createAnalyser();
  ear.fftSize = 2048;
  audio.createMediaStreamSource(video.srcObject).connect(ear);
  const samples = new Float32Array(ear.fftSize);
  window.recorded = [];
  window.recording = true;
  window.counted = [{ at: performance.now(), frames: video.getVideoPlaybackQuality().totalVideoFrames }];
  const step = (now) => {
    ear.getFloatTimeDomainData(samples);
    const energy = Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
    brush.drawImage(video, 0, 0, video.videoWidth, video.videoWidth, 0, 0, 320, 320);
    window.recorded.push({ now, energy, picture: canvas.toDataURL('image/jpeg', 0.85) });
    if (window.recording) video.requestVideoFrameCallback(step);
  };
  window.finish = () => {
    window.recording = false;
    window.counted.push({ at: performance.now(), frames: video.getVideoPlaybackQuality().totalVideoFrames });
    return { entries: window.recorded, counted: window.counted };
  };
  video.requestVideoFrameCallback(step);
}
"""
_EAR_MS = 2048 / 48 / 2
"""The analyser hears the last 43 ms: its middle lies this far back."""
GRID_MS = 20


@dataclass(frozen=True)
class Recording:
    """Frame by frame: `at_ms`, sound `energy`, `lips` and `eyes` opening, the detector's `score`."""

    at_ms: np.ndarray
    energy: np.ndarray
    lips: np.ndarray
    eyes: np.ndarray
    score: np.ndarray
    fps: float
    """Frames a second that were decoded, whether or not the recorder caught them."""

    def correlation(self, *, reach_ms: int) -> tuple[float, int]:
        """The best correlation of lips with sound, and its lag within `reach_ms` (lips after sound)."""
        grid = np.arange(self.at_ms[0], self.at_ms[-1], GRID_MS)
        lips = np.interp(grid, self.at_ms, self.lips)
        energy = np.interp(grid, self.at_ms - _EAR_MS, np.log10(self.energy + 1e-3))
        steps = reach_ms // GRID_MS
        found = [(_pearson(lips, np.roll(energy, lag)), lag * GRID_MS) for lag in range(-steps, steps + 1)]
        return max(found)


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


@contextlib.contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "the browser tests need chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS, *flags])
        yield browser
        browser.close()


def record(page: Page, *, ms: int) -> Recording:
    """Watch and listen for `ms`."""
    page.evaluate(_RECORDER)
    page.wait_for_timeout(ms)
    result = page.evaluate("() => finish()")
    entries, (first, last) = result["entries"], result["counted"]
    pictures = [_decode(entry["picture"]) for entry in entries]
    faces = [landmarks(picture) for picture in pictures]
    return Recording(
        at_ms=np.array([entry["now"] for entry in entries]),
        energy=np.array([entry["energy"] for entry in entries]),
        lips=np.array([lip_gap(points) for _, points in faces]),
        eyes=np.array([eye_gap(points) for _, points in faces]),
        score=np.array([score for score, _ in faces]),
        fps=(last["frames"] - first["frames"]) * 1000 / (last["at"] - first["at"]),
    )


def shot(page: Page, name: str) -> None:
    page.screenshot(path=str(artifact(f"{name}.png")))


def _decode(url: str) -> np.ndarray:
    data = np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR_RGB)
