"""Picture files that no library at hand writes, and heads that lie."""

import struct
import zlib

import cv2
import numpy as np
from numpy.typing import NDArray


def encoded(ending: str, pixels: NDArray[np.generic], *options: int) -> bytes:
    """`pixels` in RGB or RGBA order, or grey, as a file."""
    if pixels.ndim == 3:
        order = cv2.COLOR_RGBA2BGRA if pixels.shape[2] == 4 else cv2.COLOR_RGB2BGR
        pixels = np.asarray(cv2.cvtColor(pixels, order))
    done, blob = cv2.imencode(ending, pixels, options)
    assert done
    return blob.tobytes()


def exif(orientation: int, order: str = "<") -> bytes:
    """A block of EXIF with nothing but an orientation."""
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(f"{order}IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def with_exif(blob: bytes, orientation: int, order: str = "<") -> bytes:
    """The JPEG, PNG or WebP `blob` with an orientation."""
    block = exif(orientation, order)
    if blob.startswith(b"\xff\xd8"):
        body = b"Exif\0\0" + block
        return blob[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + blob[2:]
    if blob.startswith(b"\x89PNG"):
        return blob[:33] + png_chunk(b"eXIf", block) + blob[33:]
    inner = blob[12:] + b"EXIF" + struct.pack("<I", len(block)) + block + b"\0" * (len(block) % 2)
    return b"RIFF" + struct.pack("<I", len(inner) + 4) + b"WEBP" + inner


def png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def huge_png(width: int, height: int) -> bytes:
    """A head that promises `width` x `height` pixels, and nothing behind it."""
    head = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + png_chunk(b"IDAT", zlib.compress(b"\0")) + png_chunk(b"IEND", b"")


def moving_webp() -> bytes:
    """The head of an animated WebP of 8 x 8."""
    body = bytes((2, 0, 0, 0, 7, 0, 0, 7, 0, 0))
    inner = b"VP8X" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(inner) + 4) + b"WEBP" + inner


def cmyk_jpeg(cyan: int, magenta: int, yellow: int, black: int) -> bytes:
    """An 8 x 8 JPEG of one colour in four inks, stored inverted as Adobe does: 255 is no ink."""

    def segment(marker: int, body: bytes) -> bytes:
        return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body

    bits = ""
    for level in (cyan, magenta, yellow, black):
        steps = 8 * (level - 128)
        if steps:
            size = abs(steps).bit_length()
            assert size <= 10
            bits += "10" + format(steps if steps > 0 else steps + 1023, "010b")
        else:
            bits += "0"
        bits += "0"
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    components = b"".join(bytes((number, 0x11, 0)) for number in range(1, 5))
    tables = bytes((0, 1, 1, *[0] * 14, 0, 10)), bytes((0x10, 1, *[0] * 15, 0))
    return (
        b"\xff\xd8"
        + segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 0))
        + segment(0xDB, bytes((0, *[1] * 64)))
        + segment(0xC0, struct.pack(">BHHB", 8, 8, 8, 4) + components)
        + b"".join(segment(0xC4, table) for table in tables)
        + segment(0xDA, b"\x04" + b"".join(bytes((number, 0)) for number in range(1, 5)) + b"\0\x3f\0")
        + scan
        + b"\xff\xd9"
    )
