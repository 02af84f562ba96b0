"""Ditto's official files: which there are, where they lie, and whether they are what they should be.

Needs no torch; shapes are looked at in ditto/checkpoints.py. No public source names the hashes of the hub's
files, so the hub's metadata is believed once, at fetch, and kept in `manifest.json` beside the files.
"""

import errno
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Final
from uuid import uuid4

import msgspec

from ..stream.errors import SetupError, UsageError
from .home import home

REPOSITORY: Final = "digital-avatar/ditto-talkinghead"
RECORD: Final = "manifest.json"
INCOMPLETE: Final = ".incomplete"
_BLOCK_BYTES: Final = 1 << 20
_MIT: Final = "MIT (LivePortrait)"
_APACHE: Final = "Apache-2.0"

Progress = Callable[[int], None]
"""Told how many bytes were dealt with since the last call."""


@dataclass(frozen=True, slots=True)
class Twin:
    """LivePortrait's file of the same network and length: good as well, by its published `sha256`."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """One file: its `path` on the hub and in the folder, and its SHA-256 where a public source names one."""

    name: str
    path: str
    bytes: int | None
    what: str
    licence: str
    sha256: str | None = None
    twin: Twin | None = None

    def __str__(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def places(self) -> tuple[str, ...]:
        """Where in a folder it may lie: as on the hub, bare, and under LivePortrait's name."""
        paths = (self.path, *([self.twin.path] if self.twin else []))
        return tuple(place for path in paths for place in (path, path.rpartition("/")[2]))


MANIFEST: Final = (
    WeightsFile(
        "appearance_extractor",
        "ditto_pytorch/models/appearance_extractor.pth",
        3_387_959,
        "a face's appearance, from its picture",
        _MIT,
        twin=Twin(
            "liveportrait/base_models/appearance_feature_extractor.pth",
            "5279bb8654293dbdf327030b397f107237dd9212fb11dd75b83dfb635211ceb5",
        ),
    ),
    WeightsFile(
        "motion_extractor",
        "ditto_pytorch/models/motion_extractor.pth",
        112_545_506,
        "a face's pose and expression, from its picture",
        _MIT,
        twin=Twin(
            "liveportrait/base_models/motion_extractor.pth",
            "251e6a94ad667a1d0c69526d292677165110ef7f0cf0f6d199f0e414e8aa0ca5",
        ),
    ),
    WeightsFile(
        "stitch_network",
        "ditto_pytorch/models/stitch_network.pth",
        2_393_098,
        "keeps head and shoulders together",
        _MIT,
        twin=Twin(
            "liveportrait/retargeting_models/stitching_retargeting_module.pth",
            "3652d5a3f95099141a56986aaddec92fadf0a73c87a20fac9a2c07c32b28b611",
        ),
    ),
    WeightsFile(
        "warp_network",
        "ditto_pytorch/models/warp_network.pth",
        182_180_086,
        "moves the appearance as the keypoints say",
        _MIT,
        twin=Twin(
            "liveportrait/base_models/warping_module.pth",
            "2f61a6f265fe344f14132364859a78bdbbc2068577170693da57fb96d636e282",
        ),
    ),
    WeightsFile(
        "decoder",
        "ditto_pytorch/models/decoder.pth",
        221_813_590,
        "draws the picture",
        _MIT,
        twin=Twin(
            "liveportrait/base_models/spade_generator.pth",
            "4780afc7909a9f84e24c01d73b31a555ef651521a1fe3b2429bd04534d992aee",
        ),
    ),
    WeightsFile(
        "lmdm",
        "ditto_pytorch/models/lmdm_v0.4_hubert.pth",
        191_247_715,
        "motion, from audio features",
        _APACHE,
    ),
    WeightsFile(
        "hubert",
        "ditto_pytorch/aux_models/hubert_streaming_fix_kv.onnx",
        1_460_740_880,
        "features of the audio",
        _APACHE,
    ),
    WeightsFile(
        "configuration",
        "ditto_cfg/v0.4_hubert_cfg_pytorch.pkl",
        31_002,
        "options for whole recordings",
        _APACHE,
    ),
    WeightsFile(
        "configuration_online",
        "ditto_cfg/v0.4_hubert_cfg_trt_online.pkl",
        None,
        "options for live speech",
        _APACHE,
    ),
)


LIVE: Final = ("hubert", "lmdm", "stitch_network", "warp_network", "decoder")
"""The files without which a live session cannot be drawn."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a fetched file was: the hub's word at `commit`, checked as it arrived."""

    sha256: str
    bytes: int
    commit: str


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`manifest.json`: the fetched files by their path in the folder."""

    repository: str
    files: dict[str, Entry]


class State(StrEnum):
    GOOD = "good"
    UNVERIFIED = "unverified"
    """There and readable, but nobody has said which hash it should have."""
    MISSING = "missing"
    HALF = "half"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Finding:
    """What `check_file` found. `problem` is one line that says what to do, empty when all is well."""

    file: WeightsFile
    path: Path
    state: State
    bytes: int = 0
    sha256: str = ""
    problem: str = ""


def default_folder() -> Path:
    """Where `weights fetch` puts files unless told otherwise."""
    return home() / "weights"


def file_named(name: str) -> WeightsFile:
    """Raises UsageError with the names there are."""
    for file in MANIFEST:
        if name in (file.name, file.path, str(file)):
            return file
    known = ", ".join(file.name for file in MANIFEST)
    raise UsageError(f"there are no weights {name[:60]!r}; choose one of {known}")


def locate(file: WeightsFile, folder: Path) -> Path | None:
    """The file in `folder`, in the hub's layout, LivePortrait's or none; None where it is not."""
    for place in file.places:
        if (path := folder / place).is_file():
            return path
    return None


def digest(path: Path, on_bytes: Progress | None = None) -> str:
    """SHA-256 of the file, in hexadecimal. Raises OSError."""
    sha256 = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            sha256.update(block)
            if on_bytes is not None:
                on_bytes(len(block))
    return sha256.hexdigest()


def read_record(folder: Path) -> Record:
    """The folder's record, empty when it has none. Raises SetupError for one that cannot be read."""
    path = folder / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return Record(REPOSITORY, {})
    except OSError as error:
        raise SetupError(f"{path} {trouble(error)}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is damaged: delete it and run {fetch_command(folder)}") from error


