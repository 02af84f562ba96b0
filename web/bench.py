"""`visavis bench`: figures as JSON, held against budgets with --assert."""

import asyncio
import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, cast

import typer
from rich.console import Console
from rich.table import Table

from ..render.bench_worker import WorkerBench, spoken, wanted_size
from ..render.bench_worker import measure as serve_sessions
from ..render.ditto.presets import LIVE, PRESETS
from ..stream.errors import SetupError, UsageError
from .bench_live import Budgets, LiveBench, measure, misses
from .chores import first_of

MOTION: Final = "visavis.render.ditto.bench_motion"
GPU: Final = "visavis.render.ditto.bench_gpu"
"""They need torch, so they are named here and loaded only by the command that runs them."""


class MotionFigures(Protocol):
    """The part of render/ditto/bench_motion.py that this command uses."""

    def MotionBench(self, device: str, weights: str | None, latency: str, rounds: int) -> object: ...
    def measure(self, bench: object) -> dict[str, Any]: ...  # figures as JSON takes them


class GpuFigures(Protocol):
    """The part of render/ditto/bench_gpu.py that this command uses."""

    def GpuBench(self, device: str, *, most: int, ticks: int, rounds: int) -> object: ...
    def measure(self, bench: object, told: Callable[[str], None]) -> dict[str, Any]: ...  # as JSON takes them


