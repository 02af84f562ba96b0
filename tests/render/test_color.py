from fractions import Fraction

import numpy as np
import pytest
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc
from visavis.render.color import BT601, BT709, ColorSpace, color_space, to_rgb, to_yuv


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [(720, 1280, BT709), (1280, 720, BT709), (1080, 1920, BT709), (512, 512, BT601), (718, 1280, BT601)],
)
def test_the_shorter_side_decides_the_matrix(width: int, height: int, expected: ColorSpace) -> None:
    assert color_space(width, height) is expected


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
@pytest.mark.parametrize(
    ("rgb", "yuv"),
    [((0, 0, 0), (16, 128, 128)), ((255, 255, 255), (235, 128, 128)), ((51, 51, 51), (59.8, 128, 128))],
    ids=["black", "white", "grey"],
)
def test_greys_lie_on_the_limited_range_axis(
    color: ColorSpace, rgb: tuple[float, ...], yuv: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(to_yuv(np.array(rgb, np.float64), color), yuv, atol=1e-12)


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
def test_pure_red_and_blue_reach_the_chroma_limit(color: ColorSpace) -> None:
    assert to_yuv(np.array([255.0, 0, 0]), color)[2] == pytest.approx(240)
    assert to_yuv(np.array([0, 0, 255.0]), color)[1] == pytest.approx(240)
    assert to_yuv(np.array([0, 255.0, 255.0]), color)[2] == pytest.approx(16)
    assert to_yuv(np.array([255.0, 255.0, 0]), color)[1] == pytest.approx(16)


def test_luma_rows_match_the_published_coefficients() -> None:
    np.testing.assert_allclose(BT601.coefficients()[0, :3], [0.256788, 0.504129, 0.097906], atol=5e-7)
    np.testing.assert_allclose(BT709.coefficients()[0, :3], [0.182586, 0.614231, 0.062007], atol=5e-7)


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
def test_rgb_comes_back_from_yuv(color: ColorSpace) -> None:
    rgb = np.random.default_rng(3).uniform(0, 255, (50, 3))
    np.testing.assert_allclose(to_rgb(to_yuv(rgb, color), color), rgb, atol=1e-9)


def test_codes_are_those_that_decoders_name() -> None:
    assert (BT709.primaries, BT601.primaries) == (ColorPrimaries.BT709, ColorPrimaries.BT709)
    assert (BT709.transfer, BT601.transfer) == (ColorTrc.BT709, ColorTrc.BT709)
    assert (BT709.matrix, BT601.matrix) == (Colorspace.ITU709, 6)
    assert BT709.range == BT601.range == ColorRange.MPEG


def test_shares_of_red_green_and_blue_are_exact() -> None:
    assert 1 - BT601.kr - BT601.kb == Fraction(587, 1000)
    assert 1 - BT709.kr - BT709.kb == Fraction(7152, 10_000)
