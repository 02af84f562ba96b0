"""The skin's texture, gathered from pictures of it by several cameras."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .camera import Camera
from .trace import Hits, trace

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Ints = NDArray[np.int64]
U8 = NDArray[np.uint8]

FACING_POWER = 5
"""How quickly a view loses weight as the skin turns away from it."""
DEPTH_SLACK = 0.02
"""How far behind the nearest surface skin still counts as seen, in dm."""
STEP = 0.05
"""Depths that differ more between neighbours are an outline, in dm."""
SHY = 0.0025
"""Within this share of the picture's width of an outline or of another part a view loses weight."""
TONE_TEXELS, FADE_TEXELS, SEAM_TEXELS = 8.0, 11.0, 1.5
"""Widths: what is tone rather than detail, over how much tones fade into each other, and details."""
DETAIL_POWER = 4
LEAST_WEIGHT = 1e-4


@dataclass(frozen=True, slots=True)
class Surface:
    """The skin as one camera saw it: `points` and unit `normals` (V, 3) of its vertices, and everything that
    could hide it as `blockers`, pairs of vertices and triangles. `worth` (V,) weighs what it shows, 1 where
    nothing is said."""

    points: F64
    normals: F64
    blockers: Sequence[tuple[F64, Ints]] = ()
    worth: F64 | None = None


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture (H, W, 4) uint8 with straight alpha, by `camera` of the same size; `priority` weighs it."""

    picture: U8
    camera: Camera
    surface: Surface
    priority: float = 1.0


@dataclass(frozen=True, slots=True)
class _Sample:
    """What one shot gives the texture (S, S): colours, how far it is to be trusted, and its alpha where it
    sees the skin (-1 where not)."""

    color: F32
    weight: F32
    cover: F32


def gather(shots: Sequence[Shot], triangles: Ints, uv: F64, side: int) -> tuple[F32, F32]:
    """Colours (S, S, 3) 0..255 of the whole texture, and how far something covers the skin, (S, S) 0..1.

    Tones fade softly from view to view, details come from the view that sees them best. What no view sees,
    and the gaps between islands, continue what lies around.
    """
    flat = np.concatenate([uv * side, np.ones((len(uv), 1))], 1)
    texels = trace(flat, triangles, (side, side), cull=False)
    samples = [_sample(shot, texels, triangles) for shot in shots]
    return _mixed(samples, texels.seen), _covered(samples)


def shown(shot: Shot, triangles: Ints, uv: F64, texture: U8) -> tuple[U8, NDArray[np.bool_]]:
    """The texture as `shot`'s camera sees it (H, W, 4), and where (H, W) that is skin."""
    hits, skin = _traced(shot, triangles)
    width, height = shot.camera.size
    at = np.zeros((height, width, 2), np.float32)
    own = Hits(np.where(skin, hits.triangle, -1), hits.share, hits.depth)
    at[skin] = own.blend(triangles, uv) * (texture.shape[1], texture.shape[0]) - 0.5
    return cv2.remap(texture, at[..., 0], at[..., 1], cv2.INTER_LINEAR).astype(np.uint8), skin


