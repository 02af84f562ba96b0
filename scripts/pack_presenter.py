"""Pack a folder of rendered layers into an avatar folder.

    python scripts/pack_presenter.py LAYERS AVATAR --title "Ruby"

LAYERS holds head.npz, neutral.png, plate_clean.png, portrait_plate_clean.webp and tex_*.webp, all drawn by
one camera.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from visavis.render import avatar as folder
from visavis.render.rig import raster
from visavis.render.rig.units import UNITS

SIZES = ((720, 1280), (512, 512))
SQUARE_CUT = (128, 100, 896, 868)
TEXTURE_FILES = {
    folder.HEAD: "tex_head.webp",
    folder.HEAD_CLOSED: "tex_head_closed.webp",
    folder.HAIR: "tex_hair.webp",
    folder.HAIR_BACK: "tex_hair_back.webp",
}
HAIR_PART, BACK_PART = 6, 7
CARD_STEP = 16
"""Grid of the card behind the head, in master pixels."""
NECK_SEARCH_PX, NECK_MARGIN_PX, NECK_BEHIND, NECK_BELOW_MOUTH = 170, 3, 0.12, 0.15
"""How far below the jaw its neck is looked for, how far below its edge it is sampled, and how far behind it
lies."""
FEATHER = 14
FRINGE_PX, FRINGE_ALPHA = 5, 40
"""Least width of what may lie beside the mesh, in master pixels, and its least alpha."""
SWING_DEG = (14.0, 12.0, 13.0)
"""Yaw, pitch and roll that the crop must hold."""
FACE_SLIP_PX, HAIR_SLIP_PX, SCALP_SLIP_PX = 56, 30, 44
"""How far the card can slide behind the face and behind the hair, and the scalp under the hair."""

F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Mesh:
    """The rig as it is packed: see `Avatar.tensors`; `shapes` (52, V, 3)."""

    vertices: F32
    triangles: NDArray[np.int64]
    parts: NDArray[np.uint8]
    uv: F32
    uv_closed: F32
    inside: NDArray[np.bool_]
    head_weight: NDArray[np.uint8]
    shapes: NDArray[np.int16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("layers", type=Path)
    parser.add_argument("avatar", type=Path)
    parser.add_argument("--title", required=True)
    options = parser.parse_args()
    pack(options.layers, options.avatar, options.title)


def pack(layers: Path, target: Path, title: str) -> None:
    """Write the avatar folder `target`, replacing what it held."""
    target.mkdir(parents=True, exist_ok=True)
    source = dict(np.load(layers / "head.npz"))
    camera, lens = _camera(source)
    mesh = _mesh(source)
    _write_textures(layers, target, mesh, camera, lens)
    alpha = {name: _read(target / name)[..., 3] for name in TEXTURE_FILES}
    mesh = _under_the_jaw(mesh, camera, lens, float(source["mouth"][1]) - NECK_BELOW_MOUTH)
    mesh = _card_grid(mesh, alpha[folder.HAIR_BACK], camera, lens)
    mesh = _trimmed(mesh, alpha, source)
    (target / folder.TENSORS).write_bytes(safetensors.numpy.save(_tensors(mesh, source)))
    views = [_view(size, mesh, source) for size in SIZES]
    _write_plates(layers, target, source)
    _write_preview(layers, target)
    names = sorted(entry.name for entry in target.iterdir() if entry.name != folder.MANIFEST)
    manifest = {
        "schema": folder.SCHEMA,
        "kind": "rig",
        "name": target.name,
        "title": title,
        "frames": 1,
        "units": list(UNITS),
        "views": views,
        "files": {name: hashlib.sha256((target / name).read_bytes()).hexdigest() for name in names},
    }
    (target / folder.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    size = sum(entry.stat().st_size for entry in target.iterdir())
    print(f"{target}: {len(mesh.vertices)} vertices, {len(mesh.triangles)} triangles, {size / 1e6:.2f} MB")


def _write_textures(layers: Path, target: Path, mesh: Mesh, camera: F32, lens: F32) -> None:
    """Copy the layers; what the head's picture has beside its mesh, such as a beard, goes to the card behind
    it."""
    for name, file in TEXTURE_FILES.items():
        (target / name).write_bytes((layers / file).read_bytes())
    body = np.ascontiguousarray(mesh.triangles[mesh.parts == 0].astype(np.int32))
    side = int(lens[3])
    covered = _depths(_project(mesh.vertices, camera, lens), body, side) < raster.FAR
    head, back = (
        _read(layers / TEXTURE_FILES[name]).astype(np.float32) for name in (folder.HEAD, folder.HAIR_BACK)
    )
    fringe = (~covered & (head[..., 3] > FRINGE_ALPHA)).astype(np.uint8)
    thick = cv2.morphologyEx(fringe, cv2.MORPH_OPEN, np.ones((FRINGE_PX, FRINGE_PX), np.uint8))
    near = cv2.blur(
        cv2.dilate(thick, np.ones((2 * FRINGE_PX + 1,) * 2, np.uint8)).astype(np.float32), (FRINGE_PX,) * 2
    )
    above = head[..., 3:] / 255 * near[..., None]
    below = back[..., 3:] / 255 * (1 - above)
    cover = above + below
    color = (head[..., :3] * above + back[..., :3] * below) / np.maximum(cover, 1e-3)
    merged = np.concatenate([color, cover * 255], 2).round().astype(np.uint8)
    cv2.imwrite(str(target / folder.HAIR_BACK), merged, [cv2.IMWRITE_WEBP_QUALITY, 92])


def _read(path: Path) -> NDArray[np.uint8]:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise SystemExit(f"{path} is missing or no picture; render the layers first")
    return image.astype(np.uint8, copy=False)


def _mesh(source: dict[str, NDArray[np.generic]]) -> Mesh:
    side = float(source["cam_f_cx_cy_size"][3])
    count = len(source["v"])
    shapes = np.zeros((len(UNITS), count, 3), np.int16)
    for k, name in enumerate(UNITS):
        shapes[k, source[f"i_{name}"]] = source[f"d_{name}"]
    return Mesh(
        vertices=source["v"].astype(np.float32),
        triangles=source["t"].astype(np.int64),
        parts=source["p"].astype(np.uint8),
        uv=source["uv"].astype(np.float32) * np.float32(side),
        uv_closed=source["uv_closed"].astype(np.float32) * np.float32(side),
        inside=source["inside"].astype(np.bool_),
        head_weight=source["headw"].astype(np.uint8),
        shapes=shapes,
    )


def _card_grid(mesh: Mesh, alpha: NDArray[np.uint8], camera: F32, lens: F32) -> Mesh:
    """`mesh` with the card behind the head as a grid that covers only where its layer has hair."""
    old = np.unique(mesh.triangles[mesh.parts == BACK_PART])
    grid = np.arange(0, alpha.shape[0] + 1, CARD_STEP)
    index = np.arange(len(grid) ** 2).reshape(len(grid), len(grid)) + len(mesh.vertices)
    cells = [
        (index[r, c], index[r + 1, c], index[r + 1, c + 1], index[r, c + 1])
        for r in range(len(grid) - 1)
        for c in range(len(grid) - 1)
        if alpha[max(0, grid[r] - 1) : grid[r + 1] + 1, max(0, grid[c] - 1) : grid[c + 1] + 1].max(initial=0)
        > 3
    ]
    quads = np.array(cells).reshape(-1, 4)
    halves = np.concatenate([quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]])
    x, y = np.meshgrid(grid, grid)
    uv = np.stack([x, y], -1).reshape(-1, 2).astype(np.float32)
    depth = float(_project(mesh.vertices[old], camera, lens)[:, 2].mean())
    ahead = (uv - lens[1:3]) / lens[0] * (1, -1)
    points = camera[0] + depth * (camera[3] + ahead[:, :1] * camera[1] + ahead[:, 1:] * camera[2])
    order = np.argsort(mesh.vertices[old, 1])
    weight = np.interp(
        points[:, 1], mesh.vertices[old[order], 1], mesh.head_weight[old[order]].astype(np.float64)
    )
    keep = mesh.parts != BACK_PART
    return Mesh(
        vertices=np.concatenate([mesh.vertices, points.astype(np.float32)]),
        triangles=np.concatenate([mesh.triangles[keep], halves]),
        parts=np.concatenate([mesh.parts[keep], np.full(len(halves), BACK_PART, np.uint8)]),
        uv=np.concatenate([mesh.uv, uv]),
        uv_closed=np.concatenate([mesh.uv_closed, uv]),
        inside=np.concatenate([mesh.inside, np.zeros(len(uv), np.bool_)]),
        head_weight=np.concatenate([mesh.head_weight, np.round(weight).astype(np.uint8)]),
        shapes=np.concatenate([mesh.shapes, np.zeros((len(UNITS), len(uv), 3), np.int16)], 1),
    )


def _under_the_jaw(mesh: Mesh, camera: F32, lens: F32, top: float) -> Mesh:
    """`mesh` with the neck behind the chin textured from the neck just below, not from the chin in front of
    it."""
    body = np.ascontiguousarray(mesh.triangles[mesh.parts == 0].astype(np.int32))
    screen = _project(mesh.vertices, camera, lens)
    front = _depths(screen, body, int(lens[3]))
    used = np.unique(body)
    used = used[mesh.vertices[used, 1] < top]
    x = np.clip(screen[used, 0].astype(int), 0, front.shape[1] - 1)
    uv = mesh.uv.copy()
    for vertex, column in zip(used, x, strict=True):
        row, depth = int(screen[vertex, 1]), float(screen[vertex, 2])
        if not 0 < row < front.shape[0] - NECK_SEARCH_PX or depth < front[row, column] + NECK_BEHIND:
            continue
        below = np.flatnonzero(np.abs(front[row : row + NECK_SEARCH_PX, column] - depth) < NECK_BEHIND)
        if len(below):
            uv[vertex, 1] = row + below[0] + NECK_MARGIN_PX
    return replace(mesh, uv=uv, uv_closed=np.where(uv != mesh.uv, uv, mesh.uv_closed))


def _depths(screen: F32, triangles: NDArray[np.int32], side: int) -> F32:
    """The z-buffer (side, side) of a mesh at rest, in model units along the view."""
    depth = np.full(side * side, raster.FAR, np.float32)
    out = np.zeros(side * side, np.uint32)
    count = len(screen)
    solid = np.full(5 * 4, 0xFFFFFFFF, np.uint32)
    none = np.zeros((2, 2), np.float32)
    kinds = np.zeros(len(triangles), np.uint8)
    uv = np.full((count, 2), 0.5, np.float32)
    tone, bias = np.zeros((count, 3), np.float32), np.zeros(6, np.float32)
    raster.draw(
        screen,
        triangles,
        kinds,
        kinds,
        uv,
        uv,
        solid,
        2,
        none[0],
        none,
        tone,
        bias,
        out,
        out,
        depth,
        side,
    )
    return depth.reshape(side, side)


def _trimmed(mesh: Mesh, alpha: dict[str, NDArray[np.uint8]], source: dict[str, NDArray[np.generic]]) -> Mesh:
    """`mesh` without what never shows: triangles with no alpha, always covered, or with nothing that moves
    them."""
    hair = alpha[folder.HAIR]
    layer = {
        0: np.where(_covered(hair, SCALP_SLIP_PX), 0, alpha[folder.HEAD]),
        HAIR_PART: hair,
        BACK_PART: np.where(
            _covered(hair, HAIR_SLIP_PX) | _covered(alpha[folder.HEAD], FACE_SLIP_PX),
            0,
            alpha[folder.HAIR_BACK],
        ),
    }
    moving = (mesh.head_weight > 0) | mesh.shapes.any((0, 2))
    corner = mesh.uv[mesh.triangles]
    low = np.floor(corner.min(1)).astype(int) - 1
    high = np.ceil(corner.max(1)).astype(int) + 2
    keep = ~_always_behind(mesh, source)
    for k, part in enumerate(mesh.parts):
        if part in (0, HAIR_PART, BACK_PART) and not mesh.inside[mesh.triangles[k]].any():
            seen = layer[int(part)][
                max(0, low[k, 1]) : max(0, high[k, 1]), max(0, low[k, 0]) : max(0, high[k, 0])
            ]
            keep[k] &= bool((seen > 3).any()) and bool(moving[mesh.triangles[k]].any())
    used = np.unique(mesh.triangles[keep])
    place = np.full(len(mesh.vertices), -1)
    place[used] = np.arange(len(used))
    return Mesh(
        vertices=mesh.vertices[used],
        triangles=place[mesh.triangles[keep]],
        parts=mesh.parts[keep],
        uv=mesh.uv[used],
        uv_closed=mesh.uv_closed[used],
        inside=mesh.inside[used],
        head_weight=mesh.head_weight[used],
        shapes=mesh.shapes[:, used],
    )


def _covered(alpha: NDArray[np.uint8], slip_px: int) -> NDArray[np.bool_]:
    """Where `alpha` is solid for `slip_px` in every direction."""
    solid = cv2.morphologyEx((alpha > 250).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    side = 2 * slip_px + 1
    return cv2.erode(solid, np.ones((side, side), np.uint8)) > 0


def _tensors(mesh: Mesh, source: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    camera, lens = _camera(source)
    chosen = [np.nonzero(shape.any(1))[0] for shape in mesh.shapes]
    return {
        "vertices": mesh.vertices,
        "uv": mesh.uv,
        "uv_closed": mesh.uv_closed,
        "inside": mesh.inside.astype(np.uint8),
        "head_weight": mesh.head_weight,
        "triangles": mesh.triangles.astype(np.uint16),
        "parts": mesh.parts,
        "shape_start": np.cumsum([0, *(len(each) for each in chosen)]).astype(np.int32),
        "shape_vertex": np.concatenate(chosen).astype(np.uint16),
        "shape_delta": np.concatenate([mesh.shapes[k, each] for k, each in enumerate(chosen)]),
        "camera": camera,
        "lens": lens,
        "pivot": source["pivot"].astype(np.float32),
        "mouth": source["mouth"].astype(np.float32),
        "eyes": source["eyes"].astype(np.float32),
    }


def _camera(source: dict[str, NDArray[np.generic]]) -> tuple[F32, F32]:
    rows = [source[key] for key in ("cam_pos", "cam_right", "cam_up", "cam_fwd")]
    return np.stack(rows).astype(np.float32), source["cam_f_cx_cy_size"].astype(np.float32)


def _project(points: F32, camera: F32, lens: F32) -> F32:
    ray = points - camera[0]
    depth = ray @ camera[3]
    x = lens[1] + lens[0] * (ray @ camera[1]) / depth
    y = lens[2] - lens[0] * (ray @ camera[2]) / depth
    return np.stack([x, y, depth], 1).astype(np.float32)


def _cut(size: tuple[int, int], source: dict[str, NDArray[np.generic]]) -> tuple[float, float, float, float]:
    """The part (left, top, right, bottom) of the master picture that `size` shows."""
    x0, y0, x1, y1 = source["portrait_cut"] if size[1] > size[0] else SQUARE_CUT
    return float(x0), float(y0), float(x1), float(y1)


def _view(size: tuple[int, int], mesh: Mesh, source: dict[str, NDArray[np.generic]]) -> dict[str, object]:
    width, height = size
    x0, y0, x1, y1 = _cut(size, source)
    scale = (width / (x1 - x0), height / (y1 - y0))
    low, high = _reach(mesh, source)
    left, top = (low - (x0, y0)) * scale - FEATHER
    right, bottom = (high - (x0, y0)) * scale + FEATHER
    x, y = max(0, int(left) // 2 * 2), max(0, int(top) // 2 * 2)
    crop = (x, y, min(width, -int(-right // 2) * 2) - x, min(height, -int(-bottom // 2) * 2) - y)
    return {
        "width": width,
        "height": height,
        "plate": f"plate_{width}x{height}.webp",
        "origin": (x0, y0),
        "scale": scale,
        "crop": crop,
    }


def _always_behind(mesh: Mesh, source: dict[str, NDArray[np.generic]]) -> NDArray[np.bool_]:
    """The triangles (T,) of the still parts of the head that face away however it turns."""
    still = (np.abs(mesh.shapes).max((0, 2)) < 40)[mesh.triangles].all(1) & (mesh.parts == 0)
    for place in _swung(mesh, mesh.vertices, source):
        a, b, c = (place[mesh.triangles[:, k]] for k in range(3))
        area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
        still &= area > 0
    return still


def _reach(mesh: Mesh, source: dict[str, NDArray[np.generic]]) -> tuple[F32, F32]:
    """Corners in master pixels of all that the head can cover when it swings and the jaw drops."""
    jaw = mesh.vertices + mesh.shapes[UNITS.index("jawOpen")] / np.float32(2000)
    places = [*_swung(mesh, mesh.vertices, source), *_swung(mesh, jaw, source)]
    return np.min([place.min(0) for place in places], 0), np.max([place.max(0) for place in places], 0)


def _swung(mesh: Mesh, points: F32, source: dict[str, NDArray[np.generic]]) -> Iterator[F32]:
    """`points` in master pixels, for the head turned to each corner and side of its range."""
    camera, lens = _camera(source)
    weight, pivot = mesh.head_weight / np.float32(255), source["pivot"].astype(np.float32)
    for signs in np.ndindex(3, 3, 3):
        angles = np.radians(np.array(SWING_DEG) * (np.array(signs) - 1))
        yield _project(_turned(points, weight, angles, pivot), camera, lens)[:, :2]


def _turned(points: F32, weight: F32, angles: NDArray[np.float64], pivot: F32) -> F32:
    p = points - pivot
    for (i, j), angle in zip(((0, 2), (2, 1), (1, 0)), angles, strict=True):
        c, s = np.cos(weight * angle), np.sin(weight * angle)
        p[:, i], p[:, j] = c * p[:, i] + s * p[:, j], c * p[:, j] - s * p[:, i]
    return p + pivot


def _write_plates(layers: Path, target: Path, source: dict[str, NDArray[np.generic]]) -> None:
    (target / "plate_720x1280.webp").write_bytes((layers / "portrait_plate_clean.webp").read_bytes())
    x0, y0, x1, y1 = SQUARE_CUT
    square = _read(layers / "plate_clean.png")[y0:y1, x0:x1]
    square = cv2.resize(square, (512, 512), interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(target / "plate_512x512.webp"), square, [cv2.IMWRITE_WEBP_QUALITY, 95])


def _write_preview(layers: Path, target: Path) -> None:
    shot = _read(layers / "neutral.png")[160:860, 162:862]
    shot = cv2.resize(shot, (360, 360), interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(target / folder.PREVIEW), shot, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()
