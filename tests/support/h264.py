"""Reads H.264 byte streams without any codec library: NAL units and the fields of a parameter set."""

import re
from dataclasses import dataclass

IDR, SEI, SPS, PPS, SLICE = 5, 6, 7, 8, 1


@dataclass(frozen=True, slots=True)
class Sps:
    """What a sequence parameter set says; colour codes are those of ITU-T H.273, None when not given."""

    profile: int
    constraints: int
    level: int
    width: int
    height: int
    full_range: bool | None
    primaries: int | None
    transfer: int | None
    matrix: int | None


def nal_units(data: bytes) -> list[bytes]:
    """The NAL units of an Annex B stream, start codes removed."""
    return [unit for unit in re.split(rb"\x00{2,3}\x01", data) if unit]


def nal_types(data: bytes) -> list[int]:
    return [unit[0] & 31 for unit in nal_units(data)]


class _Bits:
    def __init__(self, payload: bytes) -> None:
        plain = payload.replace(b"\x00\x00\x03", b"\x00\x00")
        self._bits = "".join(f"{byte:08b}" for byte in plain)
        self._at = 0

    def u(self, count: int) -> int:
        self._at += count
        return int(self._bits[self._at - count : self._at], 2)

    def ue(self) -> int:
        zeros = 0
        while self.u(1) == 0:
            zeros += 1
        return (1 << zeros) - 1 + (self.u(zeros) if zeros else 0)


def sps_of(data: bytes) -> Sps:
    """The first sequence parameter set in an Annex B stream of a baseline, main or extended profile."""
    unit = next(unit for unit in nal_units(data) if unit[0] & 31 == SPS)
    bits = _Bits(unit[1:])
    profile, constraints, level = bits.u(8), bits.u(8), bits.u(8)
    assert profile in (66, 77, 88), "high profiles carry more fields"
    bits.ue()
    bits.ue()
    if bits.ue() == 0:
        bits.ue()
    bits.ue()
    bits.u(1)
    width, height = 16 * (bits.ue() + 1), 16 * (bits.ue() + 1)
    assert bits.u(1), "frames only"
    bits.u(1)
    if bits.u(1):
        left, right, top, bottom = (2 * bits.ue() for _ in range(4))
        width, height = width - left - right, height - top - bottom
    full, codes = _colour(bits) if bits.u(1) else (None, (None, None, None))
    return Sps(profile, constraints, level, width, height, full, *codes)


def _colour(bits: _Bits) -> tuple[bool | None, tuple[int | None, int | None, int | None]]:
    if bits.u(1) and bits.u(8) == 255:
        bits.u(32)
    if bits.u(1):
        bits.u(1)
    if not bits.u(1):
        return None, (None, None, None)
    bits.u(3)
    full = bool(bits.u(1))
    return full, (bits.u(8), bits.u(8), bits.u(8)) if bits.u(1) else (None, None, None)
