from dataclasses import fields, replace
from itertools import product

import pytest
from visavis.render.ditto.core.motion_tiles import MIX, NARROW, TABLE, Tile, Tiles, tiles_for

HELD_BYTES = 227 * 1024
"""Shared memory of a program, at most, on an H200."""


@pytest.mark.parametrize(("slots", "entry"), [(1, 1), (2, 2), (3, 4), (8, 8), (9, 16), (16, 16), (40, 16)])
def test_slots_have_the_next_entry_that_is_for_as_many(slots: int, entry: int) -> None:
    assert tiles_for(slots) is TABLE[entry]


def test_a_product_has_the_tile_of_its_shape_or_the_other() -> None:
    mine = Tile(64, 32)
    tiles = replace(Tiles(other=Tile(16, 16)), by_shape={MIX: mine})
    assert tiles.of(*MIX) is mine
    assert tiles.of(*NARROW) is tiles.other


@pytest.mark.parametrize("tiles", TABLE.values(), ids=map(str, TABLE))
def test_tiles_are_what_kernels_can_have(tiles: Tiles) -> None:
    every = [tiles.other, *tiles.by_shape.values()]
    for tile, field in product(every, fields(Tile)[:-1]):
        size = getattr(tile, field.name)
        assert size & (size - 1) == 0, field.name
    assert all(2 * tile.stages * tile.depth * (tile.rows + tile.columns) <= HELD_BYTES for tile in every)


@pytest.mark.parametrize("tiles", TABLE.values(), ids=map(str, TABLE))
def test_no_tile_lies_across_the_end_of_what_is_turned(tiles: Tiles) -> None:
    assert all(512 % tile.columns == 0 for tile in (tiles.other, *tiles.by_shape.values()))


def test_only_few_rows_are_levelled_by_each_program_anew() -> None:
    for tiles in TABLE.values():
        every = (tiles.other, *tiles.by_shape.values())
        assert not tiles.levels_within or all(tile.rows <= 32 for tile in every)
        assert not tiles.looks_within or tiles.queries <= 32
