import pytest
import torch
from numpy.typing import NDArray
from support import interpreter, nv12
from support.nv12 import Scene, batch, noise_face, noise_plate, turned
from visavis.render.ditto.core import composite_kernels, composite_twins
from visavis.render.ditto.core.composite import Extent
from visavis.render.ditto.core.composite_kernels import TILE, Tile
from visavis.render.ditto.putback import feather

assert interpreter.triton

SIDE = 16
PLACES = {
    "turned": turned(SIDE, (31.3, 22.8), 1.3, 17),
    "parts of pixels": turned(SIDE, (20.5, 21.25), 1.0, 0),
    "past the left and top": turned(SIDE, (1.1, 2.2), 1.5, -8),
    "past the right and bottom": turned(SIDE, (66.4, 47.9), 1.5, 3),
    "larger than the plate": turned(SIDE, (31.0, 23.0), 6.0, 31),
    "upside down": turned(SIDE, (30.0, 20.0), 0.8, 180),
}


def a_scene(place: NDArray[nv12.np.float32], *, size: tuple[int, int] = (70, 50), seed: int = 1) -> Scene:
    mask = feather(SIDE, SIDE, height_ratio=0.5, width_ratio=0.5)
    return Scene(noise_plate(*size, seed), noise_face(SIDE, seed + 1), mask, place)


def check(one: nv12.Batch, tile: Tile = TILE) -> torch.Tensor:
    """The same of kernel and twin, all but the first byte; the kernel's."""
    mine, twin = one.out.clone(), one.out.clone()
    inputs = one.pictures, one.table, one.colors, one.plates
    composite_kernels.composite(*inputs, out=mine, extent=one.extent, tile=tile)
    composite_twins.composite(*inputs, out=twin, extent=one.extent)
    assert mine[0] == one.out[0]
    assert torch.equal(mine[1:], twin[1:])
    return mine


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_the_kernel_draws_what_its_twin_draws_bit_by_bit(
    place: NDArray[nv12.np.float32], dtype: torch.dtype
) -> None:
    one = batch([a_scene(place)], dtype=dtype)
    assert (check(one) != one.out).any()


def test_the_kernel_draws_a_bare_plate_as_its_twin_does() -> None:
    check(batch([a_scene(PLACES["turned"])], bare=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_slots_with_plates_of_other_sizes_share_a_launch(dtype: torch.dtype) -> None:
    small = a_scene(PLACES["turned"], size=(46, 90), seed=5)
    hd = a_scene(turned(SIDE, (700.0, 11.0), 2.0, 9), size=(1280, 720), seed=7)
    check(batch([small, None, hd], dtype=dtype, margin=6))


@pytest.mark.parametrize("tile", [Tile(32, 1), Tile(4, 8), Tile(16, 8)], ids=str)
def test_tiles_decide_nothing_but_speed(tile: Tile) -> None:
    scene = a_scene(PLACES["turned"])
    assert torch.equal(check(batch([scene]), tile), check(batch([scene])))


def test_a_larger_extent_writes_no_more() -> None:
    tight, wide = batch([a_scene(PLACES["turned"])]), batch([a_scene(PLACES["turned"])])
    wide.extent = Extent(wide.extent.width + 70, wide.extent.height + 90)
    assert torch.equal(check(wide), check(tight))


def test_an_idle_slot_writes_nothing() -> None:
    one = batch([a_scene(PLACES["turned"])])
    one.table[:, 0] = 0
    assert (check(one) == 77).all()
