"""The avatar folder: what a registered appearance is on disk, read with every promise checked."""

import contextlib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import cv2
import msgspec
import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from ..stream.errors import AvatarError, SetupError, UsageError
from .home import home

SCHEMA = 2
MANIFEST = "avatar.json"
TENSORS = "tensors.safetensors"
PREVIEW = "preview.png"
_LARGEST_TEXTURE = 4096
_PLATES = 8
PRESENTERS: Final = Path(__file__).parent / "presenters"
_NAME = re.compile(r"[a-z0-9-]{1,40}")

Tensor = NDArray[np.generic]


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one size shows the master picture: plate = (master - origin) * scale, in pixel edges.

    `crop` is (x, y, width, height) in plate pixels: all that can ever move lies inside it.
    """

    width: int
    height: int
    plate: str
    origin: tuple[float, float]
    scale: tuple[float, float]
    crop: tuple[int, int, int, int]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`avatar.json`. `files` maps every other file of the folder to its SHA-256; `weights` is the digest of
    the networks that a ditto avatar was registered with.
    """

    schema: int
    kind: str
    name: str
    title: str
    frames: int
    units: tuple[str, ...]
    views: tuple[View, ...]
    files: dict[str, str]
    weights: str = ""


class Table(Protocol):
    """What avatars of one kind hold: the `TEXTURES` they need, and `check`, which raises AvatarError unless
    the tensors of an avatar called `name` are all there and fit."""

    @property
    def TEXTURES(self) -> tuple[str, ...]: ...

    def check(self, name: str, units: tuple[str, ...], tensors: Mapping[str, Tensor]) -> None: ...


@dataclass(frozen=True, slots=True)
class Avatar:
    """A registered appearance, checked and read.

    `tensors` of a rig, with V vertices in model units of 1 dm, x to the viewer's right and y up: vertices
    (V, 3), uv (V, 2) in 0..1 of the part's texture, y down, triangles (T, 3), parts (T,), color (V, 3) sRGB
    and shade (V,) where there is no texture, head_weight (V,), shape_start (53,), shape_vertex (N,),
    shape_delta (N, 3) in 1/2000 of a model unit, camera (4, 3) position, right, up, forward, lens (4,) focal
    length, principal point and master size in pixels, pivot (3,), mouth (3,), eyes (2, 3), eye_radius (1,),
    view_yaw (3,) in degrees, release (52,) face units that are added as the lips part: what holds them shut
    at rest. Those of a ditto avatar are in ditto/tensors.py.
    """

    folder: Path
    manifest: Manifest
    tensors: Mapping[str, Tensor]

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def title(self) -> str:
        return self.manifest.title

    @property
    def kind(self) -> str:
        return self.manifest.kind

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The (width, height) that this avatar can be shown at, its preferred one first."""
        return tuple((view.width, view.height) for view in self.manifest.views)

    @property
    def preview(self) -> Path:
        """A square PNG head shot."""
        return self.folder / PREVIEW

    def view(self, size: tuple[int, int]) -> View:
        for view in self.manifest.views:
            if (view.width, view.height) == size:
                return view
        known = ", ".join(f"{width}x{height}" for width, height in self.sizes)
        raise AvatarError(f"avatar {self.name} has no size {size[0]}x{size[1]}; choose one of {known}")

    def plate(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The background without the head, (H, W, 3) uint8 RGB, not to be written to."""
        view = self.view(size)
        path = self.folder / view.plate
        pixels = _plate(path, path.stat().st_mtime_ns if path.exists() else 0)
        if pixels.shape != (view.height, view.width, 3):
            raise AvatarError(
                f"{view.plate} of avatar {self.name} is not {size[0]}x{size[1]}; pack the avatar again"
            )
        return pixels

    def texture(self, name: str) -> NDArray[np.uint8]:
        """The texture `name` of the avatar's kind, (H, W, 4) uint8 RGBA, alpha not multiplied in; opaque
        when the file has no alpha."""
        pixels = _picture(self.folder / name, cv2.IMREAD_UNCHANGED)
        if pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or max(pixels.shape) > _LARGEST_TEXTURE:
            raise AvatarError(
                f"{name} of avatar {self.name} is no picture in colour of at most {_LARGEST_TEXTURE} pixels "
                "a side; pack the avatar again"
            )
        order = cv2.COLOR_BGRA2RGBA if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGBA
        return cv2.cvtColor(pixels, order).astype(np.uint8, copy=False)


def load_avatar(folder: Path) -> Avatar:
    """The avatar in `folder`. Raises AvatarError when anything is missing, damaged or of another schema."""
    manifest = _manifest(folder)
    table = _table(manifest)
    blobs = {name: _checked(folder, name, digest) for name, digest in manifest.files.items()}
    needed = {TENSORS, PREVIEW, *table.TEXTURES, *(view.plate for view in manifest.views)}
    if missing := needed - blobs.keys():
        raise AvatarError(
            f"avatar {manifest.name} lists no {', '.join(sorted(missing))}; pack the avatar again"
        )
    try:
        tensors = safetensors.numpy.load(blobs[TENSORS])
    except safetensors.SafetensorError as error:
        raise AvatarError(
            f"{TENSORS} of avatar {manifest.name} cannot be read: {error}; pack it again"
        ) from error
    table.check(manifest.name, manifest.units, tensors)
    return Avatar(folder, manifest, MappingProxyType(tensors))