def live(
    sessions: Annotated[int, typer.Option(help="Sessions that speak at once, each with a viewer.")] = 1,
    seconds: Annotated[int, typer.Option(help="How long to measure, after a warm-up.")] = 30,
    size: Annotated[str, typer.Option(help="Picture size.")] = "720x1280",
    avatar: Annotated[str, typer.Option(help="Who speaks.")] = "ruby",
    engine: Annotated[str | None, typer.Option(help="As visavis serve takes it.")] = None,
    weights: Annotated[str | None, typer.Option(help="As visavis serve takes them.")] = None,
    latency: Annotated[str | None, typer.Option(help="As visavis serve takes it.")] = None,
    devices: Annotated[str | None, typer.Option(help="As visavis serve takes them.")] = None,
    audio: Annotated[Path | None, typer.Option(help="What they say; a text when it is not given.")] = None,
    guests: Annotated[int, typer.Option(help="Further sessions that come and go meanwhile.")] = 0,
    kill: Annotated[bool, typer.Option(help="Kill the workers at the end, and wait for new ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    hold: Annotated[bool, typer.Option("--assert", help="Fail when a budget is broken.")] = False,
) -> None:
    """Lateness, CPU and memory of live sessions on this machine."""
    try:
        given = {"engine": engine, "weights": weights, "latency": latency, "devices": devices}
        bench = LiveBench(
            sessions=sessions,
            seconds=seconds,
            size=size,
            avatar=avatar,
            guests=guests,
            kill=kill,
            sound=None if audio is None else spoken(audio),
            options={name: value for name, value in given.items() if value is not None},
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        figures = asyncio.run(measure(bench))
    except ExceptionGroup as errors:
        raise first_of(errors) from errors
    figures["misses"] = misses(figures, Budgets())
    if as_json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    else:
        _show(figures)
    if hold and figures["misses"]:
        raise SetupError("; ".join(figures["misses"]))


def worker(
    sound: Annotated[Path, typer.Argument(help="What all sessions say, over and over.")],
    sessions: Annotated[int, typer.Option(help="Sessions that speak at once.")] = 1,
    ticks: Annotated[int, typer.Option(help="Ticks of each that count.")] = 500,
    size: Annotated[str, typer.Option(help="Picture size.")] = "720x1280",
    avatar: Annotated[str, typer.Option(help="Who speaks.")] = "ruby",
    engine: Annotated[str | None, typer.Option(help="As visavis serve takes it.")] = None,
    weights: Annotated[str | None, typer.Option(help="As visavis serve takes them.")] = None,
    latency: Annotated[str | None, typer.Option(help="As visavis serve takes it.")] = None,
    low_bits: Annotated[str | None, typer.Option(help="As visavis serve takes it.")] = None,
    guests: Annotated[int, typer.Option(help="Further sessions that come and go meanwhile.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """How late pictures are of sessions that a worker serves in real time, without a front."""
    given = {"engine": engine, "weights": weights, "latency": latency, "low-bits": low_bits}
    bench = WorkerBench(
        sound,
        sessions=sessions,
        ticks=ticks,
        guests=guests,
        avatar=avatar,
        size=wanted_size(size),
        options={name: value for name, value in given.items() if value is not None},
    )
    figures = serve_sessions(bench, _tell)
    if as_json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
        return
    late, pace = figures["late_ms"], "keeps pace" if figures["keeps_pace"] else "falls behind"
    sys.stdout.write(
        f"{sessions} sessions, {figures['engine']}: {pace}; ticks {late['p50']} ms late, {late['p99']} ms at "
        f"the 99th percentile, {figures['repeated']} of {sessions * ticks} pictures repeated, "
        f"{figures['cores']} cores\n"
    )


def motion(
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    weights: Annotated[
        str, typer.Option(help="random:SEED, which takes as long as the real ones, or a folder with those.")
    ] = "random:1",
    latency: Annotated[str, typer.Option(help=f"Frames a hop by name: {', '.join(PRESETS)}.")] = LIVE,
    rounds: Annotated[
        int, typer.Option(min=0, show_default=False, help="How often each is run. [default: 3, on a GPU 50]")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """What it takes to turn sound into Ditto's motion on this machine. On a CPU it takes a minute or two."""
    module = cast(MotionFigures, _with_torch(MOTION))
    figures = module.measure(module.MotionBench(device, weights, latency, rounds))
    if as_json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    else:
        _show_motion(figures)


def gpu(
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    most: Annotated[int, typer.Option(min=1, help="Most sessions to try.")] = 16,
    ticks: Annotated[int, typer.Option(min=1, help="Ticks that the most sessions are held for.")] = 2000,
    rounds: Annotated[int, typer.Option(min=1, help="How often each step is run.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """What this machine's card does for Ditto, and how many sessions it holds. On a CPU it takes hours."""
    module = cast(GpuFigures, _with_torch(GPU))
    bench = module.GpuBench(device, most=most, ticks=ticks, rounds=rounds)
    figures = module.measure(bench, _tell)
    if as_json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    else:
        _show_gpu(figures)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _with_torch(module: str) -> object:
    if find_spec("torch") is None:
        raise SetupError("this bench needs torch; install it: pip install 'visavis[ditto]'")
    return import_module(module)


def _show_gpu(figures: dict[str, Any]) -> None:
    where = figures.get("card", figures["cpu"])
    table = Table(title=f"Warp and decoder, ms a frame, {where}, torch {figures['torch']}")
    columns = (
        "batch",
        "plain_ms_a_frame",
        "fused_ms_a_frame",
        "replay_ms_a_frame",
        "plain_to_replay",
        "psnr_db",
    )
    for column in columns:
        table.add_column(column.removesuffix("_ms_a_frame"), justify="right")
    for row in figures["pictures"]:
        table.add_row(*(str(row[column]) for column in columns))
    console = Console()
    console.print(table)
    for pace, found in figures["capacity"].items():
        console.print(f"{pace}: {found['sessions']} sessions, of {found['of']} tried at most")


def _show_motion(figures: dict[str, Any]) -> None:
    where = figures.get("card", figures["cpu"])
    table = Table(title=f"Motion, {figures['hop']} frames a hop, {where}, torch {figures['torch']}")
    for column in ("stage", "steps", "batch", "ms", "p95", "ms a frame", "ratio"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for row in figures["stages"]:
        values = (
            row.get(name, "") for name in ("stage", "steps", "batch", "ms", "ms_p95", "ms_a_frame", "ratio")
        )
        table.add_row(*map(str, values))
    Console().print(table)


def _show(figures: dict[str, Any]) -> None:
    table = Table(title=f"{figures['sessions']} live sessions, {figures['size']}, {figures['engine']}")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for group in ("lateness_ms", "counters", "front", "worker"):
        for name, value in figures[group].items():
            table.add_row(f"{group} {name}", str(value))
    table.add_row("received frames a second", ", ".join(str(value) for value in figures["received_fps"]))
    console = Console()
    console.print(table)
    for miss in figures["misses"]:
        console.print(f"over budget: {miss}")
