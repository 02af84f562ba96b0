"""How tiles lie in pictures, and what is stored of sums; `test_conv_kernels` has all of it at work."""

import pytest
import torch
from support.interpreter import triton
from visavis.render.ditto.core import decoder_kernels
from visavis.render.ditto.core.conv_tiles import TILES, Cut, cut, readable, tile_for

assert triton is not None


@pytest.mark.parametrize(
    ("width", "rows", "across", "tiles"),
    [(256, 1, 128, 14), (128, 1, 128, 7), (64, 2, 64, 4), (65, 1, 128, 7)],
)
def test_a_tile_is_a_row_or_two_shorter_ones(width: int, rows: int, across: int, tiles: int) -> None:
    for tile in TILES.values():
        assert cut(tile, 7, width) == Cut(rows, across, tiles)


def test_kernels_take_what_comes_in_whole_sixteen_bytes_and_few_bits() -> None:
    taken = [
        (dtype, channels)
        for dtype in (torch.int8, torch.float16, torch.float32)
        for channels in (8, 16, 20)
        if readable(torch.zeros(1, 2, 2, channels, dtype=dtype))
    ]
    assert taken == [(torch.int8, 16), (torch.float16, 8), (torch.float16, 16)]


def test_a_tile_is_no_larger_than_there_is_to_do() -> None:
    def inputs(channels: int, dtype: torch.dtype, outputs: int) -> tuple[int, int]:
        tile = tile_for("convolved", torch.zeros(1, 2, 2, channels, dtype=dtype), outputs)
        return tile.inputs, tile.channels

    assert inputs(512, torch.float16, 512) == (64, 128)
    assert inputs(20, torch.float16, 48) == (32, 64)
    assert inputs(8, torch.float16, 3) == (16, 16)
    assert inputs(16, torch.int8, 512) == (32, 128)


def test_programs_own_fewer_cells_where_there_would_be_few_of_them() -> None:
    def cells(slots: int, outputs: int) -> int:
        return tile_for("convolved", torch.zeros(slots, 64, 64, 16, dtype=torch.float16), outputs).cells

    assert [cells(slots, 128) for slots in (1, 2, 4, 8)] == [64, 64, 128, 128]
    assert cells(2, 256) == 128


def test_what_is_halfway_goes_to_the_even_whole_number() -> None:
    bias, out = torch.tensor([0.5, 1.5, 2.5, 126.5, 400]), torch.zeros(1, 1, 1, 5, dtype=torch.int8)
    decoder_kernels.shared(torch.zeros(1, 1, 1, 5), bias, factor=1, out=out, fit=1.0)
    assert out.flatten().tolist() == [0, 2, 2, 126, 127]
