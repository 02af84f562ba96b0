"""The skin's texture of a presenter, from the rendered layers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from . import complexion, places, scruff, touch, whiskers
from .atlas import PRIORITIES, Shot, Surface, gather, spread
from .base import F64, smooth
from .camera import MASTER, VIEWS, Camera
from .grade import crisp, graded
from .lidtone import lidded, lined, smoothed
from .looks import LOOKS
from .mouth import halves
from .person import EXPRESSIONS, Person
from .piece import Piece
from .shade import evened
from .skinmesh import SIDE, Skin
from .trace import trace
from .umber import muted

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

COLLAR = (-0.82, -0.60)
"""Heights above the chin between which the neck fades into the plate's, in dm."""
RIM = (0.01, 0.09)
"""Distances from the mesh's lower end over which the neck fades out too, in dm."""
LEAST_OVERLAP = 0.98
"""Of the head's outline in the layers and in the mesh; a slightly older shape gave 0.964, the right one
0.997."""
HAIRED = ("front", "left", "right")
"""The views that have a layer of hair."""
DENSE_PX, SCALP_ABOVE_EYES = 10, 0.35
"""How far inside the hair, in master pixels, and how far above the eyes, in dm, it counts as dense."""
HAIR_FADE = 8.0
"""Over how many times that its tone sets in upwards."""
PARTING_PX, PARTING = 16, 0.5
"""Half the width of a gap in hair, in master pixels, and how much of the hair's tone the scalp has in it."""
NEAR_HAIR_PX, SOFT_HAIR_PX = 32, 11.0
"""How far from hair its shade reaches, and over how much the skin takes on its tone, in master pixels."""
BEARD_FROM: Final = (0.10, 0.40)
"""How far below the eyes hair gives way to beard, in dm."""
INNER = ("helper-upper-teeth", "helper-lower-teeth", "helper-tongue")
"""What the layers show in an open mouth."""
CONTACT, CONTACT_WORTH = (0.030, 0.065), 0.004
"""Distances in dm within which lips shade each other, and what a picture of them is worth then."""
CORNER_DM: Final = (0.30, 0.01, -0.19)
"""The left corner of a bearded mouth from its middle."""
LID_TRAVEL, LID_WORTH = (0.015, 0.06), 0.02
"""Travel in a blink, in dm, that makes skin a lid, and what a picture of the open eye is worth there."""
EYE_DM: Final = (0.45, 0.30)
"""Distances from the middle of an eye between which what concerns its lids sets in."""
HEM_TEXELS = 5
"""Over how much clothes' edges grow on the neck and soften: texels there show a little of both."""
CRISP_TEXELS, CRISP = 1.3, 0.7
"""Width in texels of the detail that is strengthened, and by how much."""
BARE: Final = (0.02, 0.15)
COVERED: Final = (0.05, 0.60)
"""Shares of the pictures in which clothes cover a place on the neck: from bare skin to none, and up to where
none is drawn."""
CLOTHES_TOP = (0.10, -0.04)
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
    rest = _rest_worth(person)[skin.origin]
    for view in VIEWS:
        picture = read_picture(layers / f"{view}_skin.png")
        picture = muted(picture) if view in HAIRED else picture
        camera = layer_camera(person, view, picture)
        if view == "front":
            _check_outline(person, picture, camera)
        points = person.limit(person.seen(view))
        picture = whiskers.one_tone(
            person, picture, points[skin.origin], skin.piece.triangles, skin.origin, camera
        )
        if view in HAIRED:
            hair = read_picture(layers / f"{view}_hair.png")
            grade = LOOKS[person.cast.name].hair.grade
            hair = graded(hair, grade) if grade else hair
            if LOOKS[person.cast.name].beard:
                picture = _greyed(person, picture, hair, camera)
            else:
                picture = evened(person, picture, picture, camera)
            picture = _haired(person, picture, hair, camera)
        weights = EXPRESSIONS.get(view, {})
        blockers = [(_posed(piece, weights), piece.triangles) for piece in pieces]
        blockers += [(points, halves(person.faces(group))) for group in INNER]
        worth = None if view == "open" else rest
        surface = Surface(points[skin.origin], person.normals(points)[skin.origin], blockers, worth)
        shots[view] = Shot(picture, camera, surface, PRIORITIES[view])
    return shots


