"""Golden files `nets`, `warp` and `decoder`: the picture networks on their own.

A case with a `slice` is one run: its part of the output and the whole output's summary. It reads either
streams that its `input` names, or rows of the case that does. Runs that share rows are compared with each
other, too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.appearance import AppearanceExtractor
from visavis.render.ditto.blocks import fold_batch_norms
from visavis.render.ditto.decoder import Decoder
from visavis.render.ditto.motion_net import MotionExtractor
from visavis.render.ditto.stitch import StitchNetwork
from visavis.render.ditto.warp import WarpNetwork

from .harness import F32, Array, Comparison, GoldenFile, sliced, summary

NETWORKS: Mapping[str, Callable[[], nn.Module]] = {
    "appearance_extractor": AppearanceExtractor,
    "motion_extractor": MotionExtractor,
    "stitch_network": StitchNetwork,
    "warp_network": WarpNetwork,
    "decoder": Decoder,
}
APPEARANCE = SCORES = DECODER = 1e-4
MOTION = STITCH = 1e-5
WARP = 5e-4
POSES = ("pitch", "yaw", "roll")


def run(file: GoldenFile) -> Iterator[Comparison]:
    runners = {"nets": _nets, "warp": _warp, "decoder": _decoder}
    with torch.inference_mode():
        yield from runners[file.name](file)


def build(name: str, file: GoldenFile) -> Any:  # a network, called as its own `forward` is
    """The network of official size with the weights of the file's seed, on its device, in its dtype."""
    with torch.device("meta"):
        network = NETWORKS[name]()
    random_weights.loaded(network, name, file.seed)
    if file.dtype != torch.float32:
        fold_batch_norms(network)
    return network.to(file.device, file.dtype)


def drawn(file: GoldenFile, text: str) -> F32:
    """The batch that `text` describes: streams beside each other, then what is done to single rows."""
    rows = [_stream(file, found) for found in re.split(r"[;,]\s+(?=\S+/\S+ )", text) if _kind(found)]
    batch = np.concatenate(rows)
    number = r"([-+]?[\d.]+(?:e-?\d+)?)"
    change = rf"rows? (\d+) (?:(\*)=|= rows? (\d+) \*) {number}(?: ([-+]) {number})?"
    for to, _, of, factor, sign, offset in re.findall(change, text):
        row = batch[int(of or to)] * np.float32(factor)
        batch[int(to)] = row + np.float32(f"{sign}{offset}") if offset else row
    return batch


def _kind(text: str) -> str | None:
    found = re.search(r"\S+/\S+ (normal|uniform|smooth_image)\b", text)
    return found[1] if found else None


def _stream(file: GoldenFile, text: str) -> F32:
    """One stream with a leading dimension. A picture becomes (1, 3, H, W)."""
    name = text.split()[0]
    if _kind(text) == "smooth_image":
        size = re.search(r"(\d+)\s*x\s*(\d+)", text)
        cell = re.search(r"cell (\d+)", text)
        assert size
        picture = file.smooth_image(name, int(size[1]), int(size[2]), cell=int(cell[1]) if cell else 16)
        picture = picture.astype(np.float32) / np.float32(255 if "255" in text else 1)
        return np.ascontiguousarray(picture.transpose(2, 0, 1)[None])
    found = re.search(r"\((\d+(?:\s*,\s*\d+)+)\)", text)
    assert found
    shape = tuple(int(part) for part in found[1].split(","))
    if _kind(text) == "uniform":
        bounds = re.search(r"\[?(-?[\d.]*\d)\s*(?:,|\.\.)\s*(-?[\d.]*\d)[)\]]?", text.split("uniform")[1])
        low, high = (float(bounds[1]), float(bounds[2])) if bounds else (0.0, 1.0)
        return file.uniform(name, *shape, low=low, high=high)
    scale = re.search(r"\)\s*\*\s*([\d.]+)", text)
    return file.normal(name, *shape, scale=float(scale[1]) if scale else 1.0)


def _rows(case: Mapping[str, Any], batch: int) -> list[int]:
    """The rows of the shared input that a case reads."""
    if case is _base_of({"": case}):
        return list(range(batch))
    text = f"{case.get('input', '')} {case.get('note', '')}"
    found = re.search(r"\brows? (\d+(?:(?:\s*,\s*|\s+and\s+|\s*\.\.\s*)\d+)*)", text)
    if not found:
        return list(range(case["full_shape"][0] if "full_shape" in case else batch))
    numbers = [int(number) for number in re.findall(r"\d+", found[1])]
    return list(range(numbers[0], numbers[1] + 1)) if ".." in found[1] else numbers


def _base_of(cases: Mapping[str, Any]) -> Any:
    """The case that names the streams of the file's input."""
    return next((case for case in cases.values() if _kind(str(case.get("input", "")))), None)


def _parts(
    file: GoldenFile, case: str, got: Tensor, tolerance: float, out: str = "out"
) -> Iterator[Comparison]:
    """A slice of an output and, in float32, the summary of the whole."""
    options = file.cases[case]
    shape = list(options.get("full_shape", got.shape))
    if shape != list(got.shape):
        yield Comparison(f"{case}.{out}", float("inf"), tolerance, f"shape {list(got.shape)}, not {shape}")
        return
    yield file.compare(f"{case}.{out}", got[sliced(options["slice"])], tolerance)
    if f"{case}.summary" in file.arrays and file.dtype == torch.float32:
        size = got[0].numel()
        seen = np.stack([summary(row) for row in got])
        yield _against(file, f"{case}.summary", _leveled(seen, size), tolerance, lambda a: _leveled(a, size))


