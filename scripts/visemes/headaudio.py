"""What HeadAudio, a lip-sync library for browsers, makes of a clip; run from its own package in node."""

import subprocess
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from visavis.stream.visemes import SILENCE

RUNNER: Final = Path(__file__).with_name("headaudio.mjs")
HOP: Final = 160
RATE: Final = 16000


def heard(package: Path, samples: NDArray[np.float32], early_s: float) -> NDArray[np.uint8]:
    """Viseme (T,) of each 10 ms row of `samples` at 16 kHz, taken `early_s` before HeadAudio says it."""
    order = ["node", str(RUNNER), str(package)]
    said = subprocess.run(
        order, input=samples.astype("<f4").tobytes(), capture_output=True, check=True
    ).stdout
    rows = np.full(len(samples) // HOP, SILENCE, np.uint8)
    for line in said.decode().split("\n"):
        if line:
            second, viseme = line.split()
            place = max(round((float(second) - early_s) * RATE / HOP), 0)
            rows[place:] = SILENCE if int(viseme) < 0 else int(viseme)
    return rows
