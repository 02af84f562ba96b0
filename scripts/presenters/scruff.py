"""Where a beard ends on a cheek: single hairs and stubble, fewer and shorter the further away."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .grain import noise

F32 = NDArray[np.float32]
Rgb = tuple[int, int, int]

GROWN: Final = (0.30, 0.90)
"""Densities of a beard whose edge takes on hairs."""
REACH_TEXELS: Final = (7.0, 13.0)
"""Over how much hairs, and stubble, become fewer by e."""
HAIRS, STUBBLE = 1500, 3600
LONG: Final = ((4.0, 9.5), (1.2, 2.6))
"""Lengths of hairs and of stubble in texels."""
DARK: Final[Rgb] = (84, 70, 62)
LIGHT: Final[Rgb] = (190, 182, 172)
GREY = 0.30
"""Share of light hairs."""
COVER: Final = (0.62, 0.34)
"""How far a hair, and a stub, hides the skin at most."""
SHADE: Final = (0.07, 0.045, 0.035)
SHADE_TEXELS = 11.0
"""What skin among roots loses of red, green and blue, and over how much that fades."""
LIT, LEAST_LIT = 150.0, 0.4
"""The light of skin on which hairs have their tone, and the least share of it that they keep in the shade."""
LEAN, ASTRAY = 0.30, 0.22
"""How far hairs lean to the middle of the face, and how far they stray, by their length."""
FINE = 3
SEED = 61


def scruffy(color: F32, density: F64, free: F64, at: F64) -> F32:
    """The texture `color` (S, S, 3) with hairs about the edge of a beard of `density` (S, S) where the skin
    is `free` (S, S) to have some; `at` (S, S, 3) are the places of its texels."""
    beard = density > GROWN[0]
    away = cv2.distanceTransform((~beard).astype(np.uint8), cv2.DIST_L2, 5).astype(np.float64)
    inner = smooth(GROWN[1], GROWN[0], density) * beard
    uneven = 1 + 0.7 * noise(at.reshape(-1, 3), 0.06, SEED).reshape(away.shape)
    chance = np.random.default_rng(SEED)
    shade = free * np.exp(-away / SHADE_TEXELS) * ~beard
    shown = color * (1 - cv2.GaussianBlur(shade, (0, 0), 2.0)[..., None] * SHADE)
    soft = cv2.GaussianBlur(color, (0, 0), SHADE_TEXELS).mean(2, keepdims=True)
    lit = np.clip(soft / LIT, LEAST_LIT, 1.0)
    for count, reach, long, cover in zip((HAIRS, STUBBLE), REACH_TEXELS, LONG, COVER, strict=True):
        likely = free * uneven * np.where(beard, 0.6 * inner, np.exp(-away / reach))
        likely = np.where(away > 4.5 * reach, 0, np.clip(likely, 0, None))
        if not likely.any():
            continue
        for tone, share in ((DARK, 1 - GREY), (LIGHT, GREY)):
            alpha = _hairs(likely, round(count * share), long, at[..., 0], chance)[..., None]
            shown = shown + (lit * tone - shown) * alpha * cover
    return shown.astype(np.float32)


def _hairs(
    likely: F64, count: int, long: tuple[float, float], aside: F64, chance: np.random.Generator
) -> F64:
    """How far (S, S) hairs cover it whose roots are as `likely` (S, S); they fall towards the middle, where
    `aside` (S, S) is 0."""
    roots = chance.choice(likely.size, count, p=(likely / likely.sum()).ravel())
    row, column = np.divmod(roots, likely.shape[1])
    most = float(likely.max())
    length = chance.uniform(*long, count) * (0.5 + 0.5 * np.sqrt(likely.ravel()[roots] / most))
    lean = -LEAN * np.sign(aside.ravel()[roots]) + chance.normal(0, ASTRAY, count)
    start = np.stack([column, row], 1) + chance.random((count, 2))
    end = start + length[:, None] * np.stack([lean, np.ones(count)], 1)
    middle = (start + end) / 2 + np.stack([0.10 * length * chance.normal(0, 1, count), np.zeros(count)], 1)
    canvas = np.zeros((likely.shape[0] * FINE, likely.shape[1] * FINE), np.uint8)
    for path, strength in zip(
        np.stack([start, middle, end], 1), chance.uniform(0.4, 1.0, count), strict=True
    ):
        line = np.round(path * FINE * 16).astype(np.int32)
        cv2.polylines(canvas, [line], False, int(255 * strength), 2, cv2.LINE_AA, 4)
    small = cv2.resize(canvas, likely.shape[::-1], interpolation=cv2.INTER_AREA)
    return small.astype(np.float64) / 255
