"""Raw sound as clients send it: s16le mono in chunks of any size, perhaps behind a WAV header."""

import numpy as np
from numpy.typing import NDArray

from .errors import AudioError

_RIFF_BYTES = 12
_CHUNK_BYTES = 8
_MAX_HEADER_BYTES = 1 << 16
_FORMAT_BYTES = 16
_PCM_FORMAT = 1


class PcmReader:
    """Joins chunks into whole s16le samples: odd bytes wait for their other half, a WAV header is read and
    skipped.

    `rate` is the header's sample rate once one was seen, else None.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._in_header = True
        self._at = _RIFF_BYTES
        self.rate: int | None = None

    def feed(self, data: bytes) -> bytes:
        """The whole samples that `data` completes. Raises AudioError for a WAV that is not 16-bit mono
        PCM.
        """
        self._pending += data
        if self._in_header and not self._skip_header():
            return b""
        whole = len(self._pending) & ~1
        samples = bytes(self._pending[:whole])
        del self._pending[:whole]
        return samples

    def _skip_header(self) -> bool:
        """True once the header, if there is one, is out of the way."""
        start = bytes(self._pending[:_RIFF_BYTES])
        if start[:4] != b"RIFF"[: len(start)] or (len(start) == _RIFF_BYTES and start[8:] != b"WAVE"):
            self._in_header = False
            return True
        while self._in_header and self._next_chunk():
            pass
        return not self._in_header

    def _next_chunk(self) -> bool:
        """Read the header's chunk at `_at`; False while there is not enough of it."""
        head = bytes(self._pending[self._at : self._at + _CHUNK_BYTES + _FORMAT_BYTES])
        if len(head) < _CHUNK_BYTES:
            return False
        name, size = head[:4], int.from_bytes(head[4:_CHUNK_BYTES], "little")
        if name == b"data":
            del self._pending[: self._at + _CHUNK_BYTES]
            self._in_header = False
            return True
        if self._at + _CHUNK_BYTES + size > _MAX_HEADER_BYTES:
            raise AudioError("the WAV header is longer than 64 KiB; send plain s16le mono samples instead")
        if name == b"fmt ":
            if size < _FORMAT_BYTES:
                raise AudioError("the WAV header is damaged; send plain s16le mono samples instead")
            if len(head) < _CHUNK_BYTES + _FORMAT_BYTES:
                return False
            self._check_format(head[_CHUNK_BYTES:])
        self._at += _CHUNK_BYTES + size + (size & 1)
        return True

    def _check_format(self, fmt: bytes) -> None:
        kind = int.from_bytes(fmt[0:2], "little")
        channels = int.from_bytes(fmt[2:4], "little")
        bits = int.from_bytes(fmt[14:16], "little")
        if channels != 1 or bits != 16 or kind not in (_PCM_FORMAT, 0xFFFE):
            raise AudioError(
                f"the WAV holds {channels} channel(s) of {bits} bits in format {kind}; send 16-bit mono PCM"
            )
        self.rate = int.from_bytes(fmt[4:8], "little")


def to_float(pcm: bytes) -> NDArray[np.float32]:
    """s16le bytes to (N,) float32 in -1..1."""
    return np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32768)


def from_float(samples: NDArray[np.float32]) -> bytes:
    """(N,) float32 to s16le bytes; values outside -1..1 are clipped, anything not finite is silence."""
    clean = np.clip(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), -1, 1)
    return np.minimum(np.rint(clean * 32768), 32767).astype("<i2").tobytes()
