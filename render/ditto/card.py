"""What torch says of this machine, for whoever must not load torch: a process that prints it as JSON.

    python -m visavis.render.ditto.card [--weights FOLDER or random:SEED]

With `--weights` it also tells what an avatar registered with those would remember of them. Nothing is written
to disk.
"""

import argparse
import sys
from typing import TypedDict

import msgspec
import torch

from ...stream.errors import VisavisError
from .checkpoints import parse_source
from .networks import best_device
from .provenance import digest_at
from .timing import driver

_SIDE = 64


class Facts(TypedDict):
    """`card` and `driver` are None where torch can use no GPU; `problem` is what went wrong when it was
    used, empty when a kernel ran and was right; `digest` is empty when it is not known."""

    torch: str
    cuda: str | None
    card: str | None
    driver: str | None
    memory_bytes: int
    free_bytes: int
    problem: str
    digest: str


def facts(device: torch.device, weights: str | None) -> Facts:
    """Of `device`, and of `weights` as `checkpoints.parse_source` takes them, None for none."""
    is_cuda = device.type == "cuda"
    free, memory = torch.cuda.mem_get_info(device) if is_cuda else (0, 0)
    return Facts(
        torch=str(torch.__version__),
        cuda=torch.version.cuda,
        card=torch.cuda.get_device_name(device) if is_cuda else None,
        driver=driver() if is_cuda else None,
        memory_bytes=memory,
        free_bytes=free,
        problem=kernel_problem(device),
        digest=_digest(weights),
    )


def kernel_problem(device: torch.device) -> str:
    """Why `device` cannot be computed on, empty when it can: whole numbers are multiplied and compared with
    what the CPU makes of them."""
    left = torch.arange(_SIDE * _SIDE, dtype=torch.float32).reshape(_SIDE, _SIDE) % 7
    try:
        found = (left.to(device) @ left.T.to(device)).cpu()
    except RuntimeError as error:
        return str(error).strip().partition("\n")[0]
    return "" if torch.equal(found, left @ left.T) else "it computes wrong numbers"


def _digest(weights: str | None) -> str:
    if weights is None:
        return ""
    try:
        return digest_at(parse_source(weights), keep=False)
    except VisavisError:
        return ""


def main(arguments: list[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="visavis.render.ditto.card")
    parser.add_argument("--weights")
    told = facts(best_device(), parser.parse_args(arguments).weights)
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
