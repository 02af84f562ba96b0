"""The skin's texture of a presenter, from the rendered layers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import PRIORITIES, Shot, Surface, gather, spread
from .base import F64
from .camera import MASTER, VIEWS, Camera
from .person import EXPRESSIONS, Person, smooth
from .piece import Piece
from .skinmesh import SIDE, Skin
from .trace import trace

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

COLLAR = (-0.82, -0.60)
"""Heights above the chin between which the neck fades into the plate's, in dm."""
CLOTHES_TOP = (-0.06, -0.22)
"""Heights above the chin below which clothes may cover the neck, in dm."""


def read_picture(path: Path) -> U8:
    """A layer (H, W, 4) uint8 RGBA."""
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.ndim != 3 or picture.shape[2] != 4:
        raise SystemExit(f"{path} is missing or has no alpha; render the layers first")
    return np.ascontiguousarray(picture[..., (2, 1, 0, 3)]).astype(np.uint8, copy=False)


def layer_camera(person: Person, view: str, picture: U8) -> Camera:
    """The camera of `view` for a layer that is a scaled master frame."""
    camera = person.camera(view).scaled(picture.shape[1] / MASTER[0])
    if camera.size != picture.shape[1::-1]:
        raise SystemExit(
            f"a layer of view {view} has {picture.shape[1::-1]} pixels, not {camera.size}; render it again"
        )
    return camera


def skin_shots(person: Person, skin: Skin, pieces: Sequence[Piece], layers: Path) -> dict[str, Shot]:
    """The skin layers of all views; `pieces` are what else the face holds and may hide it."""
    shots: dict[str, Shot] = {}
    for view in VIEWS:
        picture = read_picture(layers / f"{view}_skin.png")
        weights = EXPRESSIONS.get(view, {})
        points = person.limit(person.seen(view))
        blockers = [(_posed(piece, weights), piece.triangles) for piece in pieces]
        surface = Surface(points[skin.origin], person.normals(points)[skin.origin], blockers)
        shots[view] = Shot(picture, layer_camera(person, view, picture), surface, PRIORITIES[view])
    return shots


def skin_texture(person: Person, skin: Skin, shots: Sequence[Shot]) -> U8:
    """The texture (S, S, 4) RGBA; it fades out towards the collar and where clothes lie over the neck."""
    piece = skin.piece
    color, cover = gather(shots, piece.triangles, piece.uv, SIDE)
    above = _heights(piece) - person.landmarks.chin[1]
    alpha = smooth(*COLLAR, above) * (1 - smooth(*CLOTHES_TOP, above) * cv2.blur(cover, (3, 3)))
    return np.round(np.concatenate([color, 255 * alpha[..., None]], 2)).astype(np.uint8)


def _posed(piece: Piece, weights: Mapping[str, float]) -> F64:
    points = piece.vertices.copy()
    for name, delta in piece.shapes.items():
        points += weights.get(name, 0.0) * delta
    return points


def _heights(piece: Piece) -> F32:
    """Height (S, S) of the skin at each texel, continued beyond the islands."""
    flat = np.concatenate([piece.uv * SIDE, np.ones((len(piece.uv), 1))], 1)
    texels = trace(flat, piece.triangles, (SIDE, SIDE), cull=False)
    height = np.zeros((SIDE, SIDE, 1), np.float32)
    height[texels.seen] = texels.blend(piece.triangles, piece.vertices[:, 1:2])
    return spread(height, texels.seen.astype(np.float32)).reshape(SIDE, SIDE)
