"""H.264 on the CPU: libx264, tuned so that a frame leaves in the call that brought it."""

from fractions import Fraction
from typing import Final

from av.error import FFmpegError
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType, VideoFrame

from ..stream.clock import FRAME_RATE, VIDEO_CLOCK_HZ
from ..stream.errors import EncoderError
from ..stream.media import Packet
from .color import ColorSpace
from .surface import Layout, Surface

PIXEL_FORMATS: Final[dict[Layout, str]] = {"i420": "yuv420p", "nv12": "nv12"}
"""FFmpeg's names."""
_TIME_BASE = Fraction(1, VIDEO_CLOCK_HZ)
_LEAST_BPS = 100_000

_VBV_MS = 300
"""How far a keyframe may run ahead of the bitrate; it bounds the burst that a viewer's link must swallow."""
_KEYFRAME_INTERVAL = 1 << 30
"""Never: who needs a keyframe asks and gets it at once. Each one makes a still face's texture jump."""
_BEST_QUANTISER = 18
"""Nobody sees the difference below it (48 dB), but a still face would use the whole bitrate for it."""


class X264Encoder:
    """Constrained baseline without B-frames; each keyframe carries its own parameter sets and colour."""

    name = "libx264"

    def __init__(
        self, width: int, height: int, *, bitrate_bps: int, color: ColorSpace, layout: Layout = "i420"
    ) -> None:
        self._size = (width, height)
        self._layout = layout
        self._most_bps = max(bitrate_bps, _LEAST_BPS)
        self._context: VideoCodecContext | None = _opened(width, height, self._most_bps, color, layout)

    def encode(self, surface: Surface, *, pts: int, keyframe: bool) -> list[Packet]:
        """One access unit. libx264 copies the picture before it returns, so `surface` is only borrowed."""
        if self._context is None:
            raise EncoderError("the encoder was closed; open another")
        if (surface.width, surface.height) != self._size:
            raise EncoderError(f"a {surface.width}x{surface.height} picture in a {self._size} stream")
        if surface.layout != self._layout:
            raise EncoderError(f"a picture in layout {surface.layout} in a stream of {self._layout}")
        frame = _wrapped(surface)
        frame.pts = pts
        frame.time_base = _TIME_BASE
        frame.pict_type = PictureType.I if keyframe else PictureType.NONE
        try:
            packets = self._context.encode(frame)
        except FFmpegError as error:
            raise EncoderError(f"libx264 stopped: {error}") from error
        return [
            Packet(bytes(packet), packet.pts or 0, VIDEO_CLOCK_HZ, packet.is_keyframe) for packet in packets
        ]

    def set_bitrate(self, bitrate_bps: int) -> None:
        if self._context is not None:
            self._context.bit_rate = min(max(bitrate_bps, _LEAST_BPS), self._most_bps)

    def close(self) -> None:
        self._context = None


def _opened(
    width: int, height: int, bitrate_bps: int, color: ColorSpace, layout: Layout
) -> VideoCodecContext:
    context = VideoCodecContext.create("libx264", "w")
    context.width, context.height, context.pix_fmt = width, height, PIXEL_FORMATS[layout]
    context.time_base, context.framerate = _TIME_BASE, FRAME_RATE.per_second
    context.color_primaries, context.color_trc = color.primaries, color.transfer
    context.colorspace, context.color_range = color.matrix, color.range
    context.bit_rate = bitrate_bps
    context.gop_size = _KEYFRAME_INTERVAL
    context.max_b_frames = 0
    context.qmin = _BEST_QUANTISER
    context.thread_count = 1
    # The rate follows `bit_rate` in mid-stream only when the VBV is set by these two, not by x264-params.
    context.options = {
        "maxrate": str(bitrate_bps),
        "bufsize": str(bitrate_bps * _VBV_MS // 1000),
        "preset": "superfast",
        "tune": "zerolatency",
        "profile": "baseline",
        "forced-idr": "1",
        "sc_threshold": "0",
    }
    try:
        context.open()
    except FFmpegError as error:
        raise EncoderError(f"libx264 cannot encode {width}x{height}: {error}") from error
    return context


def _wrapped(surface: Surface) -> VideoFrame:
    """The surface as a frame without a copy, or with one where PyAV would misread the height."""
    wrap = VideoFrame.from_ndarray if surface.height % 4 else VideoFrame.from_numpy_buffer
    return wrap(surface.buffer, PIXEL_FORMATS[surface.layout])
