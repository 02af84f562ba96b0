"""Fetching from a hub: goes on where it stopped, and keeps nothing whose hash is not the hub's."""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx2
from filelock import FileLock, Timeout
from huggingface_hub import constants, get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.errors import (
    FileMetadataError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RevisionNotFoundError,
)
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from ..stream.errors import SetupError, UsageError, VisavisError
from .weights import (
    INCOMPLETE,
    REPOSITORY,
    Entry,
    Progress,
    Record,
    WeightsFile,
    digest,
    read_record,
    trouble,
    write_record,
)

LOCK: Final = ".fetch.lock"
REJECTED: Final = ".rejected"
_TRIES: Final = 5
"""How often in a row a connection may break without one new byte."""
_PAUSE_S: Final = 1.0
_STALL_S: Final = 30.0
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_GIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Offer:
    """What the hub says of a file: `hash` is a SHA-256, or Git's SHA-1 of a file outside LFS."""

    file: WeightsFile
    commit: str
    hash: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub, or a mirror at `mirror`, at one revision. Raises UsageError for an address that is none."""

    mirror: str | None = None
    revision: str = "main"
    pause: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.mirror is not None and not _is_address(self.mirror):
            raise UsageError(
                f"--mirror {self.mirror[:80]} is no address; give one such as https://hf-mirror.com"
            )

    @property
    def host(self) -> str:
        return urlsplit(self.mirror or constants.ENDPOINT).netloc

    def offer(self, file: WeightsFile) -> Offer:
        """What the hub has. Raises SetupError when it has nothing, or nothing that could be checked."""
        try:
            found = get_hf_file_metadata(self._url(file, self.revision), token=self._token)
        except (httpx2.HTTPError, FileMetadataError, OfflineModeIsEnabled) as error:
            raise self._failed(file, error) from error
        if found.commit_hash is None or found.size is None:
            raise SetupError(
                f"{self.host} is no hub: it answers with something else, as a login page does; "
                "log in to this network, or check --mirror and the proxy"
            )
        if not (found.etag and (_SHA256.fullmatch(found.etag) or _GIT.fullmatch(found.etag))):
            raise SetupError(
                f"{self.host} names no hash for {file}, which cannot be checked: take another mirror"
            )
        return Offer(file, found.commit_hash, found.etag, found.size)

    def download(self, offer: Offer, part: Path, on_bytes: Progress) -> None:
        """Complete `part`, from where it stops. Raises SetupError, and OSError of the disk."""
        tries = _TRIES
        while (had := _size(part)) < offer.bytes:
            try:
                self._stream(offer, part, had, on_bytes)
                broken: Exception | None = None
            except HfHubHTTPError as error:
                raise self._failed(offer.file, error) from error
            except httpx2.HTTPError as error:
                broken = error
            tries = _TRIES if _size(part) > had else tries - 1
            if not tries:
                raise SetupError(
                    f"{self.host} broke off at {_size(part):,} of {offer.bytes:,} bytes of {offer.file}; "
                    "run the command again, it goes on from there"
                ) from broken
            if _size(part) < offer.bytes:
                self.pause(_PAUSE_S)

    def _stream(self, offer: Offer, part: Path, start: int, on_bytes: Progress) -> None:
        headers = build_hf_headers(token=self._token) | {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        url = self._url(offer.file, offer.commit)
        with get_session().stream(
            "GET", url, headers=headers, follow_redirects=True, timeout=_STALL_S
        ) as answer:
            hf_raise_for_status(answer)
            if answer.headers.get("content-type", "").startswith("text/html"):
                raise SetupError(
                    f"{self.host} sends a web page for {offer.file}, perhaps a login: "
                    "log in to this network, or check --mirror and the proxy"
                )
            resumed = answer.headers.get("content-range", "").startswith(f"bytes {start}-")
            with part.open("ab" if start and resumed else "wb") as out:
                if start and not resumed:
                    on_bytes(-start)
                for block in answer.iter_bytes():
                    out.write(block)
                    on_bytes(len(block))
                    if out.tell() > offer.bytes:
                        break

    def _url(self, file: WeightsFile, revision: str) -> str:
        return hf_hub_url(
            REPOSITORY, file.path, revision=revision, endpoint=self.mirror and self.mirror.rstrip("/")
        )

    @property
    def _token(self) -> bool | None:
        """The user's token is for the hub; a mirror never sees it."""
        return False if self.mirror else None

    def _failed(self, file: WeightsFile, error: Exception) -> SetupError:
        if isinstance(error, OfflineModeIsEnabled):
            return SetupError(f"HF_HUB_OFFLINE keeps {file} from being fetched: unset it")
        if isinstance(error, RevisionNotFoundError):
            return SetupError(f"{self.host} has no revision {self.revision}; leave --revision out")
        if not isinstance(error, HfHubHTTPError):
            return SetupError(
                f"{self.host} cannot be reached for {file}: connect this machine, give --mirror, "
                "or copy the files from another one"
            )
        match status := error.response.status_code:
            case 401 | 403:
                return SetupError(
                    f"{self.host} wants a login for {file} ({status}): run hf auth login, or take a mirror"
                )
            case 404:
                return SetupError(
                    f"{self.host} has no {file.path} at revision {self.revision} (404): "
                    "check --mirror and --revision"
                )
            case _:
                return SetupError(
                    f"{self.host} answers {status} for {file}: try again later, or take another mirror"
                )


