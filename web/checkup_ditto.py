"""Checks of what engine ditto needs: torch and a card, weights, and avatars that they saw. Faults where that
engine is `needed`, notes where a server would run another.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ..render.avatar import find_avatar, own_avatars, store
from ..render.ditto.presets import RANDOM
from ..render.home import VARIABLE, home
from ..render.weights import (
    LIVE,
    MANIFEST,
    Record,
    WeightsFile,
    default_folder,
    fetch_command,
    locate,
    read_record,
)
from ..stream.errors import AvatarError, SetupError, UsageError
from .card import Facts, Trial
from .findings import Finding, from_error, lacking, note, ok

SLOW: Final = "Ditto draws a frame in many seconds on a CPU: make clips with it, and serve a presenter"
_TOO_FAR: Final = "on frames that it was not fitted to, pictures are further off than they may be"
_GIB: Final = 1 << 30


def folder() -> Finding:
    """Where weights and avatars are kept."""
    about = "home"
    try:
        place = home()
    except UsageError as error:
        return from_error(about, error, needed=False)
    if not place.exists():
        return ok(about, f"{place}, made when something is put there")
    if place.is_dir() and os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return ok(about, str(place))
    return note(about, f"{place} cannot be written", f"change its owner or mode, or set {VARIABLE}")


def weights(source: str | None, *, needed: bool) -> Finding:
    """Which of Ditto's files are there, by their sizes: 2.2 GB of hashes would take too long. `source` is a
    folder, random:SEED, or None for the usual folder."""
    about = "weights"
    if source is not None and source.startswith(RANDOM):
        return note(about, f"{source}: a picture of noise", "leave --weights out to use the official ones")
    try:
        place = default_folder() if source is None else Path(source).expanduser()
        record = read_record(place)
    except (SetupError, UsageError) as error:
        return from_error(about, error, needed=needed)
    try:
        bad = [f"{file.name} {said}" for file in MANIFEST if (said := _wrong(file, place, record))]
        there = [path for file in MANIFEST if (path := locate(file, place)) is not None]
    except OSError as error:
        return lacking(about, f"{place} cannot be read ({error.strerror})", "change its mode", needed=needed)
    if not there:
        return lacking(about, f"{place} holds none of Ditto's", fetch_command(place), needed=needed)
    size = sum(path.stat().st_size for path in there) / 1e9
    said = f"{place} holds {len(there)} of {len(MANIFEST)} files, {size:.1f} GB"
    if not bad:
        return ok(about, f"{said}, of the right sizes (visavis weights check looks into them)")
    vital = any(name.partition(" ")[0] in LIVE for name in bad)
    return lacking(about, f"{said}: {', '.join(bad)}", fetch_command(place), needed=needed and vital)


def _wrong(file: WeightsFile, folder: Path, record: Record) -> str:
    """What is wrong with `file` at first sight, empty when nothing is."""
    path = locate(file, folder)
    if path is None:
        return "is missing"
    entry = record.files.get(path.relative_to(folder).as_posix())
    wanted = entry.bytes if entry is not None else file.bytes
    as_published = path.relative_to(folder).as_posix() in (file.path, str(file))
    if wanted is None or not as_published or path.stat().st_size == wanted:
        return ""
    return f"has {path.stat().st_size:,} bytes instead of {wanted:,}"


def card(ask: Callable[[], Facts] | None, *, needed: bool) -> tuple[Finding, Facts | None]:
    """Torch, and the GPU it computes on. `ask` gives what torch says, None where it is not installed."""
    about, install = "torch", "pip install 'visavis[ditto]'"
    if ask is None:
        said = "not installed: engine ditto and visavis avatar add cannot be used"
        return lacking(about, said, install, needed=needed), None
    try:
        facts = ask()
    except SetupError as error:
        return lacking(about, str(error), f"install it again: {install}", needed=needed), None
    if facts.problem:
        where = facts.card or "the CPU"
        advice = "update the driver, or install the torch that fits it"
        return lacking(about, f"{facts.torch}: {where} fails: {facts.problem}", advice, needed=needed), facts
    if facts.card is None:
        return note(about, f"{facts.torch} finds no NVIDIA GPU", SLOW), facts
    said = (
        f"{facts.torch} computes on {facts.card}, driver {facts.driver}, CUDA {facts.cuda}, "
        f"{facts.free_bytes / _GIB:.1f} of {facts.memory_bytes / _GIB:.1f} GiB free"
    )
    return ok(about, said), facts


def source_of(weights: str | None) -> str | None:
    """The weights that avatars are compared with, as the engine takes them; None where no avatar of the
    user's is of this engine, so that none are read for nothing."""
    if not _own_faces():
        return None
    return weights if weights is not None else str(default_folder())


