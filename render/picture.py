"""A picture that a stranger sent: known by its content, limited before it is decoded, upright, and RGB.

Only JPEG, PNG and WebP are taken. Their heads are read here, so that nothing is decoded before its size, its
end and its kind are known.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from ..stream.errors import AvatarError

MAX_BYTES: Final = 64 << 20
MAX_PIXELS: Final = 64_000_000
_MAX_SIDE = 1 << 15
_BACKDROP = 255
"""What shows through where a picture is transparent: white."""
_PNG = b"\x89PNG\r\n\x1a\n"
_ORIENTATION = 0x0112
_EXIF = b"Exif\0\0"
_WITH_SIZE = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG segments that start a frame and say its size."""
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
"""JPEG markers without a length."""
_START_OF_SCAN, _END_OF_IMAGE, _EXIF_SEGMENT = 0xDA, 0xD9, 0xE1


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says about itself. `orientation` is EXIF's 1 to 8, of the picture as stored."""

    kind: str
    width: int
    height: int
    orientation: int = 1
    moving: bool = False


def decode(blob: bytes) -> NDArray[np.uint8]:
    """The picture in `blob` (H, W, 3) uint8 RGB, turned as EXIF says, on white where it is transparent.

    Raises AvatarError, saying what to do, for anything else than a whole, still JPEG, PNG or WebP of at most
    64 MiB and 64 million pixels.
    """
    if not blob:
        raise AvatarError("the picture is empty: 0 bytes; export it again")
    if len(blob) > MAX_BYTES:
        raise AvatarError(
            f"the picture has {len(blob) >> 20} MiB; use one of at most {MAX_BYTES >> 20}, such as a JPEG"
        )
    head = read_head(blob)
    if head.moving:
        raise AvatarError(f"the {head.kind} is animated; save one frame of it as a PNG and use that")
    if max(head.width, head.height) > _MAX_SIDE or head.width * head.height > MAX_PIXELS:
        raise AvatarError(
            f"the picture has {head.width}x{head.height} pixels; scale it down to at most "
            f"{MAX_PIXELS // 1_000_000} million"
        )
    pixels = _decoded(blob, head)
    if pixels is None or pixels.shape[:2] != (head.height, head.width):
        raise AvatarError(f"the {head.kind} is damaged; export the picture again")
    return np.ascontiguousarray(_turned(pixels, head.orientation))


def read_head(blob: bytes) -> Head:
    """The head of a JPEG, PNG or WebP, whatever its name. Raises AvatarError when it is none, or cut off."""
    try:
        if blob.startswith(b"\xff\xd8\xff"):
            return _jpeg(blob)
        if blob.startswith(_PNG):
            return _png(blob)
        if blob[:4] == b"RIFF" and blob[8:12] == b"WEBP":
            return _webp(blob)
    except (struct.error, IndexError) as error:
        raise AvatarError("the picture is cut off; copy or export it again") from error
    raise AvatarError("the file is no JPEG, PNG or WebP; export the picture as one of them")


def _decoded(blob: bytes, head: Head) -> NDArray[np.uint8] | None:
    """(H, W, 3) RGB as stored, None when it cannot be read."""
    raw = np.frombuffer(blob, np.uint8)
    try:
        if head.kind != "JPEG":
            pixels = cv2.imdecode(raw, cv2.IMREAD_UNCHANGED)
            if pixels is not None and pixels.ndim == 3 and pixels.shape[2] == 4:
                return _flattened(pixels)
        pixels = cv2.imdecode(raw, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
        return (
            None if pixels is None else cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB).astype(np.uint8, copy=False)
        )
    except (cv2.error, MemoryError):
        return None


def _flattened(pixels: NDArray[np.generic]) -> NDArray[np.uint8]:
    """BGRA of 8 or 16 bits, (H, W, 4), on the backdrop as RGB."""
    deep = pixels.dtype == np.uint16
    levels = pixels.astype(np.float32) / np.float32(257 if deep else 1)
    share = levels[..., 3:] / np.float32(255)
    return (share * levels[..., 2::-1] + (1 - share) * _BACKDROP + np.float32(0.5)).astype(np.uint8)


def _turned(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """`pixels` (H, W, 3) as EXIF's `orientation` wants them seen."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return pixels


def _jpeg(blob: bytes) -> Head:
    orientation, size = 1, (0, 0)
    for marker, start, end in _segments(blob):
        if marker in _WITH_SIZE:
            height, width = struct.unpack_from(">HH", blob, start + 1)
            size = width, height
        elif marker == _EXIF_SEGMENT and blob.startswith(_EXIF, start):
            orientation = _exif(blob[start + len(_EXIF) : end])
        elif marker == _START_OF_SCAN and blob.find(bytes((0xFF, _END_OF_IMAGE)), end) < 0:
            raise IndexError
    return Head("JPEG", *size, orientation)


def _segments(blob: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and end of each of a JPEG's segments up to its first scan. IndexError when cut off."""
    at = 2
    while True:
        if blob[at] != 0xFF:
            raise IndexError
        marker = blob[at + 1]
        at += 1 if marker == 0xFF else 2
        if marker in _BARE or marker == 0xFF:
            continue
        (length,) = struct.unpack_from(">H", blob, at)
        if length < 2 or at + length > len(blob):
            raise IndexError
        yield marker, at + 2, at + length
        if marker == _START_OF_SCAN:
            return
        at += length


def _png(blob: bytes) -> Head:
    width, height = struct.unpack_from(">II", blob, 16)
    orientation, moving = 1, False
    at = len(_PNG)
    while True:
        length, name = struct.unpack_from(">I4s", blob, at)
        if at + 12 + length > len(blob):
            raise IndexError
        moving |= name == b"acTL"
        if name == b"eXIf":
            orientation = _exif(blob[at + 8 : at + 8 + length])
        if name == b"IEND":
            return Head("PNG", width, height, orientation, moving)
        at += 12 + length


def _webp(blob: bytes) -> Head:
    (whole,) = struct.unpack_from("<I", blob, 4)
    if whole + 8 > len(blob):
        raise IndexError
    size, orientation, moving = (0, 0), 1, False
    at = 12
    while at + 8 <= whole + 8:
        name, length = struct.unpack_from("<4sI", blob, at)
        start = at + 8
        if start + length > len(blob):
            raise IndexError
        if name == b"VP8X":
            moving = bool(blob[start] & 2)
            size = 1 + _three(blob, start + 4), 1 + _three(blob, start + 7)
        elif name == b"VP8 " and size == (0, 0):
            width, height = struct.unpack_from("<HH", blob, start + 6)
            size = width & 0x3FFF, height & 0x3FFF
        elif name == b"VP8L" and size == (0, 0):
            (bits,) = struct.unpack_from("<I", blob, start + 1)
            size = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        elif name == b"EXIF":
            orientation = _exif(blob[start : start + length].removeprefix(_EXIF))
        at = start + length + length % 2
    return Head("WebP", *size, orientation, moving)


def _three(blob: bytes, at: int) -> int:
    """A number of three bytes, the lowest first."""
    return int.from_bytes(blob[at : at + 3], "little")


def _exif(blob: bytes) -> int:
    """The orientation in a block of EXIF; 1 when there is none, or none that can be read."""
    order = {b"II": "<", b"MM": ">"}.get(blob[:2])
    if order is None:
        return 1
    try:
        (at,) = struct.unpack_from(f"{order}I", blob, 4)
        (entries,) = struct.unpack_from(f"{order}H", blob, at)
        for entry in range(entries):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", blob, at + 2 + 12 * entry)
            if tag == _ORIENTATION and kind == 3:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1
