import contextlib
import struct

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pictures import cmyk_jpeg, encoded, exif, huge_png, moving_webp, png_chunk, with_exif
from visavis.render import picture
from visavis.render.picture import decode, read_head
from visavis.stream.errors import AvatarError

LOSSLESS = (cv2.IMWRITE_WEBP_QUALITY, 101)
COLOR = np.random.default_rng(0).integers(0, 256, (12, 20, 3)).astype(np.uint8)
FILES = {
    "PNG": encoded(".png", COLOR),
    "JPEG": encoded(".jpg", np.kron(COLOR, np.ones((8, 8, 1), np.uint8))),
    "WebP": encoded(".webp", COLOR, *LOSSLESS),
    "WebP with loss": encoded(".webp", COLOR, cv2.IMWRITE_WEBP_QUALITY, 50),
}
EACH_FILE = pytest.mark.parametrize("blob", FILES.values(), ids=FILES)


@pytest.mark.parametrize("kind", ["PNG", "WebP"])
def test_a_picture_without_loss_is_itself(kind: str) -> None:
    assert (decode(FILES[kind]) == COLOR).all()


@pytest.mark.parametrize("kind", FILES)
def test_the_head_says_kind_and_size(kind: str) -> None:
    head = read_head(FILES[kind])
    assert head.kind == kind.split()[0]
    assert (head.height, head.width) == ((96, 160) if kind == "JPEG" else (12, 20))
    assert decode(FILES[kind]).shape == (head.height, head.width, 3)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["PNG", "WebP"])
def test_every_orientation_is_undone(kind: str, order: str) -> None:
    seen = [decode(with_exif(FILES[kind], orientation, order)) for orientation in range(1, 9)]
    turned = [np.rot90(COLOR, -quarter) for quarter in (0, 2, 1, 3)]
    for got, expected in zip([seen[index] for index in (0, 2, 5, 7)], turned, strict=True):
        assert (got == expected).all()
    mirrored = [COLOR[:, ::-1], COLOR[::-1], COLOR.swapaxes(0, 1), np.rot90(COLOR, 2).swapaxes(0, 1)]
    for got, expected in zip([seen[index] for index in (1, 3, 4, 6)], mirrored, strict=True):
        assert (got == expected).all()


def test_a_jpeg_from_a_phone_is_turned_upright() -> None:
    upright = decode(FILES["JPEG"])
    assert (decode(with_exif(FILES["JPEG"], 6)) == np.rot90(upright, -1)).all()


@pytest.mark.parametrize("block", [exif(0), exif(9), exif(6)[:14], b"II", b"", b"XX" + exif(6)[2:]])
def test_an_orientation_that_makes_no_sense_is_none(block: bytes) -> None:
    png = FILES["PNG"]
    assert (decode(png[:33] + png_chunk(b"eXIf", block) + png[33:]) == COLOR).all()


@pytest.mark.parametrize("deep", [False, True], ids=["8 bits", "16 bits"])
@pytest.mark.parametrize("ending", [".png", ".webp"])
def test_what_is_transparent_shows_white(ending: str, deep: bool) -> None:
    pixels = np.full((4, 4, 4), (200, 100, 0, 255), np.uint8)
    pixels[:2, :, 3] = 0
    pixels[2, :, 3] = 51
    if deep and ending == ".png":
        pixels = pixels.astype(np.uint16) * 257
    seen = decode(encoded(ending, pixels, *(LOSSLESS if ending == ".webp" else ())))
    assert seen[[0, 2, 3], 0].tolist() == [[255, 255, 255], [244, 224, 204], [200, 100, 0]]


@pytest.mark.parametrize("deep", [np.uint8, np.uint16])
def test_grey_becomes_colour(deep: type[np.unsignedinteger]) -> None:
    grey = np.arange(0, 256, 16, dtype=deep).reshape(4, 4) * deep(257 if deep is np.uint16 else 1)
    seen = decode(encoded(".png", grey))
    assert seen.shape == (4, 4, 3)
    assert np.abs(seen[..., 1].ravel() - np.arange(0, 256, 16)).max() == 0


def test_sixteen_bits_become_eight() -> None:
    assert (decode(encoded(".png", COLOR.astype(np.uint16) * 257)) == COLOR).all()


def test_four_inks_become_red_green_blue() -> None:
    assert decode(cmyk_jpeg(255, 128, 255, 255))[0, 0].tolist() == pytest.approx([255, 128, 255], abs=3)


@EACH_FILE
def test_every_truncation_is_refused_in_one_line(blob: bytes) -> None:
    for end in [*range(0, len(blob) - 1, max(len(blob) // 200, 1)), len(blob) - 2]:
        with pytest.raises(AvatarError) as caught:
            decode(blob[:end])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("blob", "said"),
    [
        (b"", "0 bytes"),
        (b"a picture, honestly\n", "no JPEG, PNG or WebP"),
        (b"GIF89a" + bytes(100), "no JPEG, PNG or WebP"),
        (huge_png(40_000, 40_000), "40000x40000 pixels"),
        (huge_png(40_000, 10), "40000x10 pixels"),
        (huge_png(9000, 9000), "at most 64 million"),
        (huge_png(100, 100), "the PNG is damaged"),
        (huge_png(0, 10), "the PNG is damaged"),
        (moving_webp(), "animated"),
        (FILES["PNG"][:33] + png_chunk(b"acTL", bytes(8)) + FILES["PNG"][33:], "animated"),
        (b"\xff\xd8\xff\xd9", "cut off"),
        (FILES["JPEG"][:2] + b"\xff\xff" + FILES["JPEG"][3:20] + b"xx", "cut off"),
        (b"RIFF" + struct.pack("<I", 4) + b"WEBP", "the WebP is damaged"),
    ],
)
def test_what_is_no_picture_is_refused_with_what_to_do(blob: bytes, said: str) -> None:
    with pytest.raises(AvatarError, match=said):
        decode(blob)


def test_a_file_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MAX_BYTES", 1 << 20)
    with pytest.raises(AvatarError, match="2 MiB; use one of at most 1"):
        decode(bytes(2 << 20))


def test_padding_between_segments_is_no_damage() -> None:
    blob = FILES["JPEG"]
    assert (decode(blob[:2] + b"\xff\xff\xff" + blob[2:]) == decode(blob)).all()


@given(st.sampled_from(list(FILES.values())), st.data())
def test_a_damaged_file_is_a_picture_or_refused(blob: bytes, data: st.DataObject) -> None:
    damaged = bytearray(blob)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(AvatarError):
        assert decode(bytes(damaged)).shape[2] == 3


@given(
    st.binary(max_size=300), st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\x40\0\0\0WEBP"])
)
def test_any_bytes_behind_a_good_beginning_are_refused_or_read(tail: bytes, start: bytes) -> None:
    with contextlib.suppress(AvatarError):
        assert decode(start + tail).dtype == np.uint8
