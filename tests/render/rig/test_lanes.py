import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray
from visavis.render.rig import lanes

U32 = NDArray[np.uint32]
RNG = np.random.default_rng(4)


@njit
def sampled(texture: U32, stride: int, index: NDArray[np.int64], fx: int, fy: int, out: U32) -> None:
    for k in range(out.shape[0]):
        out[k] = lanes.sample(texture, index[k], stride, fx, fy)


@njit
def laid(front: U32, back: U32, out: U32) -> None:
    for k in range(out.shape[0]):
        out[k] = lanes.over(front[k], back[k])


@njit
def mixed(a: U32, b: U32, share: int, out: U32) -> None:
    for k in range(out.shape[0]):
        out[k] = lanes.mix(a[k], b[k], share)


@njit
def bits(pixels: U32, index: int) -> tuple[np.uint32, np.uint32]:
    lanes.fetch(pixels, index)
    return lanes.all_of(pixels, index), lanes.any_of(pixels, index)


def channels(pixels: U32) -> NDArray[np.float64]:
    return np.ascontiguousarray(pixels).view(np.uint8).reshape(-1, 4).astype(np.float64)


def pixels(count: int) -> U32:
    """Random premultiplied pixels."""
    rgba = RNG.integers(0, 256, (count, 4))
    rgba[:, :3] = rgba[:, :3] * rgba[:, 3:] // 255
    return rgba.astype(np.uint8).view(np.uint32)[:, 0].copy()


@pytest.mark.parametrize(("fx", "fy"), [(0, 0), (255, 0), (0, 255), (128, 128), (37, 201)])
def test_a_sample_lies_between_its_four_texels(fx: int, fy: int) -> None:
    stride = 9
    texture = pixels(stride * 8)
    index = np.array([row * stride + column for row in range(7) for column in range(8)])
    out = np.zeros(len(index), np.uint32)
    sampled(texture, stride, index, fx, fy, out)
    grid = channels(texture)
    left = grid[index] * (256 - fy) + grid[index + stride] * fy
    right = grid[index + 1] * (256 - fy) + grid[index + 1 + stride] * fy
    wanted = (left * (256 - fx) + right * fx) / 65536
    assert np.abs(channels(out) - wanted).max() <= 1


def test_a_sample_on_a_texel_is_that_texel() -> None:
    texture = pixels(20)
    out = np.zeros(3, np.uint32)
    sampled(texture, 5, np.array([0, 7, 13]), 0, 0, out)
    assert np.array_equal(out, texture[[0, 7, 13]])


def test_over_is_the_front_and_what_it_leaves_of_the_back() -> None:
    front, back = pixels(5000), pixels(5000)
    out = np.zeros(5000, np.uint32)
    laid(front, back, out)
    wanted = channels(front) + channels(back) * (255 - channels(front)[:, 3:]) / 255
    assert np.abs(channels(out) - wanted).max() <= 0.5 + 1e-6


def test_nothing_over_a_pixel_and_a_solid_pixel_over_anything_are_exact() -> None:
    back = pixels(100)
    out = np.zeros(100, np.uint32)
    laid(np.zeros(100, np.uint32), back, out)
    assert np.array_equal(out, back)
    solid = back | np.uint32(0xFF000000)
    laid(solid, pixels(100), out)
    assert np.array_equal(out, solid)


@pytest.mark.parametrize("share", [0, 1, 77, 255, 256])
def test_a_mix_goes_from_one_pixel_to_the_other(share: int) -> None:
    a, b = pixels(500), pixels(500)
    out = np.zeros(500, np.uint32)
    mixed(a, b, share, out)
    wanted = channels(a) * (256 - share) / 256 + channels(b) * share / 256
    assert np.abs(channels(out) - wanted).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("index", [0, 1, 5])
def test_a_group_of_pixels_is_looked_at_together(index: int) -> None:
    row = pixels(index + lanes.GROUP)
    wanted = np.bitwise_and.reduce(row[index:]), np.bitwise_or.reduce(row[index:])
    assert bits(row, index) == wanted


@njit
def _blended(
    source: NDArray[np.uint8], upper: int, lower: int, weights: NDArray[np.int64], out: NDArray[np.uint8]
) -> None:
    lanes.blend(source, upper, lower, weights[0], weights[1], weights[2], weights[3], out, 2)


@pytest.mark.parametrize("weights", [(256, 0, 0, 0), (0, 0, 0, 256), (64, 64, 64, 64), (27, 165, 9, 55)])
def test_a_run_of_bytes_is_blended_as_single_ones_would_be(weights: tuple[int, ...]) -> None:
    source = np.random.default_rng(3).integers(0, 256, 200, np.uint8)
    source[:60] = 255
    out = np.zeros(lanes.RUN + 8, np.uint8)
    _blended(source, 5, 101, np.array(weights), out)
    rows = [source[at : at + lanes.RUN].astype(np.int64) for at in (5, 9, 101, 105)]
    wanted = (sum(row * weight for row, weight in zip(rows, weights, strict=True)) + 128) >> 8
    assert np.array_equal(out[2 : 2 + lanes.RUN], wanted)
    assert not out[:2].any()
    assert not out[2 + lanes.RUN :].any()
