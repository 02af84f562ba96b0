"""The tone of upper lids in the skin's texture: one that suits an open eye and a shut one.

Pictures of the open eye show a lid folded away in the shade of its socket. Drawn out by a blink, that shade
would be a dark patch, so a lid takes most of its tone from the picture of shut eyes.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .pores import relief

F32 = NDArray[np.float32]

FALL: Final = (0.004, 0.030)
"""How far a blink moves skin down that begins to be lid, and that is lid, in dm."""
GROW_TEXELS, FADE_TEXELS, TONE_TEXELS = 9, 7.0, 3.5
"""How far the tone reaches beyond the lid, over how much it fades out, and what is tone, not detail."""
SHARE: Final = 1.0
"""Of the shut lid's tone in what is used."""
DARKER = -5.0
"""The most that a tone may lose: where shut lids touch, the picture of them is dark."""
LASH_SHADE, LASH_TEXELS = 0.14, (24.0, 14.0)
"""How dark a lid is under its lashes, and how far from the middle of an eye's opening that sets in and is
full."""
EVEN_TEXELS, EVEN = 5.0, 0.85
"""Over how much a lid is one smooth surface, and how far."""
FULL_FALL = 0.10
"""How far a blink moves the lower part of a lid, in dm."""
CREASE: Final = (0.18, 0.12, -0.26)
BULGE: Final = (0.62, 0.24, 0.08)
CREASE_TEXELS = 4.5
"""Where on a lid, by how far it falls, its crease and its bulge are, how wide, and how much lighter; over
how much they are soft."""
FOLD: Final = (0.30, 0.09, 0.24)
FOLD_TEXELS, FOLD_ENDS, FOLD_TINT = 1.1, (0.45, 0.8), (0.8, 1.0, 1.05)
"""Where on a lid, by how far it falls, its fold is, how wide, and how dark; over how much it is soft, how far
aside of an eye it ends, and what it takes of red, green and blue."""
KEY_LIGHT: Final = (-0.45, 0.55, 0.70)
ROUND, PORES = 0.22, 0.028
"""Where the light comes from, how much of it a ball beneath a lid shows, and how much its pores do."""
HEM_TEXELS, HEM_LIGHT = 16.0, 0.95
"""How far from an eye's opening lids have a dark hem, and the least light there against the skin around."""
RIM_SHARE, RIM_TEXELS, RIM_TINT = 0.85, (12.0, 8.0), (0.94, 0.84, 0.82)
"""How much of the lower lid's wet rim gives way to the skin's tone below it, how far from the middle of an
opening the rim ends and is full, and its red, green and blue against that tone."""


def lidded(color: F32, shut: F32, fall: F64, near: F64, hole: NDArray[np.bool_]) -> F32:
    """The texture `color` (S, S, 3) with its lids toned as `shut` (S, S, 3) has them.

    `fall` (S, S) is what a blink moves each texel down, `near` (S, S) is 1 around the eyes and 0 elsewhere,
    and a `hole` (S, S) is no skin.
    """
    lid = (smooth(*FALL, fall) * near * ~hole).astype(np.float32)
    side = 2 * GROW_TEXELS + 1
    grown = cv2.dilate(lid, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))).astype(np.float32)
    share = cv2.GaussianBlur(grown, (0, 0), FADE_TEXELS)
    known = (~hole).astype(np.float32) * np.float32(1e-3) + lid
    step = _blurred((shut - color) * known[..., None], TONE_TEXELS)
    step /= np.maximum(_blurred(known, TONE_TEXELS), 1e-6)[..., None]
    toned = color + np.maximum(step, DARKER) * (share * SHARE)[..., None]
    toned = _curved(_evened(toned.astype(np.float32), lid, share), fall, near)
    away = cv2.distanceTransform((~(hole & (near > 0.5))).astype(np.uint8), cv2.DIST_L2, 5)
    toned = _hemmed(toned, away, near, hole)
    toned *= 1 - (LASH_SHADE * lid * smooth(*LASH_TEXELS, away))[..., None]
    rim = smooth(*RIM_TEXELS, away) * (1 - smooth(0.0, 0.01, fall)) * near
    around = ((away > RIM_TEXELS[0]) & (fall < FALL[0])).astype(np.float32)
    below = _blurred(toned.astype(np.float32) * around[..., None], FADE_TEXELS)
    below /= np.maximum(_blurred(around, FADE_TEXELS), 1e-3)[..., None]
    wet = below * np.array(RIM_TINT, np.float32)
    return (toned + np.minimum(wet - toned, 0) * (RIM_SHARE * rim)[..., None]).astype(np.float32)


