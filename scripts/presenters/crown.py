"""Long hair over its parting: the notch in its outline is filled up to a round crown, and tufts there lie as
light as the hair around."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import spread
from .base import smooth
from .camera import MASTER

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

NOTCH_PX, COARSE_PX, MASS_PX = 560, 4, 9
"""The widest notch that is filled, how coarsely it is looked for, and the least width of hair that counts
rather than stray, in master pixels."""
SOLID: Final = 128
STEEP: Final = 8
"""How much steeper an outline gets where it is made sharp."""
EDGE_PX = 1.2
BULGE_PX, STRAND_PX, MOST_STRAND = 9.0, 5.0, 20.0
"""How far the middle of a filled notch stands above its sides, what is wider than a strand, in master pixels,
and by how much one is lighter or darker at most."""
LOCK_PX, AROUND_PX, GAIN = 7.0, 45.0, (0.6, 1.6)
"""What is a lock rather than strands, what is around it, in master pixels, and by how much a lock may become
lighter."""
STRAY: Final = (0.55, 1.4)
"""The least and the most light of a strand against what is around it."""


def calmed(picture: U8, rows: tuple[float, float]) -> U8:
    """A layer (H, W, 4) of hair whose locks are as light as what is around them, the more the higher between
    two `rows`, from where it sets in to where it is full."""
    scale = picture.shape[1] / MASTER[0]
    color, cover = picture[..., :3].astype(np.float32), picture[..., 3].astype(np.float32) / 255
    lock, around = (_light(color, cover, sigma * scale) for sigma in (LOCK_PX, AROUND_PX))
    gain = np.clip(around / np.maximum(lock, 1), *GAIN)
    share = smooth(*rows, np.arange(len(picture), dtype=np.float64))[:, None]
    near = around / np.maximum((color * gain[..., None]).mean(2), 1)
    gain = gain * np.clip(1, STRAY[0] * near, STRAY[1] * near)
    toned = color * (1 + (gain - 1) * share)[..., None]
    return np.dstack([np.round(np.clip(toned, 0, 255)).astype(np.uint8), picture[..., 3]])


def firm(picture: U8, row: float) -> U8:
    """A layer (H, W, 4) of hair whose outline above the `row` is sharp: one view of hair lies over another
    there, and through what both half hide the room is seen."""
    above = np.arange(len(picture))[:, None] < row
    sharp = np.clip((picture[..., 3].astype(np.int32) - SOLID) * STEEP + SOLID, 0, 255)
    return np.dstack([picture[..., :3], np.where(above, sharp, picture[..., 3]).astype(np.uint8)])


def _light(color: F32, cover: F32, sigma: float) -> F32:
    """The light (H, W) around each place of what is there."""
    total = cv2.GaussianBlur(color.mean(2) * cover, (0, 0), sigma)
    return (total / np.maximum(cv2.GaussianBlur(cover, (0, 0), sigma), 1e-2)).astype(np.float32)


def _closed(solid: U8, side: int, coarse: int) -> U8:
    """What is `solid` (H, W) with notches up to `side` pixels wide filled, found on a grid of `coarse`
    pixels, but for what is as narrow as those."""
    edge = side // 2
    padded = cv2.copyMakeBorder(solid, edge, 0, edge, edge, cv2.BORDER_CONSTANT, value=0)
    few = (max(1, padded.shape[1] // coarse), max(1, padded.shape[0] // coarse))
    small = cv2.resize(padded.astype(np.float32), few, interpolation=cv2.INTER_AREA)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, ((side // coarse) | 1,) * 2)
    small = cv2.morphologyEx(small, cv2.MORPH_CLOSE, disc)
    whole = cv2.resize(small, padded.shape[::-1], interpolation=cv2.INTER_LINEAR)[edge:, edge:-edge]
    more = ((whole > 0.5) & (solid == 0)).astype(np.uint8)
    return cv2.morphologyEx(more, cv2.MORPH_OPEN, np.ones((coarse | 1,) * 2, np.uint8)) | solid


def _bulging(filled: F32, lift: float) -> F32:
    """`filled` (H, W) with the outline of each notch raised by up to `lift` pixels in its middle."""
    found = filled.copy()
    count, label, box, _ = cv2.connectedComponentsWithStats(filled.astype(np.uint8))
    for k in range(1, count):
        left, _, width, _, _ = box[k].tolist()
        for x in range(left, left + width):
            column = np.flatnonzero(label[:, x] == k)
            up = round(lift * (1 - ((x - left - (width - 1) / 2) / (width / 2)) ** 2))
            if len(column) and up:
                found[max(0, column[0] - up) : column[0], x] = 1
    return found


def _strands(picture: U8, known: F32, filled: F32, soft: float) -> F32:
    """What makes strands of the hair left of each `filled` (H, W) place, (H, W, 3), mirrored into it."""
    color = picture[..., :3].astype(np.float32) * known[..., None]
    around = cv2.GaussianBlur(color, (0, 0), soft)
    around /= np.maximum(cv2.GaussianBlur(known, (0, 0), soft), 1e-3)[..., None]
    detail = np.clip((color - around) * known[..., None], -MOST_STRAND, MOST_STRAND)
    columns = np.arange(known.shape[1])
    last = np.maximum.accumulate(np.where(known > 0, columns, -1), axis=1)
    source = np.clip(2 * last - columns, 0, None).astype(np.intp)
    return np.take_along_axis(detail, source[..., None], 1) * (filled * (last >= 0))[..., None]


def rounded(picture: U8, depth: F32, row: float) -> tuple[U8, F32]:
    """A layer (H, W, 4) of hair and its `depth` (H, W), inf where nothing, with the notches of its upper
    outline filled above the `row`, in the tones and at the depth of the hair beside."""
    scale = picture.shape[1] / MASTER[0]
    side = max(3, round(NOTCH_PX * scale)) | 1
    thin = max(3, round(MASS_PX * scale)) | 1
    solid = (picture[..., 3] > SOLID).astype(np.uint8)
    mass = cv2.morphologyEx(solid, cv2.MORPH_OPEN, np.ones((thin, thin), np.uint8))
    body, trunk = (np.maximum.accumulate(each, axis=0) for each in (solid, mass))
    whole = _closed(trunk, side, max(1, round(COARSE_PX * scale)))
    above = np.arange(len(solid))[:, None] < row
    filled = _bulging(((whole > 0) & (body == 0) & above).astype(np.float32), BULGE_PX * scale)
    cover = cv2.GaussianBlur(np.maximum(filled, body * above), (0, 0), EDGE_PX * scale)
    near = cv2.dilate(filled, np.ones((5, 5), np.uint8))
    cover = cover * near
    alpha = np.maximum(picture[..., 3], np.round(255 * cover))
    known = (picture[..., 3] > 200).astype(np.float32)
    own = (picture[..., 3:].astype(np.float32) / 255) ** 2
    color = spread(picture[..., :3].astype(np.float32), known)
    color += _strands(picture, known, filled, STRAND_PX * scale)
    mixed = np.where(near[..., None] > 0, color + (picture[..., :3] - color) * own, picture[..., :3])
    hit = np.isfinite(depth)
    far = spread(np.where(hit, depth, 0)[..., None].astype(np.float32), hit.astype(np.float32))
    layer = np.round(np.clip(np.concatenate([mixed, alpha[..., None]], 2), 0, 255)).astype(np.uint8)
    return layer, np.where(hit | (filled == 0), depth, far.reshape(depth.shape)).astype(np.float32)
