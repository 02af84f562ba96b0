"""`schedule`, `lmdm` and `ddim`: the tables, one guided step, and whole samples."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from visavis.render.ditto.lmdm import Encoded, Moments, MotionDecoder, time_embedding
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.random_weights import loaded
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule, step_times, tables

from .harness import Comparison, GoldenFile, largest, sliced, summary
from .made_up import described, in_float32

TABLE_TOLERANCE = 1e-6
STEP_TOLERANCE = 2e-4
REDUCED_TOLERANCE = 3e-2
SAMPLE_TOLERANCE = 1e-3
EMBEDDING_TOLERANCE = 1e-4
ROWS = 80


def run(file: GoldenFile) -> Iterator[Comparison]:
    if file.name == "schedule":
        file = in_float32(file)
    runners = {"schedule": _schedule, "lmdm": _lmdm, "ddim": _ddim}
    with torch.no_grad():
        yield from runners[file.name](file)


@cache
def model(seed: int, device: torch.device, dtype: torch.dtype) -> MotionDecoder:
    """The motion model with the weights of `seed`."""
    return loaded(MotionDecoder(), "lmdm", seed).to(device, dtype)


def full(array: np.ndarray, file: GoldenFile) -> Tensor:
    """`array` on the device, as float32 whatever is under test."""
    return torch.from_numpy(array).to(file.device)


# Tables


def _schedule(file: GoldenFile) -> Iterator[Comparison]:
    ours = tables()
    for array, table in (
        ("alphas_cumprod", ours.kept),
        ("sqrt_recip1m_alphas_cumprod", ours.of_noisy),
        ("sqrt_recipm1_alphas_cumprod", ours.of_clean),
    ):
        if array in file.arrays:
            yield _relative(file, array, table)
    for array in file.arrays:
        if found := re.fullmatch(r"s(\d+)\.(\w+)", array):
            yield from _steps(file, array, int(found[1]), found[2])
        elif array.endswith(".flat"):
            yield _all_times(file, array.removesuffix(".flat"))


def _steps(file: GoldenFile, array: str, count: int, part: str) -> Iterator[Comparison]:
    """`c_torch` and `c_numpy` are the reference's rounded ways to the closed form, and not ours."""
    steps = Schedule.of(count).steps[:-1]
    if part == "times":
        yield file.compare(array, np.array(step_times(count)), 0)
    elif part in (columns := {"alpha_next_sqrt": "clean", "sigma": "fresh", "c_closed_form": "noise"}):
        yield file.compare(array, np.array([getattr(step, columns[part]) for step in steps]), TABLE_TOLERANCE)


def _all_times(file: GoldenFile, stem: str) -> Comparison:
    """Step numbers of 1, 2, 3 ... steps, one after another."""
    sizes = np.diff(file.arrays[f"{stem}.offset"])
    return file.compare(f"{stem}.flat", np.concatenate([step_times(int(size) - 1) for size in sizes]), 0)


def _relative(file: GoldenFile, array: str, got: np.ndarray) -> Comparison:
    expected = np.asarray(file.arrays[array], float)
    return Comparison(array, largest(np.asarray(got, float) / expected - 1), TABLE_TOLERANCE, "relative")


# One step


def _lmdm(file: GoldenFile) -> Iterator[Comparison]:
    network = model(file.seed, file.device, file.dtype)
    noisy, lead, conditions = _step_inputs(file)
    times = np.asarray(file.arrays["time"])
    encoded = network.encode(conditions)
    moments = network.moments(torch.from_numpy(times).to(file.device))
    branches = network.branches(noisy, lead, encoded, moments)
    guided = network.step(noisy, lead, encoded, moments)
    of_noisy, of_clean = (
        full(table[times], file)[:, None, None] for table in (tables().of_noisy, tables().of_clean)
    )
    estimates = of_noisy * noisy - guided / of_clean
    # The estimate of the noise divides by what is next to nothing at the last steps.
    scales = [max(1.0, 1 / float(tables().of_clean[time])) for time in times]
    whole = {"x_start": guided, "pred_noise": estimates}
    halves = dict(zip(("unconditional", "conditional"), branches, strict=True)) | whole
    for array in file.arrays:
        if found := re.fullmatch(r"row(\d+)\.(\w+)", array):
            row, part = int(found[1]), found[2]
            scale = scales[row] if part == "pred_noise" else 1.0
            yield _row(file, array, encoded.tokens if part == "cond_tokens" else halves[part], row, scale)
        elif array.startswith("summary."):
            part = array.removeprefix("summary.")
            yield _summary(file, array, whole[part], max(scales) if part == "pred_noise" else 1.0)
    yield from _embeddings(file, network, times)
    yield _single(network, noisy, lead, conditions, times, guided)


def _step_inputs(file: GoldenFile) -> tuple[Tensor, Tensor, Tensor]:
    parts = file.cases["rows"]["input"].split(";")
    noisy, lead, conditions = (full(described(file, part), file) for part in parts)
    return noisy, lead, conditions


