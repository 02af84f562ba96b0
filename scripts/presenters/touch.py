"""What is retouched in the skin's texture: ears of the cheeks' hue with hollows, even brows."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, Ints, smooth

F32 = NDArray[np.float32]

EAR_HUE, EAR_SHADE = 0.75, 0.62
"""How far ears take on the cheeks' hue, and how much darker their hollows are."""
LIP_TEXELS, LIP_EVEN, LIP_GAIN, LIP_LIGHT = 9.0, 0.75, 2.2, 0.88
"""Over how much the light on a lip is judged, how far an upper lip in the shade of a moustache takes on its
share, the last number, of the light of the lower one, and how much lighter it gets at most."""
GLOSS_TEXELS, GLOSS_FROM, GLOSS_LESS = 14.0, 1.06, 0.8
"""Over how much a lip's tone is judged, from what light against it on it is gloss, and how far that goes."""
MIDDLE, BESIDE_TEXELS, LIP_SOFT = 0.45, (26.0, 14.0), 2.0
"""Where a texture has the middle of the face, how far aside and below hairs grow that take the place of bare
skin at a corner of the mouth, and over how much they run out to the lips."""
GROWN_DM: Final = (0.060, 0.030)
"""How far from a corner, in dm, they begin and are full."""
LIP_TINT, LIP_PALE = (0.98, 0.80, 0.75), 0.4
"""The tone of lips in a grey beard against their light, and how far they take it on."""
BROW_TEXELS, STRAY_TEXELS = 41, 5.0
"""Wider than a brow, and over how much a brow is one mass rather than hairs."""
RED: Final = (0.14, 0.26)
"""How much less blue than red hairs and lips are, as a share."""
STRAY: Final = (0.05, 0.14)
"""How dark a mass is of which hairs are strays, and of which they all count."""
DENSEST, BLEND, BLEND_TEXELS = 0.36, 0.30, 1.5
"""The darkest that a mass may be, and how far and how widely its hairs run into each other."""
ASH = 0.45
"""How far hairs of brows lose the red that light takes on between them."""
SALT, LOOSE, DENSER = 0.45, 0.6, 0.10
"""How much lighter than skin grey hairs of brows may be, how much sparser, and how much darker in all."""
PEPPER: Final = (1.09, 0.985, 0.91)
GREYED: Final = (0.02, 0.16)
"""The hue of grey brows, and how much hair takes it on in part and in full."""


@dataclass(frozen=True, slots=True)
class Twin:
    """Texels of one side of a face, `mine` (N,) by row and column, and those around each one's mirror image
    on the other, `others` (N, 4), of which each counts its `share` (N, 4)."""

    mine: tuple[Ints, Ints]
    others: tuple[Ints, Ints]
    share: F64


def eared(color: F32, ear: F64, hollow: F64, cheek: F64) -> F32:
    """The texture `color` (S, S, 3) whose `ear` (S, S) has the hue of the `cheek` (S, S), darker in a
    `hollow` (S, S)."""
    light = color.mean(2, keepdims=True)
    hue = (color * cheek[..., None]).sum((0, 1)) / max(float((light[..., 0] * cheek).sum()), 1e-6)
    toned = color + (light * hue - color) * EAR_HUE
    toned = toned * (1 - EAR_SHADE * hollow)[..., None]
    return (color + (toned - color) * ear[..., None]).astype(np.float32)


def dull(color: F32, lip: F64) -> F32:
    """The texture `color` (S, S, 3) whose `lip` (S, S) has no white lines of gloss."""
    known = lip.astype(np.float32)
    tone = cv2.GaussianBlur(color * known[..., None], (0, 0), GLOSS_TEXELS)
    tone = tone / np.maximum(cv2.GaussianBlur(known, (0, 0), GLOSS_TEXELS), 1e-3)[..., None]
    most = GLOSS_FROM * tone
    gloss = np.maximum(color - most, 0) * (GLOSS_LESS * known)[..., None]
    return (color - gloss).astype(np.float32)


