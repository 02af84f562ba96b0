"""The command `visavis`. Exit codes: 0 done, 1 failed, 2 wrong use; an error is one line with what to do."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from .. import __version__
from ..render.ditto.presets import LIVE, LOW_BITS, PRESETS
from ..stream.errors import AudioError, UsageError, VisavisError
from .avatars import add, list_all, remove, show
from .bench import gpu, live, motion, worker
from .clip import render
from .doctor import doctor
from .say import say
from .weights import check, fetch

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130

ParametersT = ParamSpec("ParametersT")

app = typer.Typer(
    name="visavis",
    help="A face for any voice: a self-hosted, real-time talking-head server.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(
    function: Callable[ParametersT, None], group: typer.Typer = app, name: str | None = None
) -> Callable[ParametersT, None]:
    """Adds `function` to `group` as a command, by its own name unless another is given, whose errors become
    one line and an exit code."""

    @wraps(function)
    def run(*args: ParametersT.args, **kwargs: ParametersT.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except VisavisError as error:
            sys.stderr.write(f"visavis: {error}\n")
            raise typer.Exit(exit_code(error)) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(INTERRUPTED) from error

    return group.command(name)(run)


def exit_code(error: VisavisError) -> int:
    """2 for what the caller could have known, such as a flag; 1 for everything else."""
    return WRONG_USE if isinstance(error, UsageError) and not isinstance(error, AudioError) else FAILED


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"visavis {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # pyright: ignore[reportUnusedParameter]
        bool,
        typer.Option("--version", help="Print the version and leave.", callback=_show_version, is_eager=True),
    ] = False,
) -> None: ...


@command
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes any. [default: 8080]")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with options.")] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="What draws: rig, ditto or pkg.module:Class; auto is ditto where --avatar is of that kind, "
            "else rig. [default: auto]"
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="The folder of Ditto's weights, or random:SEED for a picture of noise.")
    ] = None,
    latency: Annotated[
        str | None, typer.Option(help=f"Ditto's delay: {', '.join(PRESETS)}. [default: {LIVE}]")
    ] = None,
    low_bits: Annotated[
        str | None,
        typer.Option(
            help=f"Have Ditto's decoder read 8 bits where you would not see it: {', '.join(LOW_BITS)}."
        ),
    ] = None,
    eager: Annotated[
        bool | None, typer.Option("--eager", help="Run Ditto step by step on a GPU: slower, to find faults.")
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            help="A worker each: auto, GPUs such as 0,1 or cuda:0, cpu,cpu, or a number of workers without a "
            "GPU. [default: auto, which is every GPU for a ditto, else one worker]"
        ),
    ] = None,
    avatar: Annotated[
        str | None, typer.Option(help="Who is shown when a client does not say. [default: ruby]")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="What clients must know; needed unless only this machine can connect.")
    ] = None,
    cert: Annotated[str | None, typer.Option(help="Certificate for https. [default: certs/cert.pem]")] = None,
    key: Annotated[str | None, typer.Option(help="Its key. [default: certs/key.pem]")] = None,
    max_sessions: Annotated[
        int | None, typer.Option(help="Most sessions at a time. [default: what the machine can do]")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
) -> None:
    """Run the server, until Ctrl-C."""
    from .app import serve as run_server
    from .config import load_config
    from .devices import Device
    from .welcome import welcome

    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    flags = {
        "host": host,
        "port": port,
        "engine": engine,
        "weights": weights,
        "latency": latency,
        "low_bits": low_bits,
        "eager": eager,
        "devices": devices,
        "avatar": avatar,
        "token": token,
        "cert": cert,
        "key": key,
        "max_sessions": max_sessions,
    }
    loaded = load_config(config, os.environ, flags)

    def announce(addresses: Sequence[str], devices: Sequence[Device]) -> None:
        sys.stdout.write(welcome(loaded, addresses, devices))
        sys.stdout.flush()

    asyncio.run(run_server(loaded, announce=announce))


command(say)
command(render)
command(doctor)
benches = typer.Typer(help="Figures of this machine, as JSON and against budgets.", no_args_is_help=True)
app.add_typer(benches, name="bench")
command(live, benches)
command(motion, benches)
command(gpu, benches)
command(worker, benches)
avatars = typer.Typer(help="Faces that can be shown.", no_args_is_help=True)
app.add_typer(avatars, name="avatar")
command(add, avatars)
command(list_all, avatars, "list")
command(show, avatars)
command(remove, avatars)
weights = typer.Typer(help="Ditto's official files.", no_args_is_help=True)
app.add_typer(weights, name="weights")
command(fetch, weights)
command(check, weights)


def main() -> None:
    """Entry of the console script."""
    # Before anything loads onnxruntime, which would report on its user.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    app()


if __name__ == "__main__":
    main()
