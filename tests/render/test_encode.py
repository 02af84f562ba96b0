from dataclasses import dataclass, field

import numpy as np
import pytest
from visavis.render.color import BT709, ColorSpace
from visavis.render.encode import Encoder, Rung, open_encoder, probe, probed
from visavis.render.encode_x264 import X264Encoder
from visavis.render.surface import Layout, Surface, surface_over
from visavis.stream.errors import EncoderError
from visavis.stream.media import Packet


@dataclass
class FakeEncoder:
    """Gives one packet a frame, or what it is told to."""

    name: str = "fake"
    keyframes: bool = True
    silent: bool = False
    breaks: bool = False
    closed: bool = False
    seen: list[Surface] = field(default_factory=list)

    def encode(self, surface: Surface, *, pts: int, keyframe: bool) -> list[Packet]:
        if self.breaks:
            raise EncoderError("lost the device")
        self.seen.append(surface)
        return [] if self.silent else [Packet(b"x", pts, 90_000, keyframe and self.keyframes)]

    def set_bitrate(self, bitrate_bps: int) -> None:
        pass

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeOpener:
    encoder: FakeEncoder = field(default_factory=FakeEncoder)
    refuses: bool = False
    opened: int = 0
    layout: Layout | None = None

    def __call__(
        self, width: int, height: int, *, bitrate_bps: int, color: ColorSpace, layout: Layout = "i420"
    ) -> Encoder:
        if self.refuses:
            raise EncoderError("no such card")
        self.opened += 1
        self.layout = layout
        return self.encoder


def opened(*rungs: Rung) -> Encoder:
    return open_encoder(64, 64, bitrate_bps=1, color=BT709, ladder=lambda: rungs)


def test_an_encoder_that_encodes_has_no_problem() -> None:
    opener = FakeOpener()
    assert probe((("fake", opener),)) == (Rung("fake", opener, None),)
    assert opener.encoder.closed
    assert {(surface.width, surface.height) for surface in opener.encoder.seen} == {(720, 1280)}


@pytest.mark.parametrize(
    ("opener", "problem"),
    [
        (FakeOpener(refuses=True), "no such card"),
        (FakeOpener(FakeEncoder(breaks=True)), "lost the device"),
        (FakeOpener(FakeEncoder(silent=True)), "0 packets"),
        (FakeOpener(FakeEncoder(keyframes=False)), "keyframe"),
    ],
    ids=["does not open", "breaks", "gives nothing", "starts without a keyframe"],
)
def test_a_probe_says_why_an_encoder_is_no_use(opener: FakeOpener, problem: str) -> None:
    (rung,) = probe((("fake", opener),))
    assert rung.problem is not None
    assert problem in rung.problem


def test_the_first_working_encoder_is_taken() -> None:
    broken, second, third = FakeOpener(), FakeOpener(), FakeOpener()
    encoder = opened(Rung("a", broken, "no driver"), Rung("b", second, None), Rung("c", third, None))
    assert encoder is second.encoder
    assert broken.opened == third.opened == 0


def test_a_full_encoder_gives_way_to_the_next() -> None:
    second = FakeOpener()
    assert opened(Rung("a", FakeOpener(refuses=True), None), Rung("b", second, None)) is second.encoder


def test_the_encoder_is_opened_for_the_layout_that_will_come() -> None:
    opener = FakeOpener()
    rungs = (Rung("a", opener, None),)
    open_encoder(64, 64, bitrate_bps=1, color=BT709, layout="nv12", ladder=lambda: rungs)
    assert opener.layout == "nv12"


def test_no_encoder_at_all_names_every_reason() -> None:
    with pytest.raises(EncoderError, match=r"a: no such card; b: no driver.*install"):
        opened(Rung("a", FakeOpener(refuses=True), None), Rung("b", FakeOpener(), "no driver"))


def test_this_machine_is_probed_once_and_has_an_encoder() -> None:
    assert probed() is probed()
    assert [rung.problem for rung in probed() if rung.name == "libx264"] == [None]
    encoder = open_encoder(64, 64, bitrate_bps=100_000, color=BT709)
    assert isinstance(encoder, X264Encoder)
    packets = encoder.encode(surface_over(np.zeros((96, 64), np.uint8)), pts=0, keyframe=True)
    assert packets[0].keyframe