def fetch(
    files: Sequence[WeightsFile], folder: Path, hub: Hub, on_start: Callable[[int, int], Progress]
) -> list[Path]:
    """Bring `files` into `folder`, each in the hub's layout; those that are there already stay.

    `on_start` gets the bytes there and the bytes in all, and gives what is to be told of new ones. Raises
    SetupError with one line; what was fetched until then is kept, and the next call goes on from there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            return _fetch(files, folder, hub, on_start)
    except Timeout as error:
        raise SetupError(f"another fetch fills {folder}: wait until it is done") from error
    except VisavisError:
        raise
    except OSError as error:
        raise SetupError(f"{error.filename or folder} {trouble(error)}") from error


def _fetch(
    files: Sequence[WeightsFile], folder: Path, hub: Hub, on_start: Callable[[int, int], Progress]
) -> list[Path]:
    record = read_record(folder)
    offers = [hub.offer(file) for file in files]
    there = {offer.file.path: entry for offer in offers if (entry := _kept(offer, folder))}
    todo = [offer for offer in offers if offer.file.path not in there]
    missing = sum(offer.bytes - min(_size(_part(offer, folder)), offer.bytes) for offer in todo)
    _check_space(folder, missing)
    record = Record(REPOSITORY, record.files | there)
    write_record(folder, record)
    total = sum(offer.bytes for offer in offers)
    on_bytes = on_start(total - missing, total)
    for offer in todo:
        record = _bring(offer, folder, hub, record, on_bytes)
    return [folder / file.path for file in files]


def _bring(offer: Offer, folder: Path, hub: Hub, record: Record, on_bytes: Progress) -> Record:
    target, part = folder / offer.file.path, _part(offer, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    hub.download(offer, part, on_bytes)
    sha256 = digest(part)
    if not _fits(offer, part, sha256):
        aside = target.with_name(target.name + REJECTED)
        part.replace(aside)
        raise SetupError(
            f"{offer.file} from {hub.host} has another hash than it should and lies unused as {aside.name}: "
            "run the command again, or take another mirror"
        )
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    part.replace(target)
    entry = Entry(sha256, offer.bytes, offer.commit)
    record = Record(REPOSITORY, {**record.files, offer.file.path: entry})
    write_record(folder, record)
    return record


def _kept(offer: Offer, folder: Path) -> Entry | None:
    """The file as it lies there, when that is already what the hub offers."""
    path = folder / offer.file.path
    if _size(path) != offer.bytes:
        return None
    sha256 = digest(path)
    return Entry(sha256, offer.bytes, offer.commit) if _fits(offer, path, sha256) else None


def _fits(offer: Offer, path: Path, sha256: str) -> bool:
    if offer.file.sha256 not in (None, sha256):
        return False
    if _SHA256.fullmatch(offer.hash):
        return sha256 == offer.hash
    blob = hashlib.sha1(b"blob %d\0" % offer.bytes, usedforsecurity=False)
    blob.update(path.read_bytes())
    return blob.hexdigest() == offer.hash


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not parts.query
            and not parts.fragment
        )
    except ValueError:
        return False


def _part(offer: Offer, folder: Path) -> Path:
    """Named after the hash too: a half of another version is never gone on with."""
    path = folder / offer.file.path
    return path.with_name(f"{path.name}.{offer.hash[:12]}{INCOMPLETE}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_space(folder: Path, missing: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < missing:
        raise SetupError(
            f"{folder} has room for {free / 1e6:,.0f} MB, and {missing / 1e6:,.0f} MB are to come: "
            "free some space, or give --to another folder"
        )
