"""`worker`: features to motion, block by block and offline: what leaves when, and how it fades."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from visavis.render.ditto import conditions as c
from visavis.render.ditto import fades
from visavis.render.ditto.drivers import Conditions, ReferenceDriver, reference_clip
from visavis.render.ditto.hops import Sample
from visavis.render.ditto.seams import Hold

from .conditions import TOLERANCE
from .harness import Comparison, GoldenFile, largest, matched, sliced
from .made_up import character, in_float32
from .sampling import full
from .windows import options_of, shape_of, stand_in


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    face = character(file, _tag(file), file.cases["avatar"]["frames"])
    for name, case in file.cases.items():
        if "feats" in case:
            yield from _case(file, name, case, face)


def _case(file: GoldenFile, name: str, case: Mapping[str, Any], face: c.Character) -> Iterator[Comparison]:
    calls = 0
    sample = stand_in(file, case["stub_tag"])

    def counted(lead: Tensor, rows: Tensor, hold: Hold) -> Tensor:
        nonlocal calls
        calls += 1
        return sample(lead, rows, hold)

    is_online = "preroll" in case
    rows, got = (_online if is_online else _offline)(file, case, face, counted)
    count = rows.shape[1]
    got |= {
        "motion": rows[0].cpu().numpy()[(slice(None), *sliced(file.cases["avatar"]["stored"]))],
        "frame_idx": c.mirror(torch.arange(count), file.cases["avatar"]["frames"]).numpy(),
    }
    for part, array in got.items():
        if f"{name}.{part}" in file.arrays:
            exact = array.dtype.kind == "i"
            yield file.compare(f"{name}.{part}", array, 0 if exact else TOLERANCE)
    yield _fades(file, name, case, count)
    yield Comparison(f"{name}: calls", abs(calls - case["denoiser_calls"]), 0)
    yield Comparison(f"{name}: frames", abs(count - case["frames_out"]), 0)


def _online(
    file: GoldenFile, case: Mapping[str, Any], face: c.Character, sample: Sample
) -> tuple[Tensor, dict[str, np.ndarray]]:
    given = {"online_mode": True} | case["options"]
    shape = shape_of(given)
    options = options_of(file, given, face.start[None], clip=False)
    before = _features(file, case["preroll"], shape.overlap)
    driver = ReferenceDriver(shape, sample, _conditions(file, face, given), options, before=before)
    features, size = _features(file, case["feats"], given["frames"]), _block(case)
    out, emitted = list[Tensor](), [0]
    for begin in range(0, features.shape[1], size):
        out.append(driver.put(features[:, begin : begin + size]))
        emitted.append(emitted[-1] + out[-1].shape[1])
    out.append(driver.close())
    emitted.append(emitted[-1] + out[-1].shape[1])
    return torch.cat(out, dim=1), {
        "emitted_after_items": np.array(emitted),
        "d0": driver.first[0].cpu().numpy(),
    }


def _offline(
    file: GoldenFile, case: Mapping[str, Any], face: c.Character, sample: Sample
) -> tuple[Tensor, dict[str, np.ndarray]]:
    given = case["options"]
    options = options_of(file, given, face.start[None], clip=False)
    rows = _conditions(file, face, given)(_features(file, case["feats"], given["frames"]), 0)
    return reference_clip(shape_of(given), sample, rows, options), {}


def _tag(file: GoldenFile) -> str:
    """The avatar's, from the description of its motion."""
    return re.split(r"/x_s/", file.cases["avatar"]["x_s"])[0].split()[-1]


def _features(file: GoldenFile, text: str, rows: int) -> Tensor:
    """(1, rows, D) of a description whose number of rows is a word."""
    found = matched("features", r"(\S+)\s+normal\s*\(\s*\w+\s*,\s*(\d+)\s*\)(?:\s*\*\s*([\d.]+))?", text)
    return full(file.normal(found[1], rows, int(found[2]), scale=float(found[3] or 1)), file)[None]


def _block(case: Mapping[str, Any]) -> int:
    found = re.search(r"blocks of (\d+)", case["feats"])
    return int(found[1]) if found else int(case["options"].get("chunk", 5))


def _conditions(file: GoldenFile, face: c.Character, given: Mapping[str, Any]) -> Conditions:
    emotion = given.get("emo", file.cases["avatar"].get("emotion", c.NEUTRAL))
    room = len(c.emotion_vectors(emotion))
    state = c.ConditionState.init(1, eye_frames=len(face.eye_open), emotion_frames=room, device=file.device)
    state.set_emotion(0, emotion)
    state.set_character(0, face, first_eyes=bool(given.get("eye_f0_mode")))

    def rows(features: Tensor, first: int) -> Tensor:
        frames = c.window(torch.tensor([first], device=file.device), features.shape[1])
        return c.rows(state, features, frames)

    return rows


def _fades(file: GoldenFile, name: str, case: Mapping[str, Any], count: int) -> Comparison:
    """Frames that do not fade have no value."""
    expected = np.asarray(file.arrays[f"{name}.fade_alpha"], float)
    into, out = max(0, case.get("fade_in", 0)), max(0, case.get("fade_out", 0))
    shares = [fades.share(frame, case["N_d"], into=into, out=out) for frame in range(count)]
    share = np.array([np.nan if one is None else one for one in shares])
    if share.shape != expected.shape or (np.isnan(share) != np.isnan(expected)).any():
        return Comparison(f"{name}.fade_alpha", float("inf"), TOLERANCE, "fades elsewhere")
    return Comparison(f"{name}.fade_alpha", largest(np.nan_to_num(share - expected)), TOLERANCE)
