"""`a2m_stub` and `a2m_real`: windows joined with a stand-in for the motion model, and with the model."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from visavis.render.ditto.core.motion_sampler import WindowSampler
from visavis.render.ditto.drivers import joined, smoothed
from visavis.render.ditto.hops import Sample
from visavis.render.ditto.motion import WIDTH, Motion
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, Hold
from visavis.render.ditto.windows import WindowOptions, WindowShape

from .conditions import TOLERANCE
from .harness import Comparison, GoldenFile, matched, sliced
from .made_up import ITEMS, described, in_float32
from .sampling import SAMPLE_TOLERANCE, full, model, step_noise

AUDIO = 1024


def run(file: GoldenFile) -> Iterator[Comparison]:
    for name, case in file.cases.items():
        if "windows" in case:
            yield from _case(file, name, case)


def _case(file: GoldenFile, name: str, case: Mapping[str, Any]) -> Iterator[Comparison]:
    is_real = "start" in case
    file = file if is_real else in_float32(file)
    tolerance = SAMPLE_TOLERANCE if is_real else TOLERANCE
    shape = shape_of(case["options"])
    options = options_of(file, case["options"], anchor_stored(file), clip=bool(case.get("clip")))
    leads, windows = list[Tensor](), list[Tensor]()

    def sample(lead: Tensor, conditions: Tensor, hold: Hold) -> Tensor:
        leads.append(lead.clone())
        windows.append(model_sample(lead, conditions, hold))
        return windows[-1]

    model_sample = real(file, case) if is_real else stand_in(file, file.cases["stub"]["tag"])
    conditions = _conditions(file, case, shape)
    rows, lead = joined(shape, sample, conditions, options, count=case["windows"])
    for array in (one for one in file.arrays if one.startswith(f"{name}.")):
        part = array.partition(".")[2]
        if part == "kp_cond":
            got = torch.cat((*leads, lead))
        elif part == "first_window":
            after_one, _ = joined(shape, lambda *_: windows[0], conditions, options, count=1)
            got = _stored(case, part, after_one[0])
        elif part == "res":
            got = _stored(case, part, rows[0])
        elif part == "final_smoothed":
            short = int(matched("length", r"first len\s*-\s*(\d+) rows", case["stored"])[1])
            got = _stored(case, part, smoothed(rows[:, : rows.shape[1] - short], shape.smooth)[0])
        else:
            got = _unpacked(options.bounded(rows)[0], part.removeprefix("cvt_"))
        yield file.compare(array, got, tolerance)
    if shape.hop != case["valid_clip_len"] or shape.fuse != case["fuse_length"]:
        yield Comparison(f"{name}: hop and fuse", float("inf"), 0)


def shape_of(options: Mapping[str, Any]) -> WindowShape:
    """Of the reference's options: online no more rows are fused than are new."""
    overlap = int(options.get("overlap_v2", 10))
    hop = LENGTH - overlap
    fuse = min(overlap, hop) if options.get("online_mode") else overlap
    return WindowShape(hop, fuse, int(options.get("smo_k_d", 3)))


def options_of(file: GoldenFile, given: Mapping[str, Any], anchor: Tensor, *, clip: bool) -> WindowOptions:
    """Of the reference's options, for one slot."""
    plain = WindowOptions.plain(anchor)
    follow = plain.follow
    if dims := given.get("fix_kp_cond_dim"):
        follow[:, dims[0] : dims[1]] = True
    every = plain.fix_every + int(given.get("fix_kp_cond") or 0)
    low, high = plain.low, plain.high
    if clip or given.get("clip"):
        bounds = full(np.asarray(file.arrays["clip_rows"], np.float32), file)
        low, high = bounds[0:1], bounds[1:2]
    return WindowOptions(anchor, every, follow, low, high)


def anchor_stored(file: GoldenFile) -> Tensor:
    """(1, 265) of the motion that is stored as `x_s`."""
    items = (full(np.asarray(file.arrays[f"x_s.{item}"], np.float32), file) for item in ITEMS)
    return Motion(*items).to_rows()


def stand_in(file: GoldenFile, tag: str) -> Sample:
    """What the directory's README calls the stand-in denoiser."""
    calls = 0

    def sample(lead: Tensor, conditions: Tensor, hold: Hold) -> Tensor:
        nonlocal calls
        noise = full(file.normal(f"{tag}/stub/{calls}", LENGTH, WIDTH), file)
        calls += 1
        window = 0.6 * lead[:, None] + 0.3 * conditions[..., :WIDTH] + 0.2 * noise
        extra = conditions[..., AUDIO:]
        window[..., : extra.shape[-1]] += 0.1 * extra
        return window

    return sample


class Stored:
    """The start of each window and the noise of its steps as described."""

    def __init__(self, file: GoldenFile, case: Mapping[str, Any]) -> None:
        self._file, self._start = file, case["start"]
        self._steps = step_noise(file, case["step_noise"], case["steps"])

    def of(self, window: int) -> Tensor:
        """(draws, 1, 80, 265)."""
        drawn = described(self._file, re.sub(r"\bW\b", str(window), self._start, count=1))
        start = full(drawn, self._file).reshape(1, 1, LENGTH, WIDTH)
        return torch.cat((start, self._steps.reshape(-1, 1, LENGTH, WIDTH)))


def real(file: GoldenFile, case: Mapping[str, Any]) -> Sample:
    """The motion model, as the engine has it draw."""
    schedule = Schedule.of(case["steps"])
    sampler = (
        WindowSampler(
            model(file.seed, file.device, torch.float32),
            schedule,
            dtype=file.dtype,
            device=file.device,
        )
        if file.core
        else MotionSampler(model(file.seed, file.device, file.dtype), schedule)
    )
    stored, count = Stored(file, case), 0

    def sample(lead: Tensor, conditions: Tensor, hold: Hold) -> Tensor:
        nonlocal count
        drawn = stored.of(count)
        count += 1
        # The core gives the memory that it writes next.
        return sampler(lead, conditions, drawn[0], drawn[1:], hold=hold).clone()

    return sample


def _conditions(file: GoldenFile, case: Mapping[str, Any], shape: WindowShape) -> Tensor:
    """(1, T, D) of a description whose number of rows is spelt out as a sum."""
    rule = r"^(\S+)\s+normal\s*\(.*,\s*(\d+)\s*\)(?:\s*\*\s*([\d.e-]+))?"
    found = matched("condition rows", rule, case["cond"].partition(";")[0])
    length = LENGTH + shape.hop * (case["windows"] - 1)
    drawn = file.normal(found[1], length, int(found[2]), scale=float(found[3] or 1))
    return full(drawn, file)[None]


def _stored(case: Mapping[str, Any], part: str, rows: Tensor) -> np.ndarray:
    """`rows` as the description of what is stored slices `part`: the first slice after its name."""
    text = re.split(rf"\b{part}\b", case["stored"], maxsplit=1)[1]
    return rows.cpu().numpy()[sliced(text)]


def _unpacked(rows: Tensor, item: str) -> Tensor:
    """The part of `rows` (T, 265) with the official name `item`."""
    parts: dict[str, Callable[[Motion], Tensor]] = {
        "scale": lambda motion: motion.scale,
        "pitch": lambda motion: motion.pitch,
        "yaw": lambda motion: motion.yaw,
        "roll": lambda motion: motion.roll,
        "t": lambda motion: motion.translation,
        "exp": lambda motion: motion.expression,
    }
    return parts[item](Motion.from_rows(rows))