def skin_texture(person: Person, skin: Skin, shots: Mapping[str, Shot]) -> U8:
    """The texture (S, S, 4) RGBA; it fades out towards the collar and the mesh's end, and where clothes lie
    over the neck."""
    piece = skin.piece
    color, cover = gather(list(shots.values()), piece.triangles, piece.uv, SIDE)
    shut, _ = gather([shots["open"]], piece.triangles, piece.uv, SIDE)
    eyes = _about_eyes(person, skin)
    color = lidded(color, shut, *eyes)
    color = _touched(person, skin, color)
    above = _continued(piece, piece.vertices[:, 1] - person.landmarks.chin[1])
    neck = smooth(*CLOTHES_TOP, above)
    bare = (1 - smooth(*BARE, cover.astype(np.float64))).astype(np.float32)
    color = color + (spread(color, bare) - color) * neck[..., None].astype(np.float32)
    color = smoothed(_porous(person, skin, crisp(color, CRISP_TEXELS, CRISP)), *eyes)
    color = lined(color, *eyes, _shut(person, skin), np.stack(person.landmarks.eyes))
    if LOOKS[person.cast.name].beard is not None:
        color = _closed_beard(person, skin, color)
    cover = cv2.blur(cv2.dilate(cover, np.ones((HEM_TEXELS, HEM_TEXELS), np.uint8)), (HEM_TEXELS, HEM_TEXELS))
    alpha = smooth(*COLLAR, above) * (1 - neck * smooth(*COVERED, cover.astype(np.float64)))
    alpha = alpha * smooth(*RIM, _continued(piece, _to_rim(skin, person.landmarks.chin[1])))
    return np.round(np.concatenate([color, 255 * alpha[..., None]], 2)).astype(np.uint8)


def _touched(person: Person, skin: Skin, color: F32) -> F32:
    """The texture `color` (S, S, 3) with ears, brows and the lips under a moustache
    retouched."""
    points, origin = skin.piece.vertices, skin.origin
    ear = places.ear_share(person, origin)
    mine = ear > 0
    hollow = np.zeros(len(points))
    normals = person.normals(person.limit(person.rest))[origin]
    hollow[mine] = places.hollows(points[mine], normals[mine])
    parts = (
        ear,
        hollow,
        places.cheeks(person, points),
        places.about_brows(person, points),
        places.grey_brows(person, points),
    )
    ear, hollow, cheek, brow, grey = (_continued(skin.piece, part) for part in parts)
    place = np.stack([_continued(skin.piece, each) for each in points.T], 2)
    color = touch.browed(touch.eared(color, ear, hollow, cheek), brow, places.twins(place, brow), grey)
    upper, lower = (_continued(skin.piece, part[origin]) for part in places.lips(person))
    if LOOKS[person.cast.name].beard is None:
        return touch.dull(color, lower)
    return touch.lipped(color, upper, lower)


def _porous(person: Person, skin: Skin, color: F32) -> F32:
    """The texture `color` (S, S, 3) with what skin shows from near."""
    normals = person.normals(person.limit(person.rest))[skin.origin]
    place, normal = (
        np.stack([_continued(skin.piece, each) for each in part.T], 2)
        for part in (skin.piece.vertices, normals)
    )
    normal /= np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-9)
    red = smooth(0.2, 0.6, np.maximum(person.lips, person.inside))
    parts = (red, *places.lips(person))
    mouth, upper, lower = (_continued(skin.piece, part[skin.origin]) for part in parts)
    if LOOKS[person.cast.name].beard is not None:
        flat = place.reshape(-1, 3)
        density = whiskers.beard_density(person, LOOKS[person.cast.name].beard)(flat)
        free = places.stubbly(person, flat) * (1 - mouth.ravel())
        side = color.shape[:2]
        color = scruff.scruffy(color, density.reshape(side), free.reshape(side), place)
    shown = complexion.skinned(person, color.astype(np.float64), place, normal, mouth, upper, lower)
    shown = complexion.nostrils(person, shown, place)
    if LOOKS[person.cast.name].beard is None:
        shown = complexion.under_hair(person, shown, place, normal)
    return np.clip(shown, 0, 255).astype(np.float32)