def _is_ditto(name: str) -> bool:
    with contextlib.suppress(AvatarError):
        return bool(find_avatar(name).manifest.weights)
    return False


def low_bits(format: str | None, facts: Facts | None) -> list[Finding]:
    """Whether a server that was asked for 8 bits of `format` can start; nothing where it was not."""
    about = "low_bits"
    if format is None or facts is None or facts.problem:
        return []
    if facts.card is None:
        said, advice = f"{format} needs an NVIDIA GPU", "leave out --low-bits"
        return [lacking(about, said, advice, needed=True)]
    if not _own_faces():
        said = f"{format} is fitted to faces of your own, and there are none"
        return [lacking(about, said, "visavis avatar add NAME PICTURE", needed=True)]
    return [ok(about, f"{format}, fitted to your faces at the first start, which takes a while")]


def eight_bits(
    ask: Callable[[str, str | None], Sequence[Trial]], facts: Facts | None, weights: str | None
) -> list[Finding]:
    """What the decoder would gain and lose by 8 bits, on the first of the user's own faces, as `ask` finds
    it for an avatar and weights; whether or not they are used."""
    about = "8 bits"
    names = _own_faces()
    if facts is None or facts.card is None or facts.problem:
        return [note(about, "only a GPU gains by them", SLOW)]
    if not names:
        return [note(about, "they are measured on faces of your own", "visavis avatar add NAME PICTURE")]
    try:
        found = ask(names[0], weights)
    except SetupError as error:
        return [note(about, f"they cannot be measured: {error}", "")]
    return [
        ok(about, _gain(names[0], one))
        if one.is_close
        else note(about, _gain(names[0], one), f"do without {one.format}: {_TOO_FAR}")
        for one in found
    ]


def _gain(name: str, trial: Trial) -> str:
    return (
        f"{trial.format} on {name}: the decoder takes {trial.eight_ms:.2f} instead of {trial.sixteen_ms:.2f} "
        f"ms a frame, pictures are {trial.decibels:.1f} dB and cosine {trial.cosine:.5f} close "
        f"(--low-bits {trial.format}; {trial.layers} layers)"
    )


def _own_faces() -> list[str]:
    with contextlib.suppress(SetupError):
        return [name for name in own_avatars() if _is_ditto(name)]
    return []


def has_torch() -> bool:
    return find_spec("torch") is not None


def avatars(digest: str = "") -> list[Finding]:
    """The user's own avatars: one finding for those that are well, one for each that is not. `digest` is what
    avatars remember of the weights that are there, empty where that is not known."""
    found: list[Finding] = []
    well: list[str] = []
    try:
        names = own_avatars()
    except SetupError as error:
        return [from_error("avatars", error, needed=False)]
    for name in names:
        try:
            avatar = find_avatar(name)
        except AvatarError as error:
            found.append(note("avatars", f"{name} is left out: {error}", f"visavis avatar remove {name}"))
            continue
        seen_by = avatar.manifest.weights
        if seen_by and digest and seen_by != digest:
            said = f"{name} was registered with other weights than those that are there"
            found.append(note("avatars", said, f"visavis avatar remove {name}, and add its picture again"))
        else:
            well.append(f"{name} ({avatar.kind})")
    if well:
        return [ok("avatars", f"{len(well)} of your own: {', '.join(well)}"), *found]
    return found or [ok("avatars", f"none of your own in {_store()}")]


def _store() -> str:
    try:
        return str(store())
    except UsageError:
        return "no place"
