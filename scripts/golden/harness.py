"""What a golden directory holds, how its inputs are drawn, and how one expected array is compared.

The format: `cases.json` maps each file's name to its cases, and names the `seed`; `NAME.npz` holds the arrays
as `case.array`. Inputs come from named streams: `RandomState(crc32(name) ^ seed)`.
"""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

F32 = NDArray[np.float32]
Array = NDArray[np.generic]
REDUCED = {torch.float16: (1e-4, 3e-3), torch.bfloat16: (1e-3, 2.4e-2)}
"""What may be lost below float32: 1 - cosine, and the mean absolute error. bf16 has three bits less."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expected array: the largest `error` seen against its `tolerance`."""

    case: str
    error: float
    tolerance: float
    note: str = ""

    @property
    def passed(self) -> bool:
        """A NaN is a miss."""
        return bool(self.error <= self.tolerance)


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """One `NAME.npz` with its cases, and where and how the project is to compute."""

    name: str
    seed: int
    cases: Mapping[str, Any]  # free-form JSON
    arrays: Mapping[str, Array]
    device: torch.device
    dtype: torch.dtype
    core: bool = False
    """Warp, decoder and windows of motion as the GPU core has them."""

    def normal(self, stream: str, *shape: int, scale: float = 1.0, offset: float = 0.0) -> F32:
        return (offset + scale * rng(stream, self.seed).standard_normal(shape)).astype(np.float32)

    def uniform(self, stream: str, *shape: int, low: float = 0.0, high: float = 1.0) -> F32:
        return (low + (high - low) * rng(stream, self.seed).random_sample(shape)).astype(np.float32)

    def smooth_image(self, stream: str, height: int, width: int, cell: int = 16) -> NDArray[np.uint8]:
        """(H, W, 3) RGB: a random grid every `cell` pixels, joined bilinearly in whole numbers."""
        random = rng(stream, self.seed)
        grid = random.randint(0, 256, size=(height // cell + 2, width // cell + 2, 3)).astype(np.int64)
        row, column = np.arange(height), np.arange(width)
        down, right = (row % cell)[:, None, None], (column % cell)[None, :, None]
        above, below = grid[row // cell], grid[row // cell + 1]
        left, beside = column // cell, column // cell + 1
        top = above[:, left] * (cell - right) + above[:, beside] * right
        bottom = below[:, left] * (cell - right) + below[:, beside] * right
        return ((top * (cell - down) + bottom * down) // (cell * cell)).astype(np.uint8)

    def tensor(self, array: Array) -> torch.Tensor:
        """`array` on the device; floats in the dtype under test."""
        found = torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
        return found.to(self.dtype) if found.is_floating_point() else found

    def compare(
        self,
        array: str,
        got: torch.Tensor | Array,
        tolerance: float,
        *,
        key: str | None = None,
    ) -> Comparison:
        """`got` against the expected array `key` (default: the array's own name). A `tolerance` of 0 holds in
        every dtype."""
        expected = np.asarray(self.arrays[key or array], dtype=np.float64)
        seen = (
            got.detach().cpu().double().numpy() if isinstance(got, torch.Tensor) else np.asarray(got, float)
        )
        if seen.shape != expected.shape:
            return Comparison(array, float("inf"), tolerance, f"shape {seen.shape}, not {expected.shape}")
        if self.dtype == torch.float32 or expected.size < 2 or not tolerance:
            return Comparison(array, largest(seen - expected), tolerance)
        mae = float(np.abs(seen - expected).mean())
        norms = float(np.sqrt((seen**2).sum() * (expected**2).sum()))
        away = 1 - float((seen * expected).sum()) / norms if norms else float(mae > 0)
        most_away, most_mae = REDUCED[self.dtype]
        return Comparison(
            array, max(away / most_away, mae / most_mae), 1.0, f"1-cos {away:.1e} MAE {mae:.1e}"
        )


def load(
    folder: Path, name: str, *, device: torch.device, dtype: torch.dtype, core: bool = False
) -> GoldenFile:
    """The file `NAME.npz` of a golden directory."""
    document = json.loads((folder / "cases.json").read_text("utf-8"))
    with np.load(folder / f"{name}.npz") as arrays:
        return GoldenFile(name, document["seed"], document[name], dict(arrays), device, dtype, core)


def names(folder: Path) -> tuple[str, ...]:
    """The files of a golden directory."""
    return tuple(sorted(path.stem for path in folder.glob("*.npz")))


def rng(stream: str, seed: int) -> np.random.RandomState:
    return np.random.RandomState((zlib.crc32(stream.encode()) ^ seed) & 0xFFFFFFFF)


def largest(difference: Array) -> float:
    """The largest absolute value; 0 of nothing, NaN of anything with a NaN."""
    return float(np.abs(difference).max()) if difference.size else 0.0


def matched(what: str, pattern: str, text: str) -> re.Match[str]:
    """Where `pattern` is found in a description. ValueError when it says nothing of `what`."""
    found = re.search(pattern, text)
    if not found:
        raise ValueError(f"no {what} in {text!r}")
    return found


def sliced(text: str) -> tuple[slice | int, ...]:
    """The index that a description ends with or holds in brackets, such as `res[:, ::5]`."""
    found = matched("slice", r"\[([\s\d:,-]*:[\s\d:,-]*)\]", text)
    return tuple(
        slice(*(int(part) if part.strip() else None for part in one.split(":"))) if ":" in one else int(one)
        for one in found[1].split(",")
    )


def summary(array: torch.Tensor | Array) -> NDArray[np.float64]:
    """Mean, standard deviation, L2 norm, min, max and mean of x * cos(i mod 1009), of the whole array."""
    whole = (
        array.detach().cpu().double().numpy() if isinstance(array, torch.Tensor) else np.asarray(array, float)
    )
    flat = whole.ravel()
    weighted = flat * np.cos(np.arange(flat.size, dtype=np.int64) % 1009)
    return np.array(
        [flat.mean(), flat.std(), np.sqrt((flat**2).sum()), flat.min(), flat.max(), weighted.mean()]
    )
