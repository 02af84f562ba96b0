import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.render.color import BT601, BT709, ColorSpace, color_space, to_yuv
from visavis.render.composite import Compositor
from visavis.render.engine import Crop
from visavis.render.surface import Surface
from visavis.stream.errors import AvatarError

RNG = np.random.default_rng(11)
PLATE = RNG.integers(0, 256, (48, 64, 3), np.uint8)
Planes = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

MATRICES = {
    "shift": [[1, 0, 8], [0, 1, 6]],
    "odd shift": [[1, 0, 7], [0, 1, 5]],
    "shift past the left and top": [[1, 0, -9], [0, 1, -5]],
    "shift past the right and bottom": [[1, 0, 50], [0, 1, 37]],
    "part of a pixel": [[1, 0, 7.5], [0, 1, 5.25]],
    "turned": [[0.9, 0.2, 6.1], [-0.2, 0.9, 12.3]],
    "grown": [[1.7, 0, 3.3], [0, 1.7, 2.2]],
    "shrunk past an edge": [[0.6, 0.1, -4.4], [-0.1, 0.6, 30.8]],
    "mirrored": [[-1, 0, 40], [0, 1, 8]],
}


def a_crop(matrix: list[list[float]], *, rows: int = 23, columns: int = 27, seed: int = 5) -> Crop:
    pixels = np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), np.uint8)
    return Crop(0, pixels, np.array(matrix, np.float32))


def a_mask(crop: Crop) -> NDArray[np.float32]:
    """Zero rim, ones inside, everything between them in the feather."""
    rows, columns = crop.pixels.shape[:2]
    y, x = np.mgrid[:rows, :columns]
    edge = np.minimum(np.minimum(x, columns - 1 - x), np.minimum(y, rows - 1 - y))
    return np.clip((edge - 1) / 5.0, 0, 1).astype(np.float32)


