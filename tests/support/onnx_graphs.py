"""Graphs to try what runs them with, and what onnxruntime makes of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from visavis.render.ditto.onnx.file import Graph, read_graph
from visavis.render.onnx import ort

from .onnx import model, port
from .tree import ROOT

FOLDER = ROOT / "tests/golden/onnx"
NAMES = sorted(path.stem for path in FOLDER.glob("*.onnx"))
Constants = Mapping[str, NDArray[np.generic]]


def golden(name: str) -> Path:
    """One that an exporter wrote: (1, n) samples to rows."""
    return FOLDER / f"{name}.onnx"


def written(
    folder: Path,
    nodes: Sequence[bytes],
    constants: Constants | None = None,
    *,
    sizes: Sequence[int] = (1, 24),
    version: int = 17,
) -> Path:
    """One by hand, of an input `x` of those sizes, or free ones, and an output `y`."""
    path = folder / "graph.onnx"
    ports = {"inputs": [port("x", list(sizes))], "outputs": [port("y", None)]}
    path.write_bytes(model(nodes, constants=constants, version=version, **ports))
    return path


def read(folder: Path, nodes: Sequence[bytes], constants: Constants | None = None, **options: int) -> Graph:
    return read_graph(written(folder, nodes, constants, **options))


def by_onnxruntime(path: Path, windows: Tensor) -> Tensor:
    """What it gives for each of `windows` (B, ...) as a batch of one."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    (name,) = (one.name for one in session.get_inputs())
    found = [session.run(None, {name: one[None].numpy()})[0] for one in windows]
    return torch.from_numpy(np.stack(found))


def windows(count: int, samples: int = 6480) -> Tensor:
    return 0.1 * torch.randn(count, samples, generator=torch.Generator().manual_seed(1))
