"""`visavis weights`: Ditto's official files, fetched and checked."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Protocol, cast

import msgspec
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ..render.weights import (
    INCOMPLETE,
    MANIFEST,
    RECORD,
    REPOSITORY,
    Finding,
    State,
    WeightsFile,
    check_file,
    default_folder,
    fetch_command,
    file_named,
    locate,
    read_record,
)
from ..stream.errors import SetupError, VisavisError

CHECKPOINTS: Final = "visavis.render.ditto.checkpoints"
"""What looks into the files; it needs torch, so it is named here and loaded only by `weights check`."""

NEEDS_TORCH: Final = "shapes are not checked: that needs pip install 'visavis[ditto]'"
_BAD: Final = (State.MISSING, State.HALF, State.DAMAGED, State.UNREADABLE)


class Inside(Protocol):
    """What a file holds: how many `entries`, numbers and dtypes, and what is wrong, a line each."""

    @property
    def entries(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def dtypes(self) -> tuple[str, ...]: ...
    @property
    def problems(self) -> tuple[str, ...]: ...


class Checkpoints(Protocol):
    """The part of render/ditto/checkpoints.py that this command uses."""

    def inspect(self, file: WeightsFile, path: Path) -> Inside: ...


class Row(msgspec.Struct, frozen=True):
    """One file in the answer of `weights check --json`; what is not known is null."""

    name: str
    path: str
    what: str
    licence: str
    state: str
    bytes: int
    sha256: str | None
    entries: int | None
    parameters: int | None
    dtypes: tuple[str, ...] | None
    problems: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    """What `weights check --json` prints. `shapes` says whether the files were looked into."""

    folder: str
    good: bool
    shapes: bool
    files: tuple[Row, ...]


def fetch(
    to: Annotated[
        Path | None, typer.Option(help="Folder for the files. [default: weights in the data folder]")
    ] = None,
    mirror: Annotated[str | None, typer.Option(help="Address of a mirror of the hub.")] = None,
    revision: Annotated[str, typer.Option(help="Branch, tag or commit of the hub's repository.")] = "main",
    only: Annotated[str | None, typer.Option(help="Name of the one file to fetch.")] = None,
) -> None:
    """Fetch Ditto's official files, about 2.2 GB; run again, it goes on where it stopped."""
    if find_spec("huggingface_hub") is None:
        raise SetupError("weights are fetched by huggingface_hub: pip install 'visavis[ditto]'")
    from ..render.hub import Hub
    from ..render.hub import fetch as fetch_files

    files = (file_named(only),) if only is not None else MANIFEST
    folder = to or default_folder()
    hub = Hub(mirror, revision)
    with _bar(REPOSITORY) as start:
        paths = fetch_files(files, folder, hub, start)
    plural = "s" if len(paths) > 1 else ""
    sys.stdout.write(f"{folder}: {len(paths)} file{plural} in place, hashes as {hub.host} names them\n")


def check(
    folder: Annotated[
        Path | None, typer.Option("--in", help="Folder of the files. [default: weights in the data folder]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check Ditto's files: there, whole, the right hash, the right tensors; exit code 1 if not."""
    folder = folder or default_folder()
    if not as_json and not _holds_any(folder):
        raise SetupError(f"{folder} holds none of Ditto's files yet: get them with {fetch_command(folder)}")
    report = examine(folder)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines(report)))
    if not report.good:
        bad = sum(bool(row.problems) for row in report.files)
        raise SetupError(
            f"{bad} of {len(report.files)} files in {report.folder} will not do: see the lines above"
        )


def examine(folder: Path) -> Report:
    """Look at every file in `folder`, and into those that hold tensors or options where torch is there."""
    record = read_record(folder)
    checkpoints = cast(Checkpoints, import_module(CHECKPOINTS)) if find_spec("torch") else None
    sizes = sum(path.stat().st_size for file in MANIFEST if (path := folder / file.path).is_file())
    with _bar("checking") as start:
        on_bytes = start(0, sizes)
        rows = tuple(_row(check_file(file, folder, record, on_bytes), checkpoints) for file in MANIFEST)
    return Report(str(folder), not any(row.problems for row in rows), checkpoints is not None, rows)


def _holds_any(folder: Path) -> bool:
    """Whether any of the files is there, or part of one, or a record of them."""
    return (folder / RECORD).exists() or any(
        locate(file, folder) or any((folder / file.path).parent.glob(f"*{INCOMPLETE}")) for file in MANIFEST
    )


def _row(finding: Finding, checkpoints: Checkpoints | None) -> Row:
    inside: Inside | None = None
    problems = (finding.problem,) if finding.problem else ()
    if checkpoints is not None and finding.state not in _BAD:
        try:
            inside = checkpoints.inspect(finding.file, finding.path)
            problems = inside.problems
        except VisavisError as error:
            problems = (str(error),)
    return Row(
        finding.file.name,
        str(finding.path),
        finding.file.what,
        finding.file.licence,
        str(finding.state),
        finding.bytes,
        finding.sha256 or None,
        None if inside is None else inside.entries,
        None if inside is None else inside.parameters,
        None if inside is None else inside.dtypes,
        problems,
    )


def lines(report: Report) -> Generator[str]:
    """The report for people."""
    for row in report.files:
        inside = f", {row.entries} entries of {'/'.join(row.dtypes or ())}" if row.entries else ""
        yield f"{row.name}: {row.state}, {row.bytes:,} bytes{inside}, {row.licence}"
        yield from (f"  {problem}" for problem in row.problems)
    if not report.shapes:
        yield NEEDS_TORCH


@contextmanager
def _bar(title: str) -> Generator[Callable[[int, int], Callable[[int], None]]]:
    """A bar on the error stream where that is a terminal; gives what starts it and then counts bytes."""
    console = Console(stderr=True)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )

    def start(done: int, total: int) -> Callable[[int], None]:
        task = progress.add_task(title, total=total, completed=done)
        return lambda count: progress.update(task, advance=count)

    with progress:
        yield start