def _row(file: GoldenFile, array: str, rows: Tensor, row: int, scale: float) -> Comparison:
    """Whole, or as the description slices it; `scale` times the usual error is allowed."""
    one = rows[row : row + 1].float().cpu().numpy()
    if one.shape != file.arrays[array].shape:
        text = file.cases["parts"].get(array.partition(".")[2], "") or file.cases["rows"]["slice"]
        one = one[sliced(text)]
    seen = file.compare(array, one, STEP_TOLERANCE)
    if file.dtype == torch.float32:
        return replace(seen, tolerance=scale * seen.tolerance)
    return replace(seen, error=seen.error / scale)


def _summary(file: GoldenFile, array: str, rows: Tensor, scale: float) -> Comparison:
    """The L2 norm sums up many elements: all are compared relative to their size."""
    expected = np.asarray(file.arrays[array], float)
    got = np.stack([summary(row) for row in rows])
    tolerance = scale * (STEP_TOLERANCE if file.dtype == torch.float32 else REDUCED_TOLERANCE)
    return Comparison(
        array, largest((got - expected) / np.maximum(1, np.abs(expected))), tolerance, "relative"
    )


def _embeddings(file: GoldenFile, network: MotionDecoder, times: np.ndarray) -> Iterator[Comparison]:
    parts = file.cases["parts"]
    if "rotary.out" in file.arrays:
        rows = full(described(file, parts["rotary"]), file)
        turned = network.rotary(rows).cpu().numpy()[sliced(parts["rotary"])]
        yield file.compare("rotary.out", turned, EMBEDDING_TOLERANCE)
    if "time_embedding" in file.arrays:
        made = time_embedding(torch.from_numpy(times), network.size.width).numpy()
        yield file.compare("time_embedding", made[sliced(parts["time_embedding"])], EMBEDDING_TOLERANCE)


def _single(
    network: MotionDecoder,
    noisy: Tensor,
    lead: Tensor,
    conditions: Tensor,
    times: np.ndarray,
    guided: Tensor,
) -> Comparison:
    """The rows of a batch are the rows alone."""
    tolerance = STEP_TOLERANCE if network.dtype == torch.float32 else REDUCED_TOLERANCE
    error = 0.0
    for row, time in enumerate(times.tolist()):
        one = slice(row, row + 1)
        step = torch.tensor([time], device=noisy.device)
        alone = network(noisy[one], lead[one], conditions[one], step)
        error = max(error, float((alone - guided[one]).abs().max()))
    return Comparison("batch against rows", error, tolerance)


# Whole samples


def _ddim(file: GoldenFile) -> Iterator[Comparison]:
    network = model(file.seed, file.device, file.dtype)
    for name, case in file.cases.items():
        if f"{name}.out" not in file.arrays:
            continue
        count = _steps_of(file, name, case)
        conditions, lead, start = (
            full(described(file, case[part]), file) for part in ("aud_cond", "kp_cond", "start")
        )
        recorder = Recorder(network)
        sampler = MotionSampler(recorder, Schedule.of(count))
        got = sampler(lead, conditions, start, step_noise(file, case["step_noise"], count))
        yield file.compare(f"{name}.out", got, SAMPLE_TOLERANCE)
        if case.get("x_before_step") and (entry := f"{name}.x_before_step") in file.arrays:
            each = torch.cat(recorder.seen).cpu().numpy()
            yield file.compare(entry, each[sliced(case["x_before_step"])], SAMPLE_TOLERANCE)


def _steps_of(file: GoldenFile, name: str, case: Mapping[str, Any]) -> int:
    """As the case says, else as many as there are stored entries, else what its name says."""
    if (count := case.get("steps")) is not None:
        return int(count)
    if (stored := file.arrays.get(f"{name}.x_before_step")) is not None:
        return len(stored)
    return int(re.findall(r"\d+", name)[0])


class Recorder:
    """The model for a sampler, which keeps what it is given as `seen`."""

    def __init__(self, network: MotionDecoder) -> None:
        self.encode, self.moments, self.final_layer = network.encode, network.moments, network.final_layer
        self._step = network.step
        self.seen: list[Tensor] = []

    def step(self, noisy: Tensor, lead: Tensor, encoded: Encoded, moments: Moments) -> Tensor:
        self.seen.append(noisy)
        return self._step(noisy, lead, encoded, moments)


def step_noise(file: GoldenFile, text: str, steps: int) -> Tensor:
    """(steps - 1, 1, 80, 265) of a description such as `ddim/noise/I normal (1,80,265), I = 0 .. steps-2`."""
    if steps < 2:
        return torch.zeros(0, 1, ROWS, WIDTH, device=file.device)
    each = [described(file, re.sub(r"\bI\b", str(step), text, count=1)) for step in range(steps - 1)]
    return full(np.stack(each), file)
