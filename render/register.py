"""One picture becomes a ditto avatar: the same picture and weights give the same folder, bit for bit."""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import cv2
import msgspec
import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..stream.errors import AvatarError, SetupError
from .avatar import MANIFEST, PREVIEW, SCHEMA, TENSORS, Avatar, Manifest, View, check_name, load_avatar
from .crop import halved
from .ditto import tensors as table
from .ditto.appearance import AppearanceExtractor
from .ditto.checkpoints import load, parse_source
from .ditto.eyes import eye_values
from .ditto.motion import Source
from .ditto.motion_net import MotionExtractor
from .ditto.provenance import EXTRACTORS, digest_of
from .landmarks import Landmarks
from .picture import MAX_BYTES, decode
from .portrait import Portrait, portrait

PLATE: Final = "plate.webp"
_LOSSLESS = 101
"""What OpenCV calls the quality of a WebP without loss."""


@dataclass(frozen=True, slots=True)
class Extractors:
    """What looks at a face (1, 3, 256, 256) float32 RGB 0..1: `appearance` gives (1, 32, 16, 64, 64),
    `motion` one row of everything. `digest` tells weights apart."""

    appearance: Callable[[Tensor], Tensor]
    motion: Callable[[Tensor], Source]
    digest: str


@dataclass(frozen=True, slots=True)
class Registered:
    """The new avatar, and what its maker should know."""

    avatar: Avatar
    notes: tuple[str, ...]


def register_file(name: str, path: Path, store: Path, *, weights: str | None = None) -> Registered:
    """Register the picture at `path` in the folder `store` as avatar `name`; `weights` as parse_source takes
    them. Raises AvatarError for a name or a picture that will not do, before any network is loaded."""
    check_name(name)
    _check_free(store / name)
    found = portrait(decode(_read(path)), Landmarks())
    return register(name, found, load_extractors(weights), store)


def register(name: str, found: Portrait, extractors: Extractors, store: Path) -> Registered:
    """Write avatar `name` into the folder `store`: whole or not at all. Raises AvatarError when it is there
    already, or cannot be written."""
    check_name(name)
    files = {
        PLATE: _encoded(".webp", found.picture, cv2.IMWRITE_WEBP_QUALITY, _LOSSLESS),
        PREVIEW: _encoded(".png", found.preview()),
        TENSORS: safetensors.numpy.save(look(found, extractors)),
    }
    height, width = found.picture.shape[:2]
    manifest = Manifest(
        schema=SCHEMA,
        kind="ditto",
        name=name,
        title=" ".join(word.capitalize() for word in name.split("-") if word) or name,
        frames=1,
        units=(),
        views=(View(width, height, PLATE, (0, 0), (1, 1), found.reach()),),
        files={file: hashlib.sha256(blob).hexdigest() for file, blob in files.items()},
        weights=extractors.digest,
    )
    files[MANIFEST] = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    return Registered(_written(store / name, files), found.notes)


def look(found: Portrait, extractors: Extractors) -> dict[str, NDArray[np.generic]]:
    """The tensors of a ditto avatar."""
    small = np.ascontiguousarray(halved(found.crop()).transpose(2, 0, 1)[None])
    image = torch.from_numpy(small).float() / 255
    with torch.inference_mode():
        appearance, source = extractors.appearance(image), extractors.motion(image)
        rows = source.motion.to_rows()
    opened, ball = eye_values(found.eye_points())
    if not all(bool(seen.isfinite().all()) for seen in (appearance.half(), rows, source.canonical)):
        raise SetupError(
            "the networks gave what is no number: look at the weights with visavis weights check"
        )
    seen: dict[str, NDArray[np.generic]] = {
        table.APPEARANCE: appearance.half().numpy(),
        table.MOTION: rows.float().numpy(),
        table.CANONICAL: source.canonical.float().numpy(),
        table.MATRIX: found.to_plate[None],
        table.EYE_OPEN: opened,
        table.EYE_BALL: ball,
    }
    return {key: np.ascontiguousarray(tensor) for key, tensor in seen.items()}


def load_extractors(weights: str | None = None) -> Extractors:
    """The official networks, on the CPU, with `weights` as parse_source takes them."""
    source = parse_source(weights)
    states = {name: load(name, source) for name in EXTRACTORS}
    return Extractors(
        _built(AppearanceExtractor, states["appearance_extractor"]),
        _built(MotionExtractor, states["motion_extractor"]),
        digest_of(states),
    )


def _read(path: Path) -> bytes:
    try:
        # Not a pipe, which might never end, nor a device, which might never begin.
        if path.exists() and not path.is_file():
            raise AvatarError(f"{path} is no file, but a {_kind(path)}; give the path of a picture")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise AvatarError(f"{path} cannot be read: {error.strerror}; give the path of a picture") from error


def _kind(path: Path) -> str:
    return "folder" if path.is_dir() else "pipe" if path.is_fifo() else "device or a socket"


def _check_free(folder: Path) -> None:
    try:
        taken = folder.exists() or folder.is_symlink()
        is_avatar = (folder / MANIFEST).is_file()
    except OSError as error:
        raise SetupError(
            f"{folder.parent} cannot be read: {error.strerror}; change its owner or mode, or set "
            "VISAVIS_HOME to another folder"
        ) from error
    if is_avatar:
        raise AvatarError(
            f"there is an avatar {folder.name} already; choose another name, or remove it first: "
            f"visavis avatar remove {folder.name}"
        )
    if taken:
        raise AvatarError(f"{folder} is in the way and no avatar; choose another name, or delete it by hand")


def _written(folder: Path, files: Mapping[str, bytes]) -> Avatar:
    """Written beside its place, read back, and moved there at once."""
    draft = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        draft.mkdir(parents=True)
        for name, blob in files.items():
            (draft / name).write_bytes(blob)
        load_avatar(draft)
        _check_free(folder)
        draft.rename(folder)
    except OSError as error:
        raise AvatarError(
            f"{folder} cannot be written: {error.strerror}; free some space, or set VISAVIS_HOME to another "
            "folder"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return load_avatar(folder)


def _encoded(ending: str, picture: NDArray[np.uint8], *options: int) -> bytes:
    done, blob = cv2.imencode(ending, cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), options)
    if not done:
        raise AvatarError(f"the picture cannot be written as {ending}; export it again")
    return blob.tobytes()


def _built(kind: Callable[[], nn.Module], state: Mapping[str, Tensor]) -> nn.Module:
    with torch.device("meta"):
        network = kind()
    network.load_state_dict(state, assign=True)
    return network.eval()
