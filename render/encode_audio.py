"""Opus for live sound: two packets a tick, each of them alone enough to go on from."""

from fractions import Fraction

import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.audio.frame import AudioFrame
from av.error import FFmpegError
from numpy.typing import NDArray

from ..stream.clock import PROGRAM_HOP, PROGRAM_HZ
from ..stream.errors import AudioError, EncoderError

PACKET_SAMPLES = 960
"""20 ms at 48 kHz."""
PRE_SKIP_SAMPLES = 312
"""The encoder's own delay, 6.5 ms: decoded sound is that much behind the samples of its packet."""

_TIME_BASE = Fraction(1, PROGRAM_HZ)
_BITRATE_BPS = 40_000

_OPTIONS = {
    # Only the speech modes carry the previous packet again at low rate, which mends single losses.
    "application": "voip",
    "fec": "1",
    "packet_loss": "5",
    "frame_duration": "20",
    "vbr": "on",
    # Silence stays ordinary packets: a gap would look like loss.
    "dtx": "0",
    "compression_level": "5",
}


class OpusEncoder:
    """One session's Opus stream: 48 kHz, mono, 20 ms packets. What it has heard shapes the next packets."""

    def __init__(self) -> None:
        context = AudioCodecContext.create("libopus", "w")
        context.sample_rate, context.layout, context.format = PROGRAM_HZ, "mono", "flt"
        context.time_base = _TIME_BASE
        context.bit_rate = _BITRATE_BPS
        context.options = dict(_OPTIONS)
        try:
            context.open()
        except FFmpegError as error:
            raise EncoderError(f"libopus does not open: {error}; install PyAV's own wheel again") from error
        self._context = context
        self._sent = 0

    def encode(self, samples: NDArray[np.float32]) -> tuple[bytes, bytes]:
        """The two packets of one tick of sound, (1920,) float32 in -1..1."""
        if samples.shape != (PROGRAM_HOP,):
            raise AudioError(f"a tick has {PROGRAM_HOP} samples at 48 kHz, not an array of {samples.shape}")
        return self._packet(samples[:PACKET_SAMPLES]), self._packet(samples[PACKET_SAMPLES:])

    def _packet(self, samples: NDArray[np.float32]) -> bytes:
        frame = AudioFrame.from_ndarray(np.ascontiguousarray(samples[None], np.float32), "flt", "mono")
        frame.sample_rate, frame.time_base, frame.pts = PROGRAM_HZ, _TIME_BASE, self._sent
        self._sent += PACKET_SAMPLES
        try:
            packets = self._context.encode(frame)
        except FFmpegError as error:
            raise EncoderError(f"libopus stopped: {error}") from error
        if len(packets) != 1:
            raise EncoderError(f"libopus gave {len(packets)} packets for 20 ms of sound")
        return bytes(packets[0])