def _falling(person: Person) -> F64:
    """How far a blink of both eyes moves each vertex (V,) of the body down, in dm; up is negative."""
    count = len(person.rest)
    return -np.sum([person.units[f"eyeBlink{side}"].spread(count)[:, 1] for side in ("Left", "Right")], 0)


def _closed_beard(person: Person, skin: Skin, color: F32) -> F32:
    """The texture `color` (S, S, 3) with a beard around the corners of the mouth."""
    lip = np.maximum(*places.lips(person))[skin.origin]
    away = skin.piece.vertices - person.landmarks.mouth
    away[:, 0] = np.abs(away[:, 0])
    corner = np.stack([_continued(skin.piece, each) for each in (away - np.array(CORNER_DM)).T], 2)
    shown = np.clip(_continued(skin.piece, lip), 0, 1)
    return touch.cornered(color, np.linalg.norm(corner, axis=2), shown)


def _shut(person: Person, skin: Skin) -> F64:
    """Where each texel (S, S, 3) is once a blink has shut the eyes."""
    blinks = [person.units[f"eyeBlink{side}"].spread(len(person.rest)) for side in ("Left", "Right")]
    points = person.limit(person.rest) + person.limit(np.sum(blinks, axis=0))
    return np.stack([_continued(skin.piece, each) for each in points[skin.origin].T], 2)


def _about_eyes(person: Person, skin: Skin) -> tuple[F64, F64, NDArray[np.bool_]]:
    """How far a blink lowers each texel (S, S), 1 around the eyes and 0 elsewhere, and where is no skin."""
    piece = skin.piece
    eyes = np.stack(person.landmarks.eyes)
    away = np.linalg.norm(piece.vertices[:, None] - eyes, axis=2).min(1)
    flat = np.concatenate([piece.uv * SIDE, np.ones((len(piece.uv), 1))], 1)
    hole = ~trace(flat, piece.triangles, (SIDE, SIDE), cull=False).seen
    fall, near = (_continued(piece, each) for each in (_falling(person)[skin.origin], smooth(*EYE_DM, away)))
    return fall, near, hole


def _check_outline(person: Person, picture: U8, camera: Camera) -> None:
    """Refuse a front view of another shape than the person has: above the mouth its outline must be the
    same."""
    points = person.limit(person.rest)
    faces = np.concatenate([person.faces(group) for group in ("body", "helper-l-eye", "helper-r-eye")])
    below = int(camera.project(person.landmarks.mouth)[1])
    mine = trace(camera.project(points), halves(faces), camera.size, cull=True).seen[:below]
    drawn = picture[:below, :, 3] > 128
    if (mine & drawn).sum() < LEAST_OVERLAP * (mine | drawn).sum():
        raise SystemExit(
            f"the layers of {person.cast.name} show another shape than cast.py has; render them again"
        )


def _haired(person: Person, skin: U8, hair: U8, camera: Camera) -> U8:
    """Layer `skin` with the hair laid on the scalp where it is dense, so that a scalp that comes into sight
    at the top of a nodding head has the hair's colour, and some of it in the narrow gap of a parting."""
    solid = (hair[..., 3] > 250).astype(np.uint8)
    depth = max(1, round(DENSE_PX * camera.size[0] / MASTER[0]))
    dense = cv2.erode(solid, np.ones((2 * depth + 1,) * 2, np.uint8)).astype(np.float32)
    dense = cv2.blur(dense, (depth, depth))
    height = person.landmarks.between + np.array([0, SCALP_ABOVE_EYES, 0])
    rows = np.arange(camera.size[1]) - camera.project(height)[1]
    high = np.clip(-rows / (HAIR_FADE * depth), 0, 1)[:, None].astype(np.float32)
    dense *= high
    side = 2 * round(PARTING_PX * camera.size[0] / MASTER[0]) + 1
    gap = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8)).astype(np.float32)
    gap = cv2.GaussianBlur(gap, (0, 0), depth / 3) * high
    locks = spread(hair[..., :3].astype(np.float32), solid.astype(np.float32))
    mixed = skin.astype(np.float32)
    mixed[..., :3] += (locks - mixed[..., :3]) * np.maximum(dense, PARTING * gap)[..., None]
    return np.round(mixed).astype(np.uint8)


