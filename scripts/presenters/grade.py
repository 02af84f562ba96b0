"""Layers of hair made ready for their reliefs: stray strands let go, regions brought closer, tones warmed."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .camera import MASTER, Camera
from .looks import Grade

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

MASS_PX, STRAY_PX, SOFT_PX = 11, 20, 0.35
"""Least width of what is a mass of hair, how far strands may stand clear of one, and how much their edges are
softened, in master pixels."""
GAP_PX = 4
"""The widest pinhole, in master pixels."""
LOCK_PX = 5
"""Least width of a lock rather than single strands, in master pixels."""
SOLID: Final = 128
GAIN: Final = (0.45, 2.9)
STRAND: Final = (0.25, 4.0)
"""The least and most that is believed of a strand's lightness against its region's."""
LUMA: Final = (0.299, 0.587, 0.114)
NECK_DM, SLOPE, SHOULDER_DM, BEHIND_DM = -0.04, 0.9, 0.55, (-0.20, 0.0)
"""Hair lower than this above the chin, a slope higher to the back, and further than this from the middle
fades out between these places before the pivot of the head: it would lie on the back of a shoulder."""
NAPE_DM = (-0.12, -0.24)
"""Heights above the chin between which hair fades out there in the middle: the trunk hides it."""
COMB_PX, COMB_FADE_PX = (0.4, 2.6), 40
"""How widely the ends of long hair are combed across and along, and over how many rows that sets in."""
COMBED: Final = (0.30, 0.72)
"""Cover of combed ends from gaps to strands."""
WISPS, WISP_ALPHA = (0.03, 0.45), 150
"""Cover of combed ends from nothing to single strands, and the alpha of those."""
LOOSE_PX, EDGE_PX = (0.5, 5.0), 5
"""How widely an outline of long hair is combed across and along, and how wide it is, in master pixels."""
BEARD_PX = 60
"""Over how many rows hair gives way to beard, in master pixels."""
FEATHER_PX, EVEN_PX = 20, 9
"""Over how much of its width a beard's outline fades in outwards, and how evenly, in master pixels."""
SEED = 11
HAIR_PX: Final = (0.7, 4.0)
"""Width and length of a hair of stubble, in master pixels."""
FADE_PX, FADE_UNEVEN_PX = 22.0, 8.0
"""Over how much hair at a temple goes over into skin, and how far single hairs reach, in master pixels."""
KNOWN: Final = 64
"""Alpha from which a layer's colour counts in full."""
DENSE: Final = (150, 235)
"""Alphas from sparse hair to dense."""
COLORED: Final = (0.32, 0.18)
"""How much less blue than red skin and grey hair are, as a share."""
ANGLES: Final = 720
UNDER: Final = (0.5, 0.85)
"""Cosines to straight down, as seen from the mouth, between which that sets in."""


def tidied(picture: U8, stray_px: float = STRAY_PX, finest: int = 255) -> U8:
    """A layer (H, W, 4) without strands further than `stray_px` from the mass of hair and without
    pinholes in it, with soft edges; strands near it have an alpha of `finest` at most."""
    scale = picture.shape[1] / MASTER[0]
    alpha = picture[..., 3]
    mass = cv2.morphologyEx((alpha > SOLID).astype(np.uint8), cv2.MORPH_OPEN, _disc(MASS_PX * scale))
    near = cv2.dilate(mass, _disc(2 * stray_px * scale)).astype(np.float32)
    near = cv2.GaussianBlur(near, (0, 0), stray_px * scale / 3)
    soft = cv2.GaussianBlur(alpha.astype(np.float32), (0, 0), SOFT_PX * scale)
    whole = cv2.morphologyEx((alpha > SOLID).astype(np.uint8), cv2.MORPH_CLOSE, _disc(GAP_PX * scale))
    inner = cv2.erode(whole, _disc(3 * GAP_PX * scale)).astype(np.float32)
    soft = np.maximum(soft, 255 * cv2.GaussianBlur(inner, (0, 0), scale))
    lock = cv2.morphologyEx((alpha > SOLID).astype(np.uint8), cv2.MORPH_OPEN, _disc(LOCK_PX * scale))
    lock = cv2.GaussianBlur(cv2.dilate(lock, _disc(3 * scale)).astype(np.float32), (0, 0), scale)
    soft = np.minimum(soft, finest + (255 - finest) * lock)
    color = _weighted(picture, SOFT_PX * scale)
    blend = (alpha.astype(np.float32) / 255)[..., None]
    mixed = picture[..., :3] * blend + color * (1 - blend)
    return _layer(mixed, soft * near)


