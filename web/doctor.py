"""`visavis doctor`: what this machine has, what a server here would lack, and what to do about it."""

import os
import sys
from collections.abc import Generator, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from .. import __version__
from ..stream.errors import SetupError
from .config import Config, load_config
from .delays import Delay, delays
from .findings import Finding, Level

_MARKS: Final = {Level.OK: "ok   ", Level.NOTE: "note ", Level.FAULT: "FAULT"}
_WIDTH: Final = 12
_HEAD: Final = ("engine", "--latency", "new frames each", "delay", "POST /v1/sessions says")


class Report(msgspec.Struct, frozen=True):
    """What `--json` prints. `good` says that a server with these options can run."""

    version: str
    good: bool
    engine: str
    findings: tuple[Finding, ...]
    delays: tuple[Delay, ...]


def doctor(
    config: Annotated[Path | None, typer.Option(help="A TOML file with options, as for serve.")] = None,
    host: Annotated[str | None, typer.Option(help="As for serve.")] = None,
    port: Annotated[int | None, typer.Option(help="As for serve.")] = None,
    engine: Annotated[str | None, typer.Option(help="As for serve.")] = None,
    weights: Annotated[str | None, typer.Option(help="As for serve.")] = None,
    devices: Annotated[str | None, typer.Option(help="As for serve.")] = None,
    avatar: Annotated[str | None, typer.Option(help="As for serve.")] = None,
    eight_bits: Annotated[
        bool,
        typer.Option("--eight-bits", help="Measure Ditto in 8 bits on a face of yours; some minutes."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look at this machine: can `visavis serve` with these options run here, and if not, what to do.

    Exit code 1 when it cannot. Nothing is written to disk.
    """
    flags = {
        **{"host": host, "port": port, "engine": engine, "weights": weights},
        **{"devices": devices, "avatar": avatar},
    }
    report = examine(load_config(config, os.environ, flags), eight_bits=eight_bits)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines(report)))
    if not report.good:
        faults = sum(finding.level is Level.FAULT for finding in report.findings)
        raise SetupError(f"{faults} fault{'s' if faults > 1 else ''} found: see the lines above")


def examine(config: Config, *, eight_bits: bool = False) -> Report:
    """All checks, for a server that is started with `config`; what 8 bits give only when asked for."""
    from . import checkup_server

    engine = checkup_server.engine(config.worker.engine, config.sessions.avatar)
    findings = tuple(_findings(config, engine, eight_bits))
    good = all(finding.level is not Level.FAULT for finding in findings)
    return Report(__version__, good, engine, findings, tuple(delays()))


def _findings(config: Config, engine: str, eight_bits: bool) -> Generator[Finding]:
    # Here and not above: the other commands must not load what this one looks at.
    from . import card, checkup, checkup_ditto, checkup_server

    needed, weights = engine == "ditto", config.worker.weights
    yield checkup.python()
    yield checkup.packages()
    found, workers = checkup_server.workers(config.worker.devices, engine)
    yield found
    yield checkup.room(config.sessions.max_sessions, workers=workers)
    yield checkup.encoder()
    yield checkup.webrtc()
    yield checkup.viseme_net()
    yield checkup.drawing_loops()
    yield from checkup_server.foreign(engine)
    yield checkup_server.shown(engine, config.sessions.avatar)
    yield checkup_server.port(config.listen)
    yield checkup_server.certificate(config.listen)
    yield checkup_ditto.folder()
    source = checkup_ditto.source_of(weights)
    ask = partial(card.ask, source) if checkup_ditto.has_torch() else None
    found, facts = checkup_ditto.card(ask, needed=needed)
    yield found
    yield checkup_ditto.weights(weights, needed=needed)
    yield from checkup_ditto.avatars(facts.digest if facts is not None else "")
    yield from checkup_ditto.low_bits(config.worker.low_bits if needed else None, facts)
    if eight_bits:
        yield from checkup_ditto.eight_bits(card.trials, facts, weights)


def lines(report: Report) -> Generator[str]:
    """The report for people."""
    yield f"visavis {report.version}, for a server with engine {report.engine}"
    for finding in report.findings:
        yield f"{_MARKS[finding.level]} {finding.about:{_WIDTH}} {finding.said}"
        if finding.advice:
            yield f"{'':{len(_MARKS[finding.level])}} {'':{_WIDTH}} -> {finding.advice}"
    yield ""
    yield "From sound to its picture, before any network (* unless told otherwise):"
    yield from _table([_HEAD, *map(_row, report.delays)])


def _row(delay: Delay) -> tuple[str, ...]:
    name = f"{delay.latency}{' *' if delay.default else ''}".strip()
    return delay.engine, name, f"{delay.step_ms} ms", f"{delay.delay_ms} ms", f"{delay.latency_ms} ms"


def _table(rows: Iterable[tuple[str, ...]]) -> Generator[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
