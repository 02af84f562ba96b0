"""The video encoder seam, and the ladder that decides which encoder this machine really has."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from ..stream.errors import EncoderError
from ..stream.media import Packet
from .color import BT709, ColorSpace
from .encode_x264 import X264Encoder
from .surface import Layout, Surface, surface_over

_PROBE_SIZE = (720, 1280)
_PROBE_FRAMES = 3
_PROBE_BPS = 2_000_000
_PTS_STEP = 3600


class Encoder(Protocol):
    """One H.264 stream: every access unit Annex B, decodable alone from each keyframe on."""

    @property
    def name(self) -> str:
        """Which encoder it is, for people."""
        ...

    def encode(self, surface: Surface, *, pts: int, keyframe: bool) -> list[Packet]:
        """The access unit of `surface` at `pts` (90 kHz, rising). The surface is free again on return."""
        ...

    def set_bitrate(self, bitrate_bps: int) -> None:
        """Aim at `bitrate_bps`, at most the rate it was opened with, from the next frame on; no keyframe."""
        ...

    def close(self) -> None:
        """Release the encoder. Nothing is pending: each frame leaves at once."""
        ...


class Opener(Protocol):
    def __call__(
        self, width: int, height: int, *, bitrate_bps: int, color: ColorSpace, layout: Layout = "i420"
    ) -> Encoder: ...


_LADDER: tuple[tuple[str, Opener], ...] = (("libx264", X264Encoder),)
"""Best first."""


@dataclass(frozen=True, slots=True)
class Rung:
    """What encoding real frames said of one encoder: `problem` is None when it works."""

    name: str
    opener: Opener
    problem: str | None


def probe(ladder: tuple[tuple[str, Opener], ...]) -> tuple[Rung, ...]:
    """Every encoder of `ladder`, tried with real frames. Lists of codecs prove nothing."""
    return tuple(Rung(name, opener, _problem(opener)) for name, opener in ladder)


@cache
def probed() -> tuple[Rung, ...]:
    """The ladder of this machine, tried once a process."""
    return probe(_LADDER)


def open_encoder(
    width: int,
    height: int,
    *,
    bitrate_bps: int,
    color: ColorSpace,
    layout: Layout = "i420",
    ladder: Callable[[], tuple[Rung, ...]] = probed,
) -> Encoder:
    """The best encoder that works here, for pictures in `layout`. One that cannot open another stream now
    gives way to the next.
    """
    problems: list[str] = []
    for rung in ladder():
        if rung.problem is None:
            try:
                return rung.opener(width, height, bitrate_bps=bitrate_bps, color=color, layout=layout)
            except EncoderError as error:
                problems.append(f"{rung.name}: {error}")
        else:
            problems.append(f"{rung.name}: {rung.problem}")
    raise EncoderError(f"no H.264 encoder works here ({'; '.join(problems)}); install PyAV's own wheel again")


def _problem(opener: Opener) -> str | None:
    width, height = _PROBE_SIZE
    surface = surface_over(np.full((height * 3 // 2, width), 128, np.uint8))
    try:
        encoder = opener(width, height, bitrate_bps=_PROBE_BPS, color=BT709)
        packets: list[Packet] = []
        for index in range(_PROBE_FRAMES):
            surface.y[:, index * 40 :: 160] = 50
            packets += encoder.encode(surface, pts=index * _PTS_STEP, keyframe=index == 0)
        encoder.close()
    except EncoderError as error:
        return str(error)
    if len(packets) != _PROBE_FRAMES or not packets[0].keyframe:
        return f"{len(packets)} packets came of {_PROBE_FRAMES} frames, the first of them must be a keyframe"
    return None