def trimmed(picture: U8, depth: F32, camera: Camera, chin: F64, pivot: F64) -> U8:
    """A layer (H, W, 4) without what lies behind the shoulders and the trunk; `depth` (H, W) is inf
    at nothing, `chin` and `pivot` (3,) are the landmarks."""
    known = np.isfinite(depth)
    y, x = np.nonzero(known)
    points = camera.unproject(np.stack([x, y], 1) + 0.5, depth[known].astype(np.float64))
    back = np.maximum(pivot[2] - points[:, 2], 0)
    low = smooth(0.0, -0.10, points[:, 1] - chin[1] - NECK_DM - SLOPE * back)
    aside = smooth(SHOULDER_DM, SHOULDER_DM + 0.10, np.abs(points[:, 0]))
    gone = np.zeros(depth.shape, np.float32)
    hidden = np.maximum(low * aside, smooth(*NAPE_DM, points[:, 1] - chin[1]))
    gone[known] = hidden * smooth(BEHIND_DM[1], BEHIND_DM[0], points[:, 2] - pivot[2])
    scale = picture.shape[1] / MASTER[0]
    gone = cv2.GaussianBlur(cv2.dilate(gone, _disc(5 * scale)), (0, 0), 2 * scale)
    return _layer(picture[..., :3].astype(np.float32), picture[..., 3] * (1 - gone))


def graded(picture: U8, grade: Grade) -> U8:
    """A layer (H, W, 4) with its regions' lightness and its colours drawn towards those of `grade`."""
    luma = np.array(LUMA, np.float32)
    region = _weighted(picture, grade.region_px * picture.shape[1] / MASTER[0]) @ luma
    wanted = grade.tone / np.maximum(region, 2.0)
    gain = np.clip(wanted ** np.where(wanted < 1, grade.calm, grade.even), *GAIN)
    strand = np.clip((picture[..., :3] @ luma) / np.maximum(region, 2.0), *STRAND)
    color = picture[..., :3] * (gain * strand ** (grade.fine - 1))[..., None]
    level = (color @ luma)[..., None]
    color = color + (level * np.array(grade.tint) - color) * grade.share
    color = color + np.array(grade.floor) * np.clip(1 - level / 255, 0, 1)
    return _layer(color, picture[..., 3])


def regraded(picture: U8, share: F32, grade: Grade) -> U8:
    """A layer (H, W, 4) graded by `share` (H, W) of 0..1, as if nothing else were in it."""
    only = _layer(picture[..., :3].astype(np.float32), picture[..., 3] * share)
    own = picture[..., :3].astype(np.float32)
    return _layer(own + (graded(only, grade)[..., :3] - own) * share[..., None], picture[..., 3])


def stubble(size: tuple[int, int], scale: float) -> F32:
    """Short upright hairs all over a picture of `size` (width, height), of a mean 0 and a spread of 1."""
    noise = np.random.default_rng(SEED).standard_normal(size[::-1]).astype(np.float32)
    hairs = cv2.GaussianBlur(noise, (0, 0), HAIR_PX[0] * scale, sigmaY=HAIR_PX[1] * scale)
    return (hairs / hairs.std()).astype(np.float32)


def faded(hair: U8, skin: U8, rows: tuple[float, float]) -> U8:
    """A layer `hair` (H, W, 4) of short hair that thins out towards the bare face of the layer `skin`, fully
    between the two `rows`."""
    scale = hair.shape[1] / MASTER[0]
    bare = (hair[..., 3] < 40) & (skin[..., 3] > 250)
    away = cv2.distanceTransform((~bare).astype(np.uint8), cv2.DIST_L2, 5) / scale
    hairs = stubble((hair.shape[1], hair.shape[0]), scale)
    thin = 1 - smooth(0.0, FADE_PX, away + FADE_UNEVEN_PX * hairs)
    row, soft = np.arange(len(hair), dtype=np.float64)[:, None], 0.25 * (rows[1] - rows[0])
    thin = thin * smooth(rows[0] - soft, rows[0], row) * smooth(rows[1] + soft, rows[1], row)
    thinner = hair.copy()
    thinner[..., 3] = np.round(hair[..., 3] * (1 - thin))
    return thinner


def crisp(color: F32, sigma: float, share: float) -> F32:
    """Colours (H, W, 3) with what is finer than `sigma` pixels strengthened by `share`: what filters on the
    way to the screen take away."""
    fine = color - cv2.GaussianBlur(color, (0, 0), sigma)
    return np.clip(color + share * fine, 0, 255).astype(np.float32)