def psnr(shot: Shot, triangles: Ints, uv: F64, texture: U8) -> float:
    """How well the texture reproduces a shot, in dB, where both show skin only."""
    picture, skin = shown(shot, triangles, uv, texture)
    solid = skin & (shot.picture[..., 3] == 255) & (picture[..., 3] == 255)
    inner = cv2.erode(solid.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    error = picture[inner][:, :3].astype(np.float64) - shot.picture[inner][:, :3]
    return float(10 * np.log10(255**2 / max(np.square(error).mean(), 1e-9)))


def spread(values: F32, weight: F32) -> F32:
    """`values` (H, W, C) continued from where `weight` (H, W) is 1 to where it is 0, coarser with
    distance."""
    if weight.size == 1:
        return values
    half = ((weight.shape[1] + 1) // 2, (weight.shape[0] + 1) // 2)
    share = cv2.resize(weight, half, interpolation=cv2.INTER_AREA)
    coarse = cv2.resize(values * weight[..., None], half, interpolation=cv2.INTER_AREA).reshape(
        *half[::-1], -1
    )
    coarse = coarse / np.maximum(share, 1e-9)[..., None]
    known = np.clip(share * 4, 0, 1).astype(np.float32)
    filled = spread(np.where(share[..., None] > 0, coarse, 0).astype(np.float32), known)
    large = cv2.resize(filled, weight.shape[::-1], interpolation=cv2.INTER_LINEAR).reshape(values.shape)
    return (values * weight[..., None] + large * (1 - weight[..., None])).astype(np.float32)


def _traced(shot: Shot, triangles: Ints) -> tuple[Hits, NDArray[np.bool_]]:
    """What the camera sees of skin and blockers, the skin's triangles first; and where it is skin."""
    surface, meshes = shot.surface, [(shot.surface.points, triangles), *shot.surface.blockers]
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    every = np.concatenate([each + start for (_, each), start in zip(meshes, starts[:-1], strict=True)])
    screen = shot.camera.project(np.concatenate([points for points, _ in meshes]))
    hits = trace(screen, every, shot.camera.size, cull=True)
    assert len(surface.normals) == len(surface.points)
    return hits, (hits.triangle >= 0) & (hits.triangle < len(triangles))


def _sample(shot: Shot, texels: Hits, triangles: Ints) -> _Sample:
    hits, skin = _traced(shot, triangles)
    trust = _trust(hits, skin) * (shot.picture[..., 3].astype(np.float32) / 255) ** 2
    seen = texels.seen
    points = texels.blend(triangles, shot.surface.points)
    normals = texels.blend(triangles, shot.surface.normals)
    screen = shot.camera.project(points)
    toward = shot.camera.position - points
    facing = (normals * toward).sum(1) / np.maximum(np.linalg.norm(toward, axis=1), 1e-9)
    at = np.zeros((*seen.shape, 2), np.float32)
    at[seen] = screen[:, :2] - 0.5
    color = cv2.remap(shot.picture, at[..., 0], at[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    nearest = np.where(np.isfinite(hits.depth), hits.depth, np.float32(1e6))
    depth = cv2.remap(nearest, at[..., 0], at[..., 1], cv2.INTER_NEAREST, borderValue=-1.0)
    trusted = cv2.remap(trust, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderValue=0.0)
    visible = np.zeros(seen.shape, bool)
    slope = np.clip(np.sqrt(np.maximum(1 - facing**2, 0)) / np.maximum(facing, 0.1), 0, 6)
    visible[seen] = (screen[:, 2] < depth[seen] + DEPTH_SLACK * (1 + 0.5 * slope)) & (facing > 0.02)
    weight = np.zeros(seen.shape, np.float32)
    weight[seen] = np.clip(facing, 0, 1) ** FACING_POWER * shot.priority
    if shot.surface.worth is not None:
        weight[seen] *= texels.blend(triangles, shot.surface.worth[:, None])[:, 0]
    cover = np.where(visible & (weight > 0), color[..., 3].astype(np.float32) / 255, -1)
    return _Sample(color[..., :3].astype(np.float32), weight * trusted * visible, cover.astype(np.float32))


def _trust(hits: Hits, skin: NDArray[np.bool_]) -> F32:
    """0 at outlines and at the edges of other parts, 1 some pixels away, (H, W)."""
    depth = np.where(np.isfinite(hits.depth), hits.depth, np.float32(1e3)).astype(np.float32)
    kernel = np.ones((3, 3), np.uint8)
    smooth = (cv2.dilate(depth, kernel) - cv2.erode(depth, kernel) < STEP) & skin
    distance = cv2.distanceTransform(smooth.astype(np.uint8), cv2.DIST_L2, 5)
    return np.clip(distance / max(1.5, SHY * depth.shape[1]), 0, 1).astype(np.float32)


def _mixed(samples: Sequence[_Sample], seen: NDArray[np.bool_]) -> F32:
    mask = seen.astype(np.float32)
    tones, details, shares = [], [], []
    total = np.maximum(np.sum([sample.weight for sample in samples], axis=0), LEAST_WEIGHT)
    for sample in samples:
        known = (sample.weight > LEAST_WEIGHT).astype(np.float32)
        amount = _blurred(known, TONE_TEXELS)
        tone = _blurred(sample.color * known[..., None], TONE_TEXELS) / np.maximum(amount, 1e-6)[..., None]
        tones.append(tone)
        details.append((sample.color - tone) * known[..., None])
        shares.append(_blurred(sample.weight / total, FADE_TEXELS) * (amount > 1e-3))
    tone = _average(tones, shares)
    sharp = np.stack([sample.weight for sample in samples]) ** DETAIL_POWER
    sharp /= np.maximum(sharp.sum(0), 1e-30)
    soft = [
        _blurred(share, SEAM_TEXELS) * (sample.weight > LEAST_WEIGHT)
        for share, sample in zip(sharp, samples, strict=True)
    ]
    color = tone + _average(details, soft)
    best = np.max([sample.weight for sample in samples], axis=0)
    known = np.clip(best / LEAST_WEIGHT - 1, 0, 1).astype(np.float32) * mask
    return np.clip(spread(color.astype(np.float32), known), 0, 255)


def _average(values: Sequence[F32], weights: Sequence[F32]) -> F32:
    total = np.maximum(np.sum(weights, axis=0), 1e-12)
    return (
        np.sum([v * w[..., None] for v, w in zip(values, weights, strict=True)], axis=0) / total[..., None]
    ).astype(np.float32)


def _blurred(values: F32, texels: float) -> F32:
    return cv2.GaussianBlur(values.astype(np.float32), (0, 0), texels).astype(np.float32)


def _covered(samples: Sequence[_Sample]) -> F32:
    """How far other things cover the skin in the shots that see it, continued to where none does, (S, S)."""
    weight = np.stack([np.where(sample.cover >= 0, 1.0, 0.0) for sample in samples])
    total = weight.sum(0)
    mean = (weight * np.stack([sample.cover for sample in samples])).sum(0) / np.maximum(total, 1e-9)
    free = spread(mean[..., None].astype(np.float32), (total > 0).astype(np.float32))
    return 1 - np.clip(free.reshape(free.shape[:2]), 0, 1)


PRIORITIES: Final[Mapping[str, float]] = {"front": 1.0, "left": 0.8, "right": 0.8, "low": 0.3, "open": 0.05}
"""The views by how much they count where several see the skin equally well."""