def write_record(folder: Path, record: Record) -> None:
    """Whole or not at all. Raises OSError."""
    path = folder / f"{RECORD}.{uuid4().hex}"
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
        path.replace(folder / RECORD)
    finally:
        path.unlink(missing_ok=True)


def check_file(file: WeightsFile, folder: Path, record: Record, on_bytes: Progress | None = None) -> Finding:
    """Whether `file` lies in `folder` and is what the manifest or else the record promises."""
    path = locate(file, folder)
    if path is None:
        return _absent(file, folder)
    try:
        size = path.stat().st_size
        if wrong := impostor(path):
            return Finding(file, path, State.DAMAGED, size, problem=f"{path} {wrong}")
        found = digest(path, on_bytes)
    except OSError as error:
        return Finding(file, path, State.UNREADABLE, problem=f"{path} {trouble(error)}")
    entry = record.files.get(path.relative_to(folder).as_posix())
    expected = {one for one in (file.sha256, file.twin and file.twin.sha256, entry and entry.sha256) if one}
    if found in expected:
        return Finding(file, path, State.GOOD, size, found)
    wanted = entry.bytes if entry else file.bytes
    if wanted is not None and size != wanted:
        line = f"{path} has {size:,} bytes instead of {wanted:,}: fetch it again with {again(file, folder)}"
        return Finding(file, path, State.DAMAGED, size, found, line)
    if entry or file.sha256:
        line = f"{path} is not the file that was fetched: fetch it again with {again(file, folder)}"
        return Finding(file, path, State.DAMAGED, size, found, line)
    return Finding(file, path, State.UNVERIFIED, size, found)


def _absent(file: WeightsFile, folder: Path) -> Finding:
    path = folder / file.path
    halves = sorted(path.parent.glob(f"{path.name}.*{INCOMPLETE}"))
    if halves:
        size = halves[-1].stat().st_size
        line = f"{path} is half a download, {size:,} bytes so far: go on with {again(file, folder)}"
        return Finding(file, path, State.HALF, size, problem=line)
    return Finding(file, path, State.MISSING, problem=f"{path} is missing: get it with {again(file, folder)}")


def again(file: WeightsFile, folder: Path | None = None) -> str:
    """The command that fetches `file` into `folder`, the usual one unless given."""
    return fetch_command(folder, only=file.name)


def again_at(path: Path) -> str:
    """The command that fetches what lies at `path` once more."""
    for file in MANIFEST:
        for place in sorted(file.places, key=lambda place: -place.count("/")):
            parts = Path(place).parts
            if path.parts[-len(parts) :] == parts:
                return again(file, path.parents[len(parts) - 1])
    return fetch_command()


def fetch_command(folder: Path | None = None, *, only: str | None = None) -> str:
    """The command that fetches all files, or the one called `only`, into `folder`, the usual one unless
    given."""
    one = f" --only {only}" if only is not None else ""
    to = f" --to {quote(str(folder))}" if folder is not None and folder != default_folder() else ""
    return f"visavis weights fetch{one}{to}"


def check_live(weights: Path) -> None:
    """Raise SetupError, in one line that says what to do, when files are missing from the folder `weights`
    that live sessions need. What is in them is not looked at."""
    missing = [name for name in LIVE if locate(file_named(name), weights) is None]
    if len(missing) == len(LIVE):
        raise SetupError(f"{weights} holds no weights of Ditto: get them with {fetch_command(weights)}")
    if missing:
        raise SetupError(f"{weights} lacks {', '.join(missing)}: get the rest with {fetch_command(weights)}")


def impostor(path: Path) -> str:
    """What a file is that is not weights at all, as the rest of a sentence; empty for all else.

    Raises OSError.
    """
    with path.open("rb") as stream:
        head = stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return f"is a web page, perhaps a login or an error: delete it and run {again_at(path)}"
    if head.startswith(b"version https://git-lfs"):
        return f"is a Git LFS pointer, not the file: run git lfs pull there, or {again_at(path)}"
    if not head:
        return f"is empty: delete it and run {again_at(path)}"
    return ""


def trouble(error: OSError) -> str:
    """What the system says about a file or folder, and what to do, as the rest of a sentence."""
    match error.errno:
        case errno.EACCES | errno.EPERM:
            return "is closed to this account (permission denied): change its owner or mode, or take another"
        case errno.EROFS:
            return "lies on a disk that is read-only: take another place"
        case errno.ENOSPC | errno.EDQUOT:
            return "lies on a full disk: free some space and run it again, or take another place"
        case errno.ENOTDIR | errno.EEXIST | errno.EISDIR:
            return "has a file where a folder should be, or a folder for a file: take another place"
        case _:
            said = error.strerror or os.strerror(error.errno or errno.EIO)
            return f"cannot be used ({said.lower()}): look at the disk, or take another place"
