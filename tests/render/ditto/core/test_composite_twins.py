import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import nv12
from support.nv12 import Scene, batch, decibels, exact, noise_face, noise_plate, turned
from visavis.render.composite import Compositor
from visavis.render.ditto.core.composite import Extent
from visavis.render.ditto.core.composite_twins import composite
from visavis.render.ditto.putback import feather

SIDE = 24
MATRICES = {
    "turned": turned(SIDE, (31.3, 22.8), 1.3, 17),
    "on its pixels": np.array([[1, 0, 8], [0, 1, 6]], np.float32),
    "odd shift": np.array([[1, 0, 7], [0, 1, 5]], np.float32),
    "parts of pixels": np.array([[1, 0, 7.5], [0, 1, 5.25]], np.float32),
    "past the left and top": turned(SIDE, (3.1, 2.2), 1.1, -8),
    "past the right and bottom": turned(SIDE, (60.4, 45.9), 1.4, 3),
    "larger than the plate": turned(SIDE, (31.0, 23.0), 3.7, 31),
    "small": turned(SIDE, (30.0, 20.0), 0.37, 5),
    "upside down": turned(SIDE, (30.0, 20.0), 1.0, 180),
    "mirrored": np.array([[-1, 0, 40], [0, 1, 8]], np.float32),
}
MASKS = {
    "feather": feather(SIDE, SIDE, height_ratio=0.6, width_ratio=0.6),
    "nothing": np.zeros((SIDE, SIDE), np.float32),
    "all but the edges": np.pad(np.ones((SIDE - 2, SIDE - 2), np.float32), 1),
}
HALF, SINGLE = torch.float16, torch.float32


def a_scene(
    matrix: NDArray[np.float32] = MATRICES["turned"],
    mask: NDArray[np.float32] = MASKS["feather"],
    *,
    size: tuple[int, int] = (64, 48),
    seed: int = 3,
) -> Scene:
    return Scene(noise_plate(*size, seed), noise_face(SIDE, seed + 1), mask, matrix)


def drawn(one: nv12.Batch) -> nv12.Batch:
    composite(one.pictures, one.table, one.colors, one.plates, out=one.out, extent=one.extent)
    return one


def shown(one: Scene, dtype: torch.dtype = HALF) -> nv12.Batch:
    """The plate, and the face on it."""
    both = drawn(batch([one], bare=True, dtype=dtype))
    ready = batch([one], dtype=dtype)
    ready.out.copy_(both.out)
    return drawn(ready)


def boxed(one: Scene, planes: tuple[NDArray[np.generic], NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    left, top, right, bottom = one.placing.box
    return [planes[0][top:bottom, left:right], planes[1][top // 2 : bottom // 2, left // 2 : right // 2]]


@pytest.mark.parametrize("dtype", [HALF, SINGLE], ids=str)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_the_picture_is_the_exact_one_to_a_level(
    matrix: NDArray[np.float32], mask: NDArray[np.float32], dtype: torch.dtype
) -> None:
    scene = a_scene(matrix, mask)
    for have, want in zip(shown(scene, dtype).planes(0), exact(scene), strict=True):
        assert np.abs(np.floor(want + 0.5) - have).max() <= 1


@pytest.mark.parametrize("size", [(192, 108), (1280, 720)], ids=["BT.601", "BT.709"])
def test_a_large_picture_of_noise_is_80_decibels_from_the_exact_one(size: tuple[int, int]) -> None:
    side = size[1] // 2
    scene = Scene(
        noise_plate(*size, 1),
        noise_face(side, 2),
        feather(side, side),
        turned(side, (size[0] / 2 - 0.7, size[1] / 2 - 0.2), 1.55, 3),
    )
    pairs = zip(boxed(scene, shown(scene).planes(0)), boxed(scene, exact(scene)), strict=True)
    assert min(decibels(have, want) for have, want in pairs) >= 80  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(64, 48), (722, 720)], ids=["BT.601", "BT.709"])
def test_a_bare_plate_is_what_the_other_compositor_makes_of_it(size: tuple[int, int]) -> None:
    scene = a_scene(size=size)
    luma, chroma = drawn(batch([scene], bare=True)).planes(0)
    other = Compositor(scene.plate, scene.color).surface()
    assert (luma == other.y).all()
    assert (chroma == np.stack((other.u, other.v), -1)).all()


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_where_the_mask_is_zero_the_plate_is_untouched_to_the_last_bit(matrix: NDArray[np.float32]) -> None:
    scene = a_scene(matrix)
    bare, full = drawn(batch([scene], bare=True)).planes(0), shown(scene).planes(0)
    white = Scene(np.zeros_like(scene.plate), np.ones_like(scene.face), scene.mask, matrix)
    touched = exact(white)[0] > 16
    assert touched.any()
    assert (full[0][~touched] == bare[0][~touched]).all()
    squares = touched.reshape(24, 2, 32, 2).any(axis=(1, 3))
    assert (full[1][~squares] == bare[1][~squares]).all()


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_nothing_but_the_box_is_written(matrix: NDArray[np.float32]) -> None:
    scene = a_scene(matrix)
    one = batch([scene], margin=10)
    untouched = batch([scene], margin=10)
    drawn(one)
    left, top, right, bottom = scene.placing.box
    assert not any(edge % 2 for edge in scene.placing.box)
    untouched.planes(0)[0][top:bottom, left:right] = one.planes(0)[0][top:bottom, left:right]
    half = slice(top // 2, bottom // 2), slice(left // 2, right // 2)
    untouched.planes(0)[1][half] = one.planes(0)[1][half]
    assert torch.equal(one.out[1:], untouched.out[1:])


def test_an_idle_slot_and_a_face_beside_its_plate_write_nothing() -> None:
    away = a_scene(turned(SIDE, (400.0, 20.0), 1.0, 0))
    assert away.placing.box == (0, 0, 0, 0)
    one = batch([None, away, None])
    one.extent = Extent(8, 8)
    drawn(one)
    assert (one.out[1:] == 77).all()


@pytest.mark.parametrize("dtype", [HALF, SINGLE], ids=str)
def test_slots_with_plates_of_other_sizes_share_a_call_and_change_nothing_of_each_other(
    dtype: torch.dtype,
) -> None:
    scenes = [
        a_scene(seed=5),
        a_scene(MATRICES["small"], size=(1280, 720), seed=6),
        None,
        a_scene(MATRICES["past the left and top"], size=(46, 90), seed=7),
    ]
    together = drawn(batch(scenes, dtype=dtype))
    for index, scene in enumerate(scenes):
        if scene is not None:
            alone = drawn(batch([scene], dtype=dtype)).planes(0)
            for mine, theirs in zip(alone, together.planes(index), strict=True):
                assert (mine == theirs).all()


def test_a_larger_extent_changes_nothing() -> None:
    tight, wide = batch([a_scene()]), batch([a_scene()])
    wide.extent = Extent(wide.extent.width + 38, wide.extent.height + 6)
    assert torch.equal(drawn(tight).out[1:], drawn(wide).out[1:])


def test_a_picture_with_a_wider_pitch_shows_the_same() -> None:
    for have, want in zip(
        drawn(batch([a_scene()], margin=32)).planes(0), drawn(batch([a_scene()])).planes(0), strict=True
    ):
        assert (have == want).all()