def combed(picture: U8, ends: float, sides: float) -> U8:
    """A layer (H, W, 4) of long hair whose ends, below a row `ends`, and whose outline, below a row `sides`,
    are strands rather than specks."""
    scale = picture.shape[1] / MASTER[0]
    rows = (np.arange(len(picture), dtype=np.float64)[:, None] - np.array([[ends, sides]])) / (
        COMB_FADE_PX * scale
    )
    low, beside = smooth(0.0, 1.0, rows + 1).T[:, :, None, None]
    mass = cv2.morphologyEx(
        (picture[..., 3] > SOLID).astype(np.uint8), cv2.MORPH_OPEN, _disc(MASS_PX * scale)
    )
    whole = np.maximum.accumulate(mass, 1) & np.maximum.accumulate(mass[:, ::-1], 1)[:, ::-1]
    inner = cv2.erode(whole, _disc(2 * EDGE_PX * scale)).astype(np.float32)
    loose = 1 - cv2.GaussianBlur(inner, (0, 0), EDGE_PX * scale / 3)[..., None]
    edge = _along(picture, LOOSE_PX)
    mixed = picture + (edge - picture) * (beside * loose)
    ended = _along(picture, COMB_PX)
    cover = ended[..., 3] / 255
    ended[..., 3] = np.maximum(255 * smooth(*COMBED, cover), WISP_ALPHA * smooth(*WISPS, cover))
    mixed += (ended - mixed) * low
    return _layer(mixed[..., :3], mixed[..., 3])


def _along(picture: U8, sigmas_px: tuple[float, float]) -> F64:
    """A layer (H, W, 4) blurred across and along hair that falls."""
    across, along = (sigma * picture.shape[1] / MASTER[0] for sigma in sigmas_px)
    own = picture[..., 3:].astype(np.float64) / 255
    cover = cv2.GaussianBlur(own, (0, 0), across, sigmaY=along)[..., None]
    color = cv2.GaussianBlur(picture[..., :3] * own, (0, 0), across, sigmaY=along)
    return np.concatenate([color / np.maximum(cover, 1e-3), 255 * cover], 2)


def matched(hair: U8, skin: U8) -> U8:
    """The layer `hair` (H, W, 4) in the colours of the layer `skin`, which shows the same strands on the
    face: then no line shows where they lie over each other. Sparse hair keeps its own where the face beneath
    shows skin, which is less grey."""
    known = np.clip(skin[..., 3:].astype(np.float32) / KNOWN, 0, 1)
    red, _, blue = np.moveaxis(skin[..., :3].astype(np.float32), 2, 0)
    grey = smooth(*COLORED, 1 - blue / np.maximum(red, 1))[..., None]
    known = known * np.maximum(grey, smooth(*DENSE, hair[..., 3:].astype(np.float32)))
    own = hair[..., :3].astype(np.float32)
    return _layer(own + (skin[..., :3] - own) * known, hair[..., 3])


def changing(upper: U8, lower: U8, row: float) -> U8:
    """The layer `upper` (H, W, 4) that turns into `lower` below a `row`."""
    rows = (np.arange(len(upper)) - row) / (BEARD_PX * upper.shape[1] / MASTER[0])
    share = smooth(0.0, 1.0, rows)[:, None, None]
    return np.round(upper * (1 - share) + lower * share).astype(np.uint8)


def feathered(picture: U8, middle: F64, row: float) -> U8:
    """A layer (H, W, 4) of hair whose ring about the `middle` (2,) of the mouth, in pixels, fades in
    downwards from its inner edge under the chin, so that no line shows where it leaves the beard on the skin.
    Hair is beard below the `row`."""
    alpha = picture[..., 3]
    y, x = np.mgrid[0 : alpha.shape[0], 0 : alpha.shape[1]]
    across, down = x + 0.5 - middle[0], y + 0.5 - middle[1]
    distance = np.hypot(across, down)
    angle = (np.arctan2(down, across) / (2 * np.pi) % 1 * ANGLES).astype(int) % ANGLES
    mine = (alpha > SOLID) & (y > row)
    if not mine.any():
        return picture
    inner = np.full(ANGLES, np.inf)
    np.minimum.at(inner, angle[mine], distance[mine])
    known = np.isfinite(inner)
    inner = np.interp(np.arange(ANGLES), np.flatnonzero(known), inner[known], period=ANGLES)
    inner = cv2.GaussianBlur(inner[:, None], (1, 2 * EVEN_PX + 1), 0, sigmaY=EVEN_PX / 2)[:, 0]
    feather = FEATHER_PX * alpha.shape[1] / MASTER[0]
    under = smooth(*UNDER, down / distance)
    share = 1 - under * (1 - smooth(0.0, feather, distance - inner[angle]))
    faded = picture.copy()
    faded[..., 3] = np.round(alpha * share)
    return faded


def _weighted(picture: U8, sigma: float) -> F32:
    """Colours (H, W, 3) blurred over what is there."""
    weight = picture[..., 3].astype(np.float32) / 255
    total = cv2.GaussianBlur(picture[..., :3] * weight[..., None], (0, 0), sigma)
    return (total / np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-3)[..., None]).astype(np.float32)


def _disc(size: float) -> U8:
    side = max(1, round(size)) | 1
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)).astype(np.uint8, copy=False)


def _layer(color: F32 | F64, alpha: F32 | F64 | U8) -> U8:
    return np.round(np.clip(np.concatenate([color, alpha[..., None]], 2), 0, 255)).astype(np.uint8)
