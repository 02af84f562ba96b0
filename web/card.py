"""What torch says of this machine, asked of a child: the front never loads torch."""

import os
import subprocess
import sys
from typing import Final

import msgspec

from ..stream.errors import SetupError

CARD: Final = "visavis.render.ditto.card"
TRIALS: Final = "visavis.render.ditto.eight_bits"
"""The children's modules; they need torch, so they are named here and run in processes of their own."""
_PATIENCE_S = 60
_TRIALS_PATIENCE_S = 1200


class Facts(msgspec.Struct, frozen=True):
    """As the child tells them. `card` is None where torch can use no GPU; `problem` is why it cannot be
    computed on; `digest` is what avatars remember of the weights asked about, empty when that is not known.
    """

    torch: str
    cuda: str | None
    card: str | None
    driver: str | None
    memory_bytes: int
    free_bytes: int
    problem: str
    digest: str


class Trial(msgspec.Struct, frozen=True):
    """What 8 bits of `format` give: as render/ditto/eight_bits.py tells it."""

    format: str
    layers: int
    decibels: float
    cosine: float
    is_close: bool
    sixteen_ms: float
    eight_ms: float


def ask(weights: str | None = None) -> Facts:
    """What torch says, and of `weights`, a folder or random:SEED, their digest. Raises SetupError when it
    says nothing that makes sense."""
    done = _run((CARD, *_flag("weights", weights)), _PATIENCE_S)
    try:
        return msgspec.json.decode(_last_line(done.stdout), type=Facts)
    except msgspec.MsgspecError as error:
        raise SetupError(f"torch cannot be loaded: {_last_line(done.stderr) or 'it says nothing'}") from error


def trials(avatar: str, weights: str | None = None) -> list[Trial]:
    """Of the decoder in 8 bits, on `avatar`: some minutes on a GPU. Raises SetupError."""
    done = _run((TRIALS, "--avatar", avatar, *_flag("weights", weights)), _TRIALS_PATIENCE_S)
    try:
        return msgspec.json.decode(_last_line(done.stdout), type=list[Trial])
    except msgspec.MsgspecError as error:
        raise SetupError(_last_line(done.stderr) or "it says nothing") from error


def _flag(name: str, value: str | None) -> tuple[str, ...]:
    return () if value is None else (f"--{name}", value)


def _run(module: tuple[str, ...], patience_s: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *module]
    environment = os.environ | {"ORT_DISABLE_TELEMETRY": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience_s, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"torch did not answer within {patience_s} s") from error
    except OSError as error:
        raise SetupError(f"no process can be started to load torch ({error})") from error


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
