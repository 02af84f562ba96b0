"""What torch says of this machine, asked of a child: the front never loads torch."""

import os
import subprocess
import sys
from typing import Final

import msgspec

from ..stream.errors import SetupError

CARD: Final = "visavis.render.ditto.card"
"""The child's module; it needs torch, so it is named here and runs in a process of its own."""
_PATIENCE_S = 60


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


def ask(weights: str | None = None) -> Facts:
    """What torch says, and of `weights`, a folder or random:SEED, their digest. Raises SetupError when it
    says nothing that makes sense."""
    command = [sys.executable, "-m", CARD, *(["--weights", weights] if weights is not None else [])]
    environment = os.environ | {"ORT_DISABLE_TELEMETRY": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"torch did not answer within {_PATIENCE_S} s") from error
    except OSError as error:
        raise SetupError(f"no process can be started to load torch ({error})") from error
    try:
        return msgspec.json.decode(_last_line(done.stdout), type=Facts)
    except msgspec.MsgspecError as error:
        raise SetupError(f"torch cannot be loaded: {_last_line(done.stderr) or 'it says nothing'}") from error


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