def sampled(
    picture: NDArray[np.float64], sx: NDArray[np.float64], sy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bilinear samples of `picture` (H, W, C); its edge pixels go on outside."""
    rows, columns = picture.shape[:2]
    left, top = np.floor(sx).astype(int), np.floor(sy).astype(int)
    fx, fy = (sx - left)[..., None], (sy - top)[..., None]
    x0, x1 = np.clip(left, 0, columns - 1), np.clip(left + 1, 0, columns - 1)
    y0, y1 = np.clip(top, 0, rows - 1), np.clip(top + 1, 0, rows - 1)
    upper = picture[y0, x0] * (1 - fx) + picture[y0, x1] * fx
    return upper * (1 - fy) + (picture[y1, x0] * (1 - fx) + picture[y1, x1] * fx) * fy


def reference(plate: NDArray[np.uint8], crop: Crop, mask: NDArray[np.float32], color: ColorSpace) -> Planes:
    """The composite in float64, pixel by pixel of the whole plate, before rounding."""
    full = np.vstack([crop.matrix.astype(np.float64), (0, 0, 1)])
    y, x = np.mgrid[: plate.shape[0], : plate.shape[1]].astype(np.float64)
    sx, sy, _ = np.einsum("ij,jyx->iyx", np.linalg.inv(full), np.stack([x, y, np.ones_like(x)]))
    rim = np.pad(mask.astype(np.float64), 1)[..., None]
    weight = sampled(rim, sx + 1, sy + 1)
    rgb = plate + weight * (sampled(crop.pixels.astype(np.float64), sx, sy) - plate)
    luma = to_yuv(rgb, color)[..., 0]
    mean = rgb.reshape(rgb.shape[0] // 2, 2, rgb.shape[1] // 2, 2, 3).mean(axis=(1, 3))
    chroma = to_yuv(mean, color)
    return luma, chroma[..., 1], chroma[..., 2]


def psnr(planes: Planes, surface: Surface) -> float:
    errors = [
        (np.floor(want + 0.5) - have).reshape(-1)
        for want, have in zip(planes, (surface.y, surface.u, surface.v), strict=True)
    ]
    mean_square = float((np.concatenate(errors) ** 2).mean())
    return np.inf if not mean_square else 10 * np.log10(255**2 / mean_square)


@pytest.mark.parametrize("color", [BT709, BT601], ids=lambda color: color.name)
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_kernel_matches_the_float64_twin(matrix: list[list[float]], color: ColorSpace) -> None:
    crop = a_crop(matrix)
    compositor = Compositor(PLATE, color)
    surface = compositor.surface()
    compositor.composite(crop, a_mask(crop), surface)
    want = reference(PLATE, crop, a_mask(crop), color)
    for plane, have in zip(want, (surface.y, surface.u, surface.v), strict=True):
        assert np.abs(np.floor(plane + 0.5) - have).max() <= 1


@pytest.mark.parametrize("matrix", [MATRICES["shift"], MATRICES["turned"]], ids=["shift", "turned"])
def test_a_large_picture_is_80_decibels_from_the_twin(matrix: list[list[float]]) -> None:
    plate = RNG.integers(0, 256, (512, 512, 3), np.uint8)
    crop = a_crop(matrix, rows=480, columns=460)
    compositor = Compositor(plate, BT709)
    surface = compositor.surface()
    compositor.composite(crop, a_mask(crop), surface)
    assert psnr(reference(plate, crop, a_mask(crop), BT709), surface) >= 80


def test_surface_shows_the_plate_at_first() -> None:
    surface = Compositor(PLATE, BT709).surface()
    nothing = a_crop(MATRICES["shift"])
    assert psnr(reference(PLATE, nothing, np.zeros_like(a_mask(nothing)), BT709), surface) == np.inf


def test_planes_are_views_of_one_buffer() -> None:
    surface = Compositor(PLATE, BT709).surface()
    assert surface.buffer.shape == (72, 64)
    assert surface.buffer.flags.c_contiguous
    assert (surface.width, surface.height) == (64, 48)
    joined = np.concatenate([plane.reshape(-1) for plane in (surface.y, surface.u, surface.v)])
    assert (joined == surface.buffer.reshape(-1)).all()
    for plane in (surface.y, surface.u, surface.v):
        assert np.shares_memory(plane, surface.buffer)


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_plate_is_untouched_to_the_last_bit_where_the_mask_is_zero(matrix: list[list[float]]) -> None:
    crop = a_crop(matrix)
    mask = a_mask(crop)
    compositor = Compositor(PLATE, BT709)
    bare, surface = compositor.surface(), compositor.surface()
    compositor.composite(crop, mask, surface)
    white = Crop(0, np.full_like(crop.pixels, 255), crop.matrix)
    black = np.zeros_like(PLATE)
    weight = reference(black, white, mask, BT709)[0] > 16
    touched = weight.reshape(24, 2, 32, 2).any(axis=(1, 3))
    assert (surface.y[~weight] == bare.y[~weight]).all()
    assert (surface.u[~touched] == bare.u[~touched]).all()
    assert (surface.v[~touched] == bare.v[~touched]).all()


def test_a_full_mask_shows_the_crop_alone() -> None:
    crop = a_crop(MATRICES["shift"], rows=20, columns=24)
    compositor = Compositor(PLATE, BT709)
    surface = compositor.surface()
    compositor.composite(crop, np.ones((20, 24), np.float32), surface)
    only = Compositor(crop.pixels, BT709).surface()
    assert (surface.y[6:26, 8:32] == only.y).all()
    assert (surface.u[3:13, 4:16] == only.u).all()
    assert (surface.v[3:13, 4:16] == only.v).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(MATRICES.values())), st.integers(2, 30), st.integers(2, 30)),
        min_size=1,
        max_size=5,
    )
)
def test_a_surface_remembers_nothing_of_earlier_crops(
    moves: list[tuple[list[list[float]], int, int]],
) -> None:
    compositor = Compositor(PLATE, BT601)
    used, fresh = compositor.surface(), compositor.surface()
    crop = a_crop(moves[-1][0])
    for seed, (matrix, rows, columns) in enumerate(moves):
        crop = a_crop(matrix, rows=rows, columns=columns, seed=seed)
        compositor.composite(crop, a_mask(crop), used)
    compositor.composite(crop, a_mask(crop), fresh)
    assert (used.buffer == fresh.buffer).all()


def test_a_crop_beside_the_plate_leaves_it_bare() -> None:
    compositor = Compositor(PLATE, BT709)
    surface = compositor.surface()
    for shift in ([[1, 0, 500], [0, 1, 0]], [[1, 0, -500], [0, 1, 0]], [[0.5, 0, 0], [0, 0.5, -80.5]]):
        crop = a_crop(shift)
        compositor.composite(crop, np.ones(crop.pixels.shape[:2], np.float32), surface)
    assert (surface.buffer == compositor.surface().buffer).all()


def test_restore_brings_the_plate_back() -> None:
    compositor = Compositor(PLATE, BT709)
    surface = compositor.surface()
    crop = a_crop(MATRICES["odd shift"])
    compositor.composite(crop, a_mask(crop), surface)
    assert (surface.buffer != compositor.surface().buffer).any()
    compositor.restore(surface)
    assert (surface.buffer == compositor.surface().buffer).all()


def test_a_crop_that_is_a_view_is_drawn_like_its_copy() -> None:
    wide = a_crop(MATRICES["shift"], columns=40)
    view = Crop(0, wide.pixels[:, 5:32], wide.matrix)
    copied = Crop(0, view.pixels.copy(), wide.matrix)
    compositor = Compositor(PLATE, BT709)
    first, second = compositor.surface(), compositor.surface()
    compositor.composite(view, a_mask(view), first)
    compositor.composite(copied, a_mask(copied), second)
    assert (first.buffer == second.buffer).all()


@pytest.mark.parametrize("shape", [(47, 64, 3), (48, 63, 3), (0, 64, 3)])
def test_an_odd_or_empty_plate_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(AvatarError, match="even width and height"):
        Compositor(np.zeros(shape, np.uint8), color_space(64, 48))


@pytest.mark.parametrize(
    "plate",
    [np.zeros((48, 64, 4), np.uint8), np.zeros((48, 64, 3), np.float32), np.zeros((48, 64), np.uint8)],
)
def test_a_plate_that_is_no_rgb_picture_is_refused(plate: NDArray[np.uint8]) -> None:
    with pytest.raises(AvatarError, match="8-bit RGB"):
        Compositor(plate, BT709)


def test_a_mask_of_another_size_is_refused() -> None:
    compositor = Compositor(PLATE, BT709)
    with pytest.raises(AvatarError, match="mask"):
        compositor.composite(a_crop(MATRICES["shift"]), np.ones((23, 26), np.float32), compositor.surface())


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 0, 8], [0, 0, 6]],
        [[1, 1, 0], [1, 1, 0]],
        [[np.nan, 0, 0], [0, 1, 0]],
        [[1, 0, np.inf], [0, 1, 0]],
    ],
    ids=["nothing", "a line", "not a number", "infinite"],
)
def test_a_placement_without_area_is_refused(matrix: list[list[float]]) -> None:
    crop = a_crop(matrix)
    compositor = Compositor(PLATE, BT709)
    with pytest.raises(AvatarError, match="no area"):
        compositor.composite(crop, a_mask(crop), compositor.surface())
