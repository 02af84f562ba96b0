"""How the kernels of motion sampling cut their work up: what decides their speed, and nothing else.

On an H200 these keep what is wanted; a bench may put any others in place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Tile:
    """A program of a product makes `rows` by `columns` of its result, `depth` of the sum at a time, by so
    many `warps`, with loads for so many `stages` under way. All are powers of two but the last."""

    rows: int
    columns: int
    depth: int = 64
    warps: int = 4
    stages: int = 4


@dataclass(frozen=True, slots=True)
class Tiles:
    """For one number of slots.

    Products have the tile of their (outputs, inputs), or `other`. With `levels_within` a product that reads
    levelled rows levels them itself, again in each program, which saves a launch and pays while rows are few
    (16 or 32 a tile); else a kernel of its own does, `level_rows` a program. Attention takes `queries` a
    program; with `looks_within` it makes those of what is heard itself (16 or 32). The last kernel of a step
    makes `leave_columns` of all rows of a slot. With `early` a kernel starts while the one before it ends,
    and waits for its results (compute capability 9.0 and later).
    """

    other: Tile
    by_shape: Mapping[tuple[int, int], Tile] = field(default_factory=lambda: MappingProxyType({}))
    levels_within: bool = False
    looks_within: bool = False
    level_rows: int = 4
    level_warps: int = 4
    queries: int = 64
    attend_warps: int = 4
    look_warps: int = 8
    leave_columns: int = 32
    leave_depth: int = 64
    leave_warps: int = 8
    early: bool = False

    def of(self, outputs: int, inputs: int) -> Tile:
        return self.by_shape.get((outputs, inputs), self.other)


MIX, WIDEN, SQUARE, NARROW = (1536, 512), (1024, 512), (512, 512), (512, 1024)
"""The products of a layer of official size."""
MEMORY, FILM = (8192, 512), (24576, 512)
"""Those for all layers, once a window."""


def _table(mix: Tile, widen: Tile, square: Tile, narrow: Tile, once: Tile) -> Mapping[tuple[int, int], Tile]:
    return MappingProxyType(
        {MIX: mix, WIDEN: widen, SQUARE: square, NARROW: narrow, MEMORY: once, FILM: once}
    )


_LARGE: Final = Tile(128, 128, 64, warps=8, stages=3)
_ONE: Final = Tiles(
    other=Tile(16, 64),
    by_shape=_table(
        mix=Tile(16, 128, warps=8),
        widen=Tile(16, 128, warps=8),
        square=Tile(16, 64, 128),
        narrow=Tile(16, 64, 128),
        once=Tile(16, 64),
    ),
    levels_within=True,
    looks_within=True,
    queries=16,
    leave_columns=16,
)
_TWO: Final = replace(
    _ONE,
    by_shape=_table(
        mix=Tile(32, 128, warps=8),
        widen=Tile(32, 128, warps=8),
        square=Tile(32, 64, 128),
        narrow=Tile(32, 64, 128),
        once=Tile(32, 64, warps=8),
    ),
)
_SOME: Final = Tiles(
    other=Tile(32, 64),
    by_shape=_table(
        mix=Tile(64, 128),
        widen=Tile(64, 64),
        square=Tile(32, 64),
        narrow=Tile(32, 64, 128),
        once=Tile(64, 128),
    ),
    queries=32,
    leave_columns=16,
)
_MANY: Final = Tiles(
    other=Tile(64, 64),
    by_shape=_table(mix=_LARGE, widen=Tile(64, 128), square=Tile(64, 64), narrow=Tile(64, 64), once=_LARGE),
)
_MOST: Final = Tiles(
    other=Tile(64, 64),
    by_shape=_table(
        mix=Tile(128, 256, 64, warps=8, stages=3), widen=_LARGE, square=_LARGE, narrow=_LARGE, once=_LARGE
    ),
)
TABLE: Final[Mapping[int, Tiles]] = MappingProxyType({1: _ONE, 2: _TWO, 4: _SOME, 8: _MANY, 16: _MOST})
"""By the most slots that an entry is for."""


def tiles_for(slots: int) -> Tiles:
    """The entry for so many slots, or the last."""
    return next((tiles for most, tiles in TABLE.items() if slots <= most), _MOST)
