"""Where the skin lies in its texture: the base mesh's own islands, stretched by what the cameras see of
them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .base import F64, Ints

GUTTER = 6
"""Texels between islands and at the border."""
BINS = 96
QUANTILE = 0.90
"""Of the faces that cross a line of an island, the one whose need decides."""
LEAST = 0.22
"""Least density of a line by the island's median."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`texel` (X, 2) in pixels of the texture for the base mesh's texels, columns and rows; NaN where unused.
    `density` is the texels that a master pixel gets."""

    texel: F64
    density: float


@dataclass(frozen=True, slots=True)
class _Place:
    """The upper left corner `at` (2,) of an island, and whether its columns are rows there."""

    at: F64
    turned: bool


@dataclass(frozen=True, slots=True)
class _Island:
    """Texel indices `members` and their places `at` (N, 2) in master pixels, from 0 up to `size` (2,)."""

    members: Ints
    at: F64
    size: F64


def unfold(texels: F64, corners: Ints, span: F64, side: int) -> Layout:
    """Lay the islands of quads `corners` (F, 4), indices into `texels` (X, 2), out on a square of `side`
    texels.

    `span` (F, 4) are the lengths in master pixels that the best view gives to each side of each quad. Every
    island keeps its shape but for a stretch of its lines and of its columns.
    """
    parts = [_stretched(texels, corners[mine], span[mine]) for mine in islands(len(texels), corners)]
    low, high, places = 0.05, 20.0, None
    for _ in range(40):
        density = (low + high) / 2
        tried = _packed([island.size * density for island in parts], side)
        low, high = (density, high) if tried is not None else (low, density)
        places = tried if tried is not None else places
    if places is None:
        raise ValueError(f"the skin does not fit a texture of {side} texels; give it a larger one")
    full = np.full_like(texels, np.nan)
    for island, place in zip(parts, places, strict=True):
        full[island.members] = place.at + island.at[:, :: -1 if place.turned else 1] * low
    return Layout(full, low)


def islands(count: int, corners: Ints) -> list[NDArray[np.bool_]]:
    """Which faces (F,) belong to each island, the largest first."""
    ends = np.concatenate([corners[:, (k, (k + 1) % 4)] for k in range(4)])
    graph = coo_matrix((np.ones(len(ends)), ends.T), shape=(count, count))
    label = connected_components(graph, directed=False)[1][corners[:, 0]]
    names, sizes = np.unique(label, return_counts=True)
    return [label == name for name in names[np.argsort(-sizes, kind="stable")]]


def _stretched(texels: F64, corners: Ints, span: F64) -> _Island:
    members = np.unique(corners)
    at = np.empty((len(members), 2))
    sides = texels[corners[:, (1, 2, 3, 0)]] - texels[corners]
    for axis in range(2):
        need = span * np.abs(sides[..., axis]) / np.maximum(np.square(sides).sum(2), 1e-12)
        spot = texels[corners][..., axis]
        at[:, axis] = _line(texels[members, axis], spot.min(1), spot.max(1), need.max(1))
    at[:, 1] = at[:, 1].max() - at[:, 1]
    return _Island(members, at, at.max(0))


def _line(values: F64, first: F64, last: F64, need: F64) -> F64:
    """`values` stretched along one axis so that faces from `first` to `last` (F,) get pixels by their
    `need`."""
    edges = np.linspace(values.min(), values.max() + 1e-9, BINS + 1)
    density = np.zeros(BINS)
    for k in range(BINS):
        crossing = need[(first < edges[k + 1]) & (last > edges[k])]
        density[k] = np.quantile(crossing, QUANTILE) if len(crossing) else 0
    density = np.maximum(density, LEAST * np.median(density[density > 0]))
    kernel = np.hanning(9)[1:-1] / np.hanning(9).sum()
    density = np.convolve(np.pad(density, 3, mode="edge"), kernel, "valid")
    length = np.concatenate([[0], np.cumsum(density * np.diff(edges))])
    return np.interp(values, edges, length)


def _packed(sizes: list[F64], side: int) -> list[_Place] | None:
    """Where boxes lie on a square, each where it ends highest, lying or standing; None when they do not
    fit."""
    order = np.argsort([-size.max() for size in sizes], kind="stable")
    skyline = np.zeros(side, np.int64)
    places = [_Place(np.zeros(2), turned=False)] * len(sizes)
    for k in order:
        found = [_lowest(skyline, sizes[k][::step]) for step in (1, -1)]
        ends = [
            side + 1 if each is None else each[1] + int(sizes[k][1 - turned])
            for turned, each in enumerate(found)
        ]
        turned = int(np.argmin(ends))
        spot = found[turned]
        if spot is None:
            return None
        left, top = spot
        width, height = _box(sizes[k][:: -1 if turned else 1])
        places[k] = _Place(np.array([left + GUTTER, top + GUTTER], np.float64), turned=turned == 1)
        skyline[left : left + width] = top + height
    return places


def _lowest(skyline: Ints, size: F64) -> tuple[int, int] | None:
    """Left and top of the highest free place for a box under the skyline."""
    width, height = _box(size)
    side = len(skyline)
    if width > side or height > side:
        return None
    tops = np.lib.stride_tricks.sliding_window_view(skyline, width).max(1)
    left = int(tops.argmin())
    return (left, int(tops[left])) if tops[left] + height <= side else None


def _box(size: F64) -> tuple[int, int]:
    width, height = (np.ceil(size) + 2 * GUTTER).astype(int)
    return int(width), int(height)