def lipped(color: F32, upper: F64, lower: F64) -> F32:
    """The texture `color` (S, S, 3) whose `upper` lip (S, S) is lit as the `lower` one (S, S) is; grey hairs
    before it stay."""
    light = color.mean(2)
    upper = upper * smooth(*RED, 1 - color[..., 2].astype(np.float64) / np.maximum(color[..., 0], 1))
    own = cv2.GaussianBlur(light * upper, (0, 0), LIP_TEXELS)
    own = own / np.maximum(cv2.GaussianBlur(upper, (0, 0), LIP_TEXELS), 1e-3)
    mean = float((light * lower).sum() / max(float(lower.sum()), 1e-6))
    gain = np.clip((LIP_LIGHT * mean / np.maximum(own, 1.0)) ** LIP_EVEN, 1.0, LIP_GAIN)
    return (color * (1 + (gain - 1) * upper)[..., None]).astype(np.float32)


def cornered(color: F32, corner: F64, lip: F64) -> F32:
    """The texture `color` (S, S, 3) with a beard that closes around the corners of a mouth, which are
    `corner` (S, S) from each texel, in dm: bare skin there gives way to hairs from beside. A `lip`
    (S, S) is as red as one in a beard."""
    bare = cv2.GaussianBlur(1 - lip, (0, 0), LIP_SOFT).astype(np.float32) * (1 - lip)
    side = np.sign(np.arange(color.shape[1]) - color.shape[1] * MIDDLE).astype(np.float32)
    y, x = np.mgrid[: color.shape[0], : color.shape[1]].astype(np.float32)
    beside = cv2.remap(color, x + BESIDE_TEXELS[0] * side, y + BESIDE_TEXELS[1], cv2.INTER_LINEAR)
    grown = color + (beside - color) * (smooth(*GROWN_DM, corner) * bare)[..., None]
    grey = grown.mean(2, keepdims=True) * np.array(LIP_TINT)
    return (grown + (grey - grown) * (LIP_PALE * lip)[..., None]).astype(np.float32)


def browed(color: F32, near: F64, twin: Twin | None = None, grey: F64 | float = 0.0) -> F32:
    """The texture `color` (S, S, 3) whose brows, where `near` (S, S), are of one density, without strays, and
    on one side the `twin` of the other; salt and pepper by the share `grey` (S, S)."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (BROW_TEXELS, BROW_TEXELS))
    bare = cv2.morphologyEx(cv2.GaussianBlur(color, (0, 0), 1.0), cv2.MORPH_CLOSE, kernel)
    bare = cv2.GaussianBlur(bare, (0, 0), STRAY_TEXELS)
    grey = np.asarray(grey, np.float64)[..., None]
    hair = np.clip(1 - color / np.maximum(bare, 1), -SALT * grey, 1)
    mass = cv2.GaussianBlur(np.abs(hair).mean(2), (0, 0), STRAY_TEXELS)
    least, full = (bound * (1 - LOOSE * grey[..., 0]) for bound in STRAY)
    gain = smooth(least, full, mass) * np.minimum(
        1, DENSEST * (1 + DENSER * grey[..., 0]) / np.maximum(mass, 1e-3)
    )
    even = hair + (hair.mean(2, keepdims=True) - hair) * (ASH * (1 - grey))
    even = (even * gain[..., None]).astype(np.float32)
    even += (cv2.GaussianBlur(even, (0, 0), BLEND_TEXELS) - even) * (BLEND * (1 - grey))
    even += grey * _greying(bare * (1 - even), cv2.blur(np.abs(even), (3, 3))) / np.maximum(bare, 1)
    if twin is not None:
        even[twin.mine] = (even[twin.others] * twin.share[..., None]).sum(1)
    return (color + bare * (hair - even) * near[..., None]).astype(np.float32)


def _greying(color: F32, hair: F32) -> F32:
    """What colours (S, S, 3) lose to be grey where there is `hair` (S, S, 3)."""
    grey = color.mean(2, keepdims=True) * np.array(PEPPER, np.float32)
    share = smooth(*GREYED, hair.mean(2).astype(np.float64))[..., None]
    return ((color - grey) * share).astype(np.float32)
