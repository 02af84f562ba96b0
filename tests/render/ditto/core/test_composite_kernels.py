import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from numpy.typing import NDArray
from support import interpreter, nv12
from support.nv12 import Scene, batch, noise_face, noise_plate, turned
from visavis.render.ditto.core import composite_kernels, composite_twins
from visavis.render.ditto.core.composite import Extent
from visavis.render.ditto.core.composite_kernels import TILES
from visavis.render.ditto.core.tile import Tile
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


def check(one: nv12.Batch) -> torch.Tensor:
    """The same of kernel and twin, all but the first byte; the kernel's."""
    mine, twin = one.out.clone(), one.out.clone()
    inputs = one.pictures, one.table, one.colors, one.plates
    composite_kernels.composite(*inputs, out=mine, extent=one.extent)
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


@pytest.mark.parametrize("tile", [Tile(16), Tile(32), Tile(512, warps=8)], ids=str)
def test_tiles_decide_nothing_but_speed(tile: Tile, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = a_scene(PLACES["turned"])
    usual = check(batch([scene]))
    monkeypatch.setitem(TILES, "composite", tile)
    assert torch.equal(check(batch([scene])), usual)


def test_a_larger_extent_writes_no_more() -> None:
    tight, wide = batch([a_scene(PLACES["turned"])]), batch([a_scene(PLACES["turned"])])
    wide.extent = Extent(wide.extent.width + 70, wide.extent.height + 90)
    assert torch.equal(check(wide), check(tight))


def test_an_idle_slot_writes_nothing() -> None:
    one = batch([a_scene(PLACES["turned"])])
    one.table[:, 0] = 0
    assert (check(one) == 77).all()


COMPILE = """
import json, sys
from support import nv12
from support.no_card import no_card
from visavis.render.ditto.core.composite_kernels import composite
from visavis.render.ditto.putback import feather
kernels = no_card(int(sys.argv[1]))
side = 512
place = nv12.turned(side, (540.0, 700.0), 1.55, 3)
scene = nv12.Scene(nv12.noise_plate(1080, 1920, 1), nv12.noise_face(side, 2), feather(side, side), place)
one = nv12.batch([scene])
composite(one.pictures, one.table, one.colors, one.plates, out=one.out, extent=one.extent)
print(json.dumps([(k.grid, k.registers, k.spilled_bytes, k.shared_bytes, "fma." in k.ptx) for k in kernels]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("capability", [75, 90, 120])
def test_for_a_card_each_sum_is_rounded_by_itself_and_nothing_leaves_the_registers(
    capability: int, tmp_path: Path
) -> None:
    """In a process that does not interpret; no card is needed to compile."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    told = subprocess.run(
        [sys.executable, "-c", COMPILE, str(capability)], env=environment, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr[-2000:]
    ((grid, registers, spilled_bytes, shared_bytes, fused),) = json.loads(told.stdout)
    assert grid == [14, 105, 1]
    assert registers <= 64
    assert spilled_bytes == shared_bytes == 0
    assert not fused
