"""`visavis bench`: figures as JSON, held against budgets with --assert."""

import asyncio
import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..stream.errors import SetupError, UsageError
from .bench_live import Budgets, LiveBench, measure, misses
from .chores import first_of


def live(
    sessions: Annotated[int, typer.Option(help="Sessions that speak at once, each with a viewer.")] = 1,
    seconds: Annotated[int, typer.Option(help="How long to measure, after a warm-up.")] = 30,
    size: Annotated[str, typer.Option(help="Picture size.")] = "720x1280",
    engine: Annotated[str, typer.Option(help="auto, rig or pkg.module:Class.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    hold: Annotated[bool, typer.Option("--assert", help="Fail when a budget is broken.")] = False,
) -> None:
    """Lateness, CPU and memory of live sessions on this machine."""
    try:
        bench = LiveBench(sessions=sessions, seconds=seconds, size=size, engine=engine)
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
