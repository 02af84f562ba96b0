"""The official audio encoder on a GPU: its ONNX file run by torch, which needs no GPU build of onnxruntime.

Before it serves, it must hear what onnxruntime hears, whose answers are kept beside the file.
"""

import ctypes
import logging
import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from ...stream.clock import FEATURE_HZ
from .captured_encoder import CapturedEncoder
from .core.memory import STAYS, Memory
from .features import Chunk
from .hubert import INPUT, OUTPUT, Hubert
from .kept import Beside
from .onnx.file import read_graph
from .onnx.fuse import fused
from .onnx.network import Network
from .onnx.ops import UnknownError
from .onnx.program import Program, program_of
from .onnx.wire import UnreadableError

logger = logging.getLogger(__name__)

PRECISIONS: Final = {"cuda": {torch.float16: 1e-2, torch.float32: 1e-4}, "cpu": {torch.float32: 1e-4}}
"""What is tried on a device, in this order, and how far rows may be off, as a part of their size."""
_LEAST: Final = 1e-6
"""Rows that are shorter count as long as this."""
_HEARD: Final = "heard"
_EXPECTED: Final = "expected"


class OffError(ValueError):
    """The graph, run by torch, does not give what it gives by onnxruntime. The message is the rest of a
    sentence."""


class TorchHubert:
    """An `AudioEncoder` of windows of one length."""

    def __init__(
        self,
        network: Network,
        device: torch.device,
        *,
        samples: int,
        rows: tuple[int, int],
        eager: bool = False,
    ) -> None:
        self.network = network
        self.on_gpu = device.type == "cuda"
        self._encode = CapturedEncoder(network, device, samples=samples, rows=rows, eager=eager)

    def __call__(self, samples: Tensor) -> Tensor:
        return self._encode(samples)


def load_hubert(
    path: Path, device: torch.device, *, eager: bool = False, memory: Memory = STAYS
) -> Hubert | TorchHubert:
    """Of the file `path`: on a GPU by torch if it can be, `eager` as `Replay` takes it, with weights in
    `memory`, else by onnxruntime. Raises SetupError when it is not there, is no ONNX, or is another
    network."""
    if device.type == "cuda":
        try:
            return by_torch(path, device, eager=eager, memory=memory)
        except (UnreadableError, UnknownError, OffError) as error:
            other = Hubert(path, device)
            where = "on the GPU" if other.on_gpu else "on the CPU, which is slower"
            logger.warning("%s %s: torch cannot run it, so onnxruntime does, %s", path, error, where)
            return other
    return Hubert(path, device)


def by_torch(
    path: Path,
    device: torch.device,
    *,
    samples: int = Chunk().window_samples,
    eager: bool = False,
    memory: Memory = STAYS,
) -> TorchHubert:
    """For windows of so many `samples`. Raises UnreadableError, UnknownError or OffError where torch cannot
    do it, and what `Hubert` does."""
    program = _program(path, samples)
    # Answers first: both at once would hold the weights twice.
    beside = Beside.of(path, f"heard-{samples}")
    if (answers := beside.read()) is None or answers.keys() != {_HEARD, _EXPECTED}:
        answers = _answers(path, samples)
        beside.keep(answers)
    heard, expected = answers[_HEARD], answers[_EXPECTED]
    found = dict[str, float]()
    for dtype, most in PRECISIONS[device.type].items():
        with memory.kept():
            network = Network(program, device, dtype)
        found[str(dtype).removeprefix("torch.")] = error = _error(network, heard.to(device), expected)
        if error <= most:
            logger.info("%s runs by torch in %s, %.1e off", path, dtype, error)
            count, width = program.shapes[program.output][-2:]
            return TorchHubert(network, device, samples=samples, rows=(count, width), eager=eager)
    beside.forget()
    off = ", ".join(f"{error:.1e} in {name}" for name, error in found.items())
    raise OffError(f"gives other rows by torch than by onnxruntime ({off} of their size)")


def check_windows(samples: int) -> Tensor:
    """Sound (3, `samples`) to try an encoder with: noise, a voice's harmonics, and silence."""
    time = torch.arange(samples) / FEATURE_HZ
    noise = 0.1 * torch.randn(samples, generator=torch.Generator().manual_seed(1))
    tones = [torch.sin(2 * math.pi * 120 * n * time) / n for n in range(1, 30)]
    swell = 0.15 * torch.sin(math.pi * time / time[-1]).square()
    return torch.stack((noise, swell * torch.stack(tones).sum(0), torch.zeros(samples)))


def relative_error(found: Tensor, expected: Tensor) -> float:
    """The largest of the windows of a batch: how long the difference is, beside what is expected."""
    off = (found.double() - expected.double()).flatten(1).norm(dim=1)
    worst = off / expected.double().flatten(1).norm(dim=1).clamp(min=_LEAST)
    return float(worst.max()) if bool(worst.isfinite().all()) else math.inf


def _program(path: Path, samples: int) -> Program:
    try:
        graph = read_graph(path)
    except OSError as error:
        raise UnreadableError("cannot be read") from error
    if (graph.inputs, graph.outputs) != ((INPUT,), (OUTPUT,)):
        raise UnknownError("has other inputs and outputs")
    return fused(program_of(graph, (1, samples)))


def _answers(path: Path, samples: int) -> dict[str, Tensor]:
    """Of onnxruntime, to windows that encoders are tried with."""
    heard = check_windows(samples)
    expected = Hubert(path, briefly=True)(heard)
    if sys.platform == "linux":
        # What onnxruntime held would stay with the process, as much as the file has.
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)
    return {_HEARD: heard, _EXPECTED: expected}


def _error(network: Network, heard: Tensor, expected: Tensor) -> float:
    try:
        found = network(heard).cpu()
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, NotImplementedError) as error:
        raise UnknownError(f"stops in torch ({str(error).partition(chr(10))[0][:120]})") from error
    if found.shape != expected.shape:
        raise OffError(f"gives rows {tuple(found.shape)} by torch, {tuple(expected.shape)} by onnxruntime")
    return relative_error(found, expected)