def lined(color: F32, fall: F64, near: F64, hole: NDArray[np.bool_], shut: F64, eyes: F64) -> F32:
    """The texture `color` (S, S, 3) with what a lid shows once a blink has laid it over an eye: its crease,
    its pores, and the light on the ball beneath. With shut eyes texels are at `shut` (S, S, 3), the middles
    of balls at `eyes` (2, 3).
    """
    lid = (smooth(*FALL, fall) * near * ~hole).astype(np.float32)
    out = np.stack([shut - eye for eye in eyes])
    length = np.linalg.norm(out, axis=3)
    nearest = length.argmin(0)
    toward = np.take_along_axis(out, nearest[None, ..., None], 0)[0] / length.min(0)[..., None]
    round_ = cv2.GaussianBlur(toward @ np.array(KEY_LIGHT), (0, 0), TONE_TEXELS)
    part = cv2.GaussianBlur(fall, (0, 0), TONE_TEXELS) / FULL_FALL
    line = np.exp(-(((part - FOLD[0]) / FOLD[1]) ** 2)) * (1 - smooth(*FOLD_ENDS, abs(toward[..., 0])))
    dark = FOLD[2] * cv2.GaussianBlur((line * lid).astype(np.float32), (0, 0), FOLD_TEXELS)
    middle = float((round_ * lid).sum() / max(float(lid.sum()), 1e-6))
    soft = cv2.GaussianBlur(lid, (0, 0), TONE_TEXELS)
    height, _ = relief(shut[lid > 0])
    pores = np.zeros_like(lid)
    pores[lid > 0] = height
    light = 1 + ROUND * (round_ - middle) * soft + PORES * pores * lid
    return (color * (light[..., None] - dark[..., None] * np.array(FOLD_TINT))).astype(np.float32)


def smoothed(color: F32, fall: F64, near: F64, hole: NDArray[np.bool_]) -> F32:
    """The texture `color` (S, S, 3) without details on lids: a blink draws them out to
    streaks."""
    lid = (smooth(*FALL, fall) * near * ~hole).astype(np.float32)
    return _evened(color, lid, cv2.GaussianBlur(lid, (0, 0), TONE_TEXELS).astype(np.float32))


def _evened(color: F32, lid: F32, share: F32) -> F32:
    """`color` (S, S, 3) without details on the `lid` (S, S), by `share` (S, S)."""
    known = lid + np.float32(1e-3)
    even = _blurred(color * known[..., None], EVEN_TEXELS) / _blurred(known, EVEN_TEXELS)[..., None]
    return (color + (even - color) * (EVEN * np.minimum(lid, share))[..., None]).astype(np.float32)


def _hemmed(color: F32, away: F32, near: F64, hole: NDArray[np.bool_]) -> F32:
    """`color` (S, S, 3) without dark lines close around a `hole` (S, S), `away` (S, S) from it: a blink lays
    them out beside the corner of an eye."""
    hem = smooth(HEM_TEXELS, 0.6 * HEM_TEXELS, away) * near
    known = ((away > HEM_TEXELS) & ~hole).astype(np.float32)
    light = color.mean(2).astype(np.float32)
    around = _blurred(light * known, HEM_TEXELS) / np.maximum(_blurred(known, HEM_TEXELS), 1e-3)
    lack = np.maximum(HEM_LIGHT * around / np.maximum(light, 1) - 1, 0)
    return (color * (1 + lack * hem)[..., None]).astype(np.float32)


def _curved(color: F32, fall: F64, near: F64) -> F32:
    """`color` (S, S, 3) with the light of a round lid: a crease where it begins to fall, a bulge below."""
    part = fall / FULL_FALL
    light = np.zeros_like(part)
    for middle, width, gain in (CREASE, BULGE):
        light += gain * np.exp(-(((part - middle) / width) ** 2))
    light *= near * smooth(0.0, CREASE[0], part)
    light = cv2.GaussianBlur(light, (0, 0), CREASE_TEXELS)
    return (color * (1 + light)[..., None]).astype(np.float32)


def _blurred(values: F32, texels: float) -> F32:
    return cv2.GaussianBlur(values, (0, 0), texels).astype(np.float32)