def _greyed(person: Person, skin: U8, hair: U8, camera: Camera) -> U8:
    """Layer `skin` without the dark scalp and the shade at the edge of short pale hair, above the beard: skin
    of the face's tone goes over softly into the tone of the hair, so that no line shows between the two."""
    scale = camera.size[0] / MASTER[0]
    own, alpha = skin[..., :3].astype(np.float32), hair[..., 3].astype(np.float32) / 255
    side = 2 * round(NEAR_HAIR_PX * scale) + 1
    near = cv2.dilate(alpha, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    bare = (near < 0.05) & (skin[..., 3] == 255)
    known = cv2.erode(bare.astype(np.float32), np.ones((3, 3), np.uint8)).astype(np.float32)
    face = spread(own, known)
    locks = spread(hair[..., :3].astype(np.float32), (alpha > 0.9).astype(np.float32))
    cover = cv2.GaussianBlur(alpha, (0, 0), SOFT_HAIR_PX * scale)[..., None]
    tone = face * (1 - cover) + locks * cover
    darker = np.clip((tone.mean(2) - own.mean(2)) / (0.15 * np.maximum(tone.mean(2), 1.0)), 0, 1)
    middle = person.landmarks.between
    high, low = (camera.project(middle - np.array([0, down, 0]))[1] for down in BEARD_FROM)
    rows = np.clip((low - np.arange(len(own))) / (low - high), 0, 1)[:, None]
    share = cv2.GaussianBlur((np.maximum(darker, cover[..., 0]) * near).astype(np.float32), (0, 0), 2 * scale)
    mixed = skin.astype(np.float32)
    mixed[..., :3] += (tone - own) * (np.clip(share, 0, 1) * rows)[..., None]
    return np.round(np.clip(mixed, 0, 255)).astype(np.uint8)


def _rest_worth(person: Person) -> F64:
    """What pictures of the face at rest are worth at each vertex (V,) of the body: little where one lip lies
    on the other and shades it, less than usual on lids, which are folded then."""
    points = person.limit(person.rest)
    mouth = np.flatnonzero((person.lips > 0.2) | (person.inside > 0.2))
    drop = -person.units["jawOpen"].spread(len(points))[mouth, 1]
    lips = mouth[drop < 0.15], mouth[drop >= 0.15]
    worth = np.ones(len(points))
    for mine, other in (lips, lips[::-1]):
        distance, _ = cKDTree(points[other]).query(points[mine])
        worth[mine] = CONTACT_WORTH + (1 - CONTACT_WORTH) * smooth(*CONTACT, distance)
    blink = [person.units[f"eyeBlink{side}"].spread(len(points)) for side in ("Left", "Right")]
    lid = smooth(*LID_TRAVEL, np.linalg.norm(np.sum(blink, axis=0), axis=1))
    return worth * (1 - (1 - LID_WORTH) * lid)


def _posed(piece: Piece, weights: Mapping[str, float]) -> F64:
    points = piece.vertices.copy()
    for name, delta in piece.shapes.items():
        points += weights.get(name, 0.0) * delta
    return points


def _to_rim(skin: Skin, chin: float) -> F64:
    """How far each vertex (V,) is from where the mesh ends below the chin, in dm."""
    corner = skin.origin[skin.piece.triangles]
    edges = np.sort(np.concatenate([corner[:, (0, 1)], corner[:, (1, 2)], corner[:, (2, 0)]]), 1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    rim = np.isin(skin.origin, unique[count == 1]) & (skin.piece.vertices[:, 1] < chin)
    distance, _ = cKDTree(skin.piece.vertices[rim]).query(skin.piece.vertices)
    return np.asarray(distance, np.float64)


def _continued(piece: Piece, values: F64) -> F64:
    """What each texel (S, S) has of the skin's `values` (V,), continued beyond the islands."""
    flat = np.concatenate([piece.uv * SIDE, np.ones((len(piece.uv), 1))], 1)
    texels = trace(flat, piece.triangles, (SIDE, SIDE), cull=False)
    whole = np.zeros((SIDE, SIDE, 1), np.float32)
    whole[texels.seen] = texels.blend(piece.triangles, values[:, None])
    return spread(whole, texels.seen.astype(np.float32)).reshape(SIDE, SIDE).astype(np.float64)