def presenters() -> tuple[str, ...]:
    """Names of the avatars that ship with the project."""
    return tuple(sorted(_folders(PRESENTERS)))


def store() -> Path:
    """The folder of the avatars that this machine's user registered; it may not be there yet."""
    return home() / "avatars"


def own_avatars() -> dict[str, Path]:
    """The user's avatars by name, and their folders; none where the account has no place for data."""
    with contextlib.suppress(UsageError):
        return dict(sorted(_folders(store()).items()))
    return {}


def check_name(name: str) -> None:
    """Raise AvatarError unless `name` may be given to a new avatar."""
    if not _NAME.fullmatch(name):
        raise AvatarError(f"{name[:40]!r} is no name for an avatar; use 1 to 40 of a-z, 0-9 and -")
    if name in _folders(PRESENTERS):
        raise AvatarError(f"{name} is a presenter that ships with the project; choose another name")


def find_avatar(name: str) -> Avatar:
    """The presenter or the user's avatar called `name`, which never becomes part of a path.

    Raises AvatarError with the names there are.
    """
    known = own_avatars() | _folders(PRESENTERS)
    if name not in known:
        raise AvatarError(f"there is no avatar {name[:40]!r}; choose one of {', '.join(sorted(known))}")
    avatar = load_avatar(known[name])
    if avatar.name != name:
        raise AvatarError(f"{known[name]} holds an avatar called {avatar.name[:40]!r}; rename the folder")
    return avatar


def _folders(parent: Path) -> dict[str, Path]:
    try:
        return {
            entry.name: entry
            for entry in (parent.iterdir() if parent.is_dir() else ())
            if _NAME.fullmatch(entry.name) and (entry / MANIFEST).is_file()
        }
    except OSError as error:
        raise SetupError(
            f"{parent} cannot be read: {error.strerror}; change its owner or mode, or set VISAVIS_HOME to "
            "another folder"
        ) from error


def _table(manifest: Manifest) -> Table:
    """What avatars of the manifest's kind hold. Neither module needs what its engine needs."""
    match manifest.kind:
        case "rig":
            from .rig import tensors
        case "ditto":
            from .ditto import tensors
        case _:
            raise AvatarError(
                f"avatar {manifest.name} is of kind {manifest.kind!r}, which this version cannot draw"
            )
    return tensors


def _manifest(folder: Path) -> Manifest:
    try:
        raw = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise AvatarError(
            f"{folder} holds no readable {MANIFEST}: give the folder of a packed avatar"
        ) from error
    try:
        schema = msgspec.json.decode(raw, type=dict).get("schema")
        if schema != SCHEMA:
            raise AvatarError(
                f"{folder.name} has schema {schema}, this version reads {SCHEMA}: pack the avatar again"
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise AvatarError(
            f"{MANIFEST} of {folder.name} is damaged: {error}; pack the avatar again"
        ) from error
    _check_manifest(manifest)
    return manifest


def _check_manifest(manifest: Manifest) -> None:
    if not manifest.views or manifest.frames < 1:
        raise AvatarError(f"avatar {manifest.name} has no view or no frame; pack the avatar again")
    for view in manifest.views:
        x, y, width, height = view.crop
        if min(x, y, width - 1, height - 1) < 0 or x + width > view.width or y + height > view.height:
            raise AvatarError(f"a crop of avatar {manifest.name} leaves its plate; pack the avatar again")


def _checked(folder: Path, name: str, digest: str) -> bytes:
    if Path(name).name != name:
        raise AvatarError(
            f"avatar {folder.name} names a file outside its folder: {name[:80]!r}; do not use it"
        )
    try:
        blob = (folder / name).read_bytes()
    except OSError as error:
        raise AvatarError(f"avatar {folder.name} lacks {name}; copy the folder again") from error
    if hashlib.sha256(blob).hexdigest() != digest:
        raise AvatarError(
            f"{name} of avatar {folder.name} is not the file it was packed with; copy the folder again"
        )
    return blob


@lru_cache(maxsize=_PLATES)
def _plate(path: Path, _changed_ns: int) -> NDArray[np.uint8]:
    return _picture(path, cv2.IMREAD_COLOR_RGB)


def _picture(path: Path, flags: int) -> NDArray[np.uint8]:
    pixels = cv2.imread(str(path), flags)
    if pixels is None:
        raise AvatarError(f"{path.name} of avatar {path.parent.name} is no picture; copy the folder again")
    return pixels.astype(np.uint8, copy=False)
