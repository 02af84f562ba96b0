import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from av.error import FFmpegError
from av.packet import Packet as AvPacket
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from numpy.typing import NDArray
from support.h264 import IDR, PPS, SEI, SLICE, SPS, nal_types, sps_of
from visavis.render.color import BT601, BT709, ColorSpace
from visavis.render.encode_x264 import X264Encoder
from visavis.render.surface import Layout, Surface, surface_over
from visavis.stream.errors import EncoderError
from visavis.stream.media import Packet

WIDTH, HEIGHT = 96, 128


def an_encoder(*, bitrate_bps: int = 500_000, color: ColorSpace = BT709) -> X264Encoder:
    return X264Encoder(WIDTH, HEIGHT, bitrate_bps=bitrate_bps, color=color)


def a_surface(seed: int = 0, *, width: int = WIDTH, height: int = HEIGHT) -> Surface:
    """A soft gradient that differs by seed."""
    surface = surface_over(np.full((height * 3 // 2, width), 128, np.uint8))
    y, x = np.mgrid[:height, :width]
    surface.y[:] = 40 + (x + y + 3 * seed) % 160
    surface.u[:] = 90 + (x[: height // 2, : width // 2] + seed) % 70
    return surface


def in_layout(picture: Surface, layout: Layout) -> Surface:
    surface = surface_over(np.empty_like(picture.buffer), layout)
    surface.y[:], surface.u[:], surface.v[:] = picture.y, picture.u, picture.v
    return surface


def noise(seed: int) -> Surface:
    pixels = np.random.default_rng(seed).integers(16, 236, (HEIGHT * 3 // 2, WIDTH), np.uint8)
    return surface_over(pixels)


def encode(encoder: X264Encoder, surfaces: Iterable[Surface], *, first: int = 0) -> list[Packet]:
    return [
        packet
        for index, surface in enumerate(surfaces, first)
        for packet in encoder.encode(surface, pts=index * 3600, keyframe=False)
    ]


def decode(packets: Iterable[Packet]) -> list[NDArray[np.uint8]]:
    decoder = VideoCodecContext.create("h264", "r")
    decoder.thread_count = 1
    frames = [frame for packet in packets for frame in decoder.decode(AvPacket(packet.data))]
    return [frame.to_ndarray() for frame in [*frames, *decoder.decode(None)]]


def psnr(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    error = first.astype(np.float64) - second
    return float(10 * np.log10(255**2 / max((error**2).mean(), 1e-9)))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_each_frame_leaves_in_its_own_call_with_its_pts() -> None:
    encoder = an_encoder()
    for index in range(5):
        packets = encoder.encode(a_surface(index), pts=90_000 + index * 3600, keyframe=False)
        assert [(packet.pts, packet.clock_rate) for packet in packets] == [(90_000 + index * 3600, 90_000)]


def test_the_stream_starts_with_parameter_sets_and_a_keyframe() -> None:
    (packet,) = an_encoder().encode(a_surface(), pts=0, keyframe=False)
    assert packet.keyframe
    assert packet.data.startswith(b"\x00\x00\x00\x01")
    assert [kind for kind in nal_types(packet.data) if kind != SEI] == [SPS, PPS, IDR]


def test_a_keyframe_comes_when_asked_and_only_then() -> None:
    encoder = an_encoder()
    kinds = [
        nal_types(encoder.encode(a_surface(index), pts=index * 3600, keyframe=index == 3)[0].data)
        for index in range(7)
    ]
    assert kinds[3] == [SPS, PPS, IDR]
    assert [kind for index, kind in enumerate(kinds) if index not in (0, 3)] == [[SLICE]] * 5


def test_a_cut_does_not_make_a_keyframe() -> None:
    packets = encode(an_encoder(), [a_surface(), noise(1), a_surface(40), noise(2)])
    assert [packet.keyframe for packet in packets] == [True, False, False, False]


def test_twenty_seconds_pass_without_a_keyframe_of_its_own() -> None:
    packets = encode(an_encoder(), (a_surface(index) for index in range(500)))
    assert sum(packet.keyframe for packet in packets) == 1


def test_decoding_may_begin_at_any_keyframe() -> None:
    encoder = an_encoder()
    surfaces = [a_surface(index) for index in range(12)]
    packets = [
        packet
        for index, surface in enumerate(surfaces)
        for packet in encoder.encode(surface, pts=index * 3600, keyframe=index == 6)
    ]
    pictures = decode(packets[6:])
    assert len(pictures) == 6
    for picture, surface in zip(pictures, surfaces[6:], strict=True):
        assert psnr(picture, surface.buffer) > 35


def test_profile_is_constrained_baseline() -> None:
    sps = sps_of(encode(an_encoder(), [a_surface()])[0].data)
    assert (sps.profile, sps.constraints & 0x40) == (66, 0x40)
    assert (sps.width, sps.height) == (WIDTH, HEIGHT)


def test_portrait_hd_fits_level_3_1() -> None:
    encoder = X264Encoder(720, 1280, bitrate_bps=2_500_000, color=BT709)
    (packet,) = encoder.encode(a_surface(width=720, height=1280), pts=0, keyframe=False)
    assert sps_of(packet.data).level == 31


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
def test_stream_declares_its_colour(color: ColorSpace) -> None:
    sps = sps_of(encode(an_encoder(color=color), [a_surface()])[0].data)
    assert sps.full_range is False
    assert (sps.primaries, sps.transfer, sps.matrix) == (color.primaries, color.transfer, color.matrix)


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="needs the ffprobe program")
@pytest.mark.parametrize(("color", "space"), [(BT709, "bt709"), (BT601, "smpte170m")], ids=["bt709", "bt601"])
def test_another_decoder_reads_the_same_colour(color: ColorSpace, space: str, tmp_path: Path) -> None:
    stream = tmp_path / "stream.h264"
    stream.write_bytes(b"".join(packet.data for packet in encode(an_encoder(color=color), [a_surface()] * 3)))
    command = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(stream)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["streams"][0]
    assert found["color_range"] == "tv"
    assert found["color_space"] == space
    assert (found["color_primaries"], found["color_transfer"]) == ("bt709", "bt709")


def test_bitrate_follows_in_mid_stream_without_a_keyframe() -> None:
    encoder = an_encoder(bitrate_bps=2_000_000)
    encode(encoder, (noise(index) for index in range(50)))
    rates: list[float] = []
    for turn, bitrate_bps in enumerate((400_000, 1_600_000, 600_000)):
        encoder.set_bitrate(bitrate_bps)
        first = 50 + turn * 100
        packets = encode(encoder, (noise(index) for index in range(100)), first=first)
        assert not any(packet.keyframe for packet in packets)
        rates.append(sum(len(packet.data) for packet in packets[50:]) * 8 / 2)
    assert rates == pytest.approx([400_000, 1_600_000, 600_000], rel=0.25)


def test_bitrate_stays_within_what_the_stream_was_opened_with() -> None:
    encoder = an_encoder(bitrate_bps=400_000)
    encoder.set_bitrate(50_000_000)
    packets = encode(encoder, (noise(index) for index in range(100)))
    assert sum(len(packet.data) for packet in packets) * 8 / 4 < 500_000


def test_a_still_face_costs_little() -> None:
    packets = encode(an_encoder(bitrate_bps=2_000_000), [a_surface()] * 50)
    assert sum(len(packet.data) for packet in packets[25:]) * 8 < 100_000


def test_a_surface_is_free_again_when_encode_returns() -> None:
    encoder = an_encoder()
    surface = a_surface(1)
    references = sys.getrefcount(surface.buffer)
    (first,) = encoder.encode(surface, pts=0, keyframe=False)
    references -= sys.getrefcount(surface.buffer)
    assert references == 0
    surface.buffer[:] = 0
    (second,) = encoder.encode(a_surface(2), pts=3600, keyframe=False)
    pictures = decode([first, second])
    assert psnr(pictures[0], a_surface(1).buffer) > 40
    assert psnr(pictures[1], a_surface(2).buffer) > 35


@pytest.mark.parametrize("height", [64, 66])
def test_every_even_height_is_encoded_right(height: int) -> None:
    encoder = X264Encoder(64, height, bitrate_bps=2_000_000, color=BT601)
    surface = a_surface(3, width=64, height=height)
    (picture,) = decode(encoder.encode(surface, pts=0, keyframe=True))
    assert psnr(picture, surface.buffer) > 38


def test_a_thousand_frames_leave_no_memory_behind() -> None:
    encoder = an_encoder()
    surfaces = [a_surface(index) for index in range(10)]
    encode(encoder, (surfaces[index % 10] for index in range(300)))
    before = resident_bytes()
    encode(encoder, (surfaces[index % 10] for index in range(1000)), first=300)
    assert resident_bytes() - before < 4 << 20


def test_a_picture_of_another_size_is_refused() -> None:
    with pytest.raises(EncoderError, match="64x64"):
        an_encoder().encode(a_surface(width=64, height=64), pts=0, keyframe=False)


def test_a_closed_encoder_says_so() -> None:
    encoder = an_encoder()
    encoder.close()
    encoder.set_bitrate(1)
    with pytest.raises(EncoderError, match="closed"):
        encoder.encode(a_surface(), pts=0, keyframe=False)


def test_a_size_that_cannot_be_encoded_is_refused_at_once() -> None:
    with pytest.raises(EncoderError, match="0x128"):
        X264Encoder(0, 128, bitrate_bps=1, color=BT709)


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
@pytest.mark.parametrize("height", [HEIGHT, HEIGHT + 2])
def test_pictures_in_nv12_come_out_as_those_in_i420_and_declare_the_same_colour(
    height: int, color: ColorSpace
) -> None:
    decoded: list[list[NDArray[np.uint8]]] = []
    for layout in ("i420", "nv12"):
        encoder = X264Encoder(WIDTH, height, bitrate_bps=2_000_000, color=color, layout=layout)
        surfaces = [in_layout(a_surface(seed, height=height), layout) for seed in range(6)]
        packets = encode(encoder, surfaces)
        sps = sps_of(packets[0].data)
        assert (sps.width, sps.height, sps.full_range) == (WIDTH, height, False)
        assert (sps.primaries, sps.transfer, sps.matrix) == (color.primaries, color.transfer, color.matrix)
        decoded.append(decode(packets))
    assert len(decoded[0]) == len(decoded[1]) == 6
    for planar, paired in zip(*decoded, strict=True):
        assert np.abs(planar.astype(int) - paired).max() <= 1
    assert psnr(decoded[1][3], a_surface(3, height=height).buffer) > 35


def test_a_picture_in_another_layout_is_refused() -> None:
    with pytest.raises(EncoderError, match="layout nv12"):
        an_encoder().encode(in_layout(a_surface(), "nv12"), pts=0, keyframe=False)


class LostContext:
    """Stands for a codec that fails in mid-stream, which libx264 cannot be made to do."""

    def encode(self, frame: VideoFrame) -> list[AvPacket]:
        raise FFmpegError(5, "input/output error")


def test_a_failure_in_mid_stream_is_an_encoder_error(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = an_encoder()
    monkeypatch.setattr(encoder, "_context", LostContext())
    with pytest.raises(EncoderError, match="libx264 stopped"):
        encoder.encode(a_surface(), pts=0, keyframe=False)
