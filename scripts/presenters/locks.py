"""Locks of hair that differ in tone, along the strands of a picture of it."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .camera import MASTER

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

STRAND_PX, FLOW_PX = 1.2, 7.0
"""How wide strands are whose direction is judged, and over how much it is evened, in master pixels."""
LOCKS: Final = ((7.0, 0.55), (2.6, 0.75))
"""Widths of locks and of strands in them, in master pixels, and how far they differ."""
LONG_PX, STEP_PX = 70.0, 2.0
"""How far along strands a tone lasts, and in which steps they are followed, in master pixels."""
LIGHT, DARK = 0.20, 0.24
"""How much lighter and darker locks are at most."""
GOLD: Final = (1.03, 1.0, 0.93)
"""The tint of light locks; dark ones have its contrary."""
SEED = 71


def varied(picture: U8, share: float = 1.0) -> U8:
    """A layer (H, W, 4) of hair with lighter and darker locks, by `share` of what long hair has."""
    scale = picture.shape[1] / MASTER[0]
    across, down = _flow(picture, scale)
    tone = np.zeros(picture.shape[:2], np.float32)
    for k, (width, part) in enumerate(LOCKS):
        chance = np.random.default_rng(SEED + k)
        seeds = cv2.GaussianBlur(
            chance.standard_normal(tone.shape).astype(np.float32), (0, 0), width * scale / 2
        )
        along = _along(seeds, across, down, scale)
        tone += part * along / max(float(along.std()), 1e-6)
    tone = share * np.clip(tone / 2, -1, 1)
    gain = 1 + np.where(tone > 0, LIGHT, DARK) * tone
    tint = np.array(GOLD, np.float32) ** tone[..., None]
    color = picture[..., :3] * gain[..., None] * tint
    return np.dstack([np.round(np.clip(color, 0, 255)).astype(np.uint8), picture[..., 3]])


def _flow(picture: U8, scale: float) -> tuple[F32, F32]:
    """Which way strands run, as unit steps across and down (H, W), downwards."""
    light = cv2.GaussianBlur(picture[..., :3].mean(2).astype(np.float32), (0, 0), STRAND_PX * scale)
    weight = picture[..., 3].astype(np.float32) / 255
    x, y = cv2.Sobel(light, cv2.CV_32F, 1, 0), cv2.Sobel(light, cv2.CV_32F, 0, 1)
    inner = cv2.erode(weight, np.ones((5, 5), np.uint8))
    xx, yy, xy = (cv2.GaussianBlur(part * inner, (0, 0), FLOW_PX * scale) for part in (x * x, y * y, x * y))
    angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    across, down = np.cos(angle), np.sin(angle)
    sign = np.where(down < 0, -1, 1)
    return (across * sign).astype(np.float32), (down * sign).astype(np.float32)


def _along(seeds: F32, across: F32, down: F32, scale: float) -> F32:
    """The mean of `seeds` (H, W) along the flow, both ways."""
    rows, columns = np.mgrid[0 : seeds.shape[0], 0 : seeds.shape[1]].astype(np.float32)
    total, step = seeds.copy(), np.float32(STEP_PX * scale)
    count = round(LONG_PX / STEP_PX)
    for way in (1, -1):
        x, y, last_x, last_y = columns.copy(), rows.copy(), across * way, down * way
        for k in range(count):
            x, y = x + step * last_x, y + step * last_y
            turn_x = cv2.remap(across, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            turn_y = cv2.remap(down, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            sign = np.where(turn_x * last_x + turn_y * last_y < 0, -1, 1).astype(np.float32)
            last_x, last_y = turn_x * sign, turn_y * sign
            total += cv2.remap(seeds, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE) * np.float32(
                1 - k / count
            )
    return total.astype(np.float32)
