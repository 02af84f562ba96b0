"""`visavis avatar`: faces that can be shown, those that ship with the project and the user's own."""

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Protocol, cast
from uuid import uuid4

import msgspec
import typer

from ..render.avatar import PRESENTERS, Avatar, check_name, find_avatar, own_avatars, presenters, store
from ..stream.errors import AvatarError, SetupError
from .gallery import size_text

REGISTER: Final = "visavis.render.register"
"""What makes avatars; it needs torch, so it is named here and loaded only by `avatar add`."""

_Json = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]
_Name = Annotated[str, typer.Argument(help="The avatar's name.")]


class Made(Protocol):
    """A new avatar, and what its maker should know."""

    @property
    def avatar(self) -> Avatar: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


class Register(Protocol):
    """The part of render/register.py that this command uses."""

    def register_file(self, name: str, path: Path, store: Path, *, weights: str | None) -> Made: ...


class Row(msgspec.Struct, frozen=True):
    """An avatar as `--json` prints it. `problem` says why one cannot be used; then little of it is known."""

    name: str
    presenter: bool
    folder: str
    problem: str | None = None
    title: str | None = None
    kind: str | None = None
    sizes: tuple[str, ...] = ()
    bytes: int = 0
    weights: str | None = None
    notes: tuple[str, ...] = ()


class Listing(msgspec.Struct, frozen=True):
    """What `avatar list --json` prints; `store` is where the user's own avatars lie."""

    store: str
    avatars: tuple[Row, ...]


def add(
    name: Annotated[str, typer.Argument(help="Its name: 1 to 40 of a-z, 0-9 and -.")],
    picture: Annotated[Path, typer.Argument(help="A JPEG, PNG or WebP of one face from the front.")],
    weights: Annotated[
        str | None, typer.Option(help="The folder of Ditto's weights, or random:SEED for a picture of noise.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Register a picture of a face as an avatar for engine ditto."""
    check_name(name)
    if find_spec("torch") is None:
        raise SetupError("avatars are registered with torch; install it: pip install 'visavis[ditto]'")
    made = cast(Register, import_module(REGISTER)).register_file(name, picture, store(), weights=weights)
    row = msgspec.structs.replace(_row(made.avatar), notes=made.notes)
    if as_json:
        _print_json(row)
        return
    for note in made.notes:
        sys.stderr.write(f"visavis: {note}\n")
    sys.stdout.write(f"{name}: {', '.join(row.sizes)}, in {row.folder}\n")


def list_all(as_json: _Json = False) -> None:
    """List the avatars of this machine."""
    listing = Listing(str(store()), tuple(_rows()))
    if as_json:
        _print_json(listing)
        return
    for row in listing.avatars:
        said = f"damaged: {row.problem}" if row.problem else f"{row.kind}, {', '.join(row.sizes)}"
        sys.stdout.write(f"{row.name}: {said}{', ships with the project' if row.presenter else ''}\n")


def show(name: _Name, as_json: _Json = False) -> None:
    """Show what an avatar is and where it lies."""
    row = _row(find_avatar(name))
    if as_json:
        _print_json(row)
        return
    sys.stdout.write(
        f"{row.title} ({row.name})\n"
        f"drawn by engine {row.kind}, {', '.join(row.sizes)}\n"
        f"{row.folder}, {row.bytes:,} bytes\n"
    )
    if row.weights:
        sys.stdout.write(f"registered with weights {row.weights}\n")


def remove(name: _Name, as_json: _Json = False) -> None:
    """Remove an avatar of your own, for good."""
    if name in presenters():
        raise AvatarError(f"{name} ships with the project and stays; remove one of your own")
    folder = own_avatars().get(name)
    if folder is None:
        known = ", ".join(own_avatars()) or "you have none"
        raise AvatarError(f"there is no avatar {name[:40]!r} of your own to remove: {known}")
    try:
        _discard(folder)
    except OSError as error:
        raise AvatarError(f"{folder} cannot be removed: {error.strerror}; remove it by hand") from error
    if as_json:
        _print_json(Row(name, presenter=False, folder=str(folder)))
    else:
        sys.stdout.write(f"{name}: removed from {folder.parent}\n")


def _discard(folder: Path) -> None:
    """Out of sight at once, then off the disk; what a link points at stays."""
    if folder.is_symlink():
        folder.unlink()
        return
    gone = folder.rename(folder.with_name(f".{folder.name}.{uuid4().hex}"))
    shutil.rmtree(gone)


def _rows() -> Iterator[Row]:
    folders = {name: PRESENTERS / name for name in presenters()}
    for name, folder in (own_avatars() | folders).items():
        try:
            yield _row(find_avatar(name))
        except AvatarError as error:
            yield Row(name, presenter=name in folders, folder=str(folder), problem=str(error))


def _row(avatar: Avatar) -> Row:
    return Row(
        name=avatar.name,
        presenter=avatar.folder.parent == PRESENTERS,
        folder=str(avatar.folder),
        title=avatar.title,
        kind=avatar.kind,
        sizes=tuple(map(size_text, avatar.sizes)),
        bytes=sum(path.stat().st_size for path in avatar.folder.iterdir() if path.is_file()),
        weights=avatar.manifest.weights or None,
    )


def _print_json(answer: msgspec.Struct) -> None:
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