def _leveled(summaries: Array, size: int) -> Array:
    """Summaries with the root mean square instead of the L2 norm, so that all can be held to one
    tolerance."""
    rows = np.array(summaries, dtype=np.float64).reshape(-1, 6)
    rows[:, 2] /= np.sqrt(size)
    return rows


def _against(
    file: GoldenFile, case: str, got: Tensor | Array, tolerance: float, prepare: Callable[[Array], Array]
) -> Comparison:
    """`got` against the expected array after `prepare`."""
    return replace(file, arrays={case: prepare(file.arrays[case])}).compare(case, got, tolerance)


def _same_rows(
    file: GoldenFile, outputs: Mapping[str, tuple[list[int], Tensor]], tolerance: float
) -> Iterator[Comparison]:
    """Each run with fewer rows against the same rows of the largest run."""
    largest = max(outputs, key=lambda case: len(outputs[case][0]))
    whole_rows, whole = outputs[largest]
    for case, (rows, got) in outputs.items():
        if case == largest or not set(rows) <= set(whole_rows):
            continue
        expected = whole[[whole_rows.index(row) for row in rows]].cpu().double().numpy()
        name = f"{case} = rows of {largest}"
        yield replace(file, arrays={name: expected}).compare(name, got, tolerance)


def _runs(
    file: GoldenFile, batch: int, compute: Callable[[list[int]], Tensor]
) -> dict[str, tuple[list[int], Tensor]]:
    """The output of each case with a slice, and which rows it read."""
    wanted = {case: _rows(options, batch) for case, options in file.cases.items() if "slice" in options}
    return {case: (rows, compute(rows)) for case, rows in wanted.items()}


def _nets(file: GoldenFile) -> Iterator[Comparison]:
    named = {
        case: drawn(file, text)
        for case, options in file.cases.items()
        if _kind(text := str(options.get("input", "")))
    }
    images = (
        {case: file.tensor(named.get(case, next(iter(named.values())))) for case in file.cases}
        if named
        else {}
    )
    if "appearance" in file.cases:
        got = build("appearance_extractor", file)(images["appearance"])
        yield from _parts(file, "appearance", got, APPEARANCE)
    if "motion" in file.cases:
        source = build("motion_extractor", file)(images["motion"])
        motion = source.motion
        items = {
            "pitch": motion.pitch,
            "yaw": motion.yaw,
            "roll": motion.roll,
            "t": motion.translation,
            "exp": motion.expression,
            "scale": motion.scale,
            "kp": source.canonical,
        }
        for item, value in items.items():
            yield file.compare(f"motion.{item}", value, SCORES if item in POSES else MOTION)
    if "stitch" in file.cases:
        keypoints = (_float32(file, f"stitch.{name}") for name in ("kp_source", "kp_driving"))
        yield file.compare("stitch.out", build("stitch_network", file)(*keypoints), STITCH)


def _float32(file: GoldenFile, array: str) -> Tensor:
    """Keypoints keep float32 whatever the networks' dtype."""
    return torch.from_numpy(file.arrays[array].astype(np.float32)).to(file.device)


def _warp(file: GoldenFile) -> Iterator[Comparison]:
    network = build("warp_network", file)
    feature = file.tensor(drawn(file, _base_of(file.cases)["input"]))
    source, driven = (_float32(file, name) for name in ("kp_source", "kp_driving"))
    runs = _runs(file, len(feature), lambda rows: network(feature[rows], source[rows], driven[rows]))
    for case, (_, got) in runs.items():
        yield from _parts(file, case, got, WARP)
    yield from _same_rows(file, runs, WARP)
    inner = {"deformation": "deformation", "mask": "mask", "occlusion_map": "occlusion"}
    for case in file.cases:
        present = {name: field for name, field in inner.items() if f"{case}.{name}" in file.arrays}
        if present:
            rows = _rows(file.cases[case], len(feature))
            flow = network.flow(feature[rows], source[rows], driven[rows])
            for name, field in present.items():
                text, got = file.cases[case].get(name, ""), getattr(flow, field)
                part = got[sliced(text)] if ":" in text else got
                yield file.compare(f"{case}.{name}", part, WARP)


def _decoder(file: GoldenFile) -> Iterator[Comparison]:
    network = build("decoder", file)
    features = file.tensor(drawn(file, _base_of(file.cases)["input"]))
    runs = _runs(file, len(features), lambda rows: network(features[rows]))
    for case, (_, got) in runs.items():
        yield from _parts(file, case, got, DECODER)
        if f"{case}.frame_255" in file.arrays:
            text = file.cases[case]["frame_255"]
            row = re.search(r"row (\d+)", text)
            frame = got[int(row[1]) if row else 0].clamp(0, 1).permute(1, 2, 0)
            yield _against(file, f"{case}.frame_255", frame[sliced(text)], DECODER, lambda a: a / 255)
    yield from _same_rows(file, runs, DECODER)
