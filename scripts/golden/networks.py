"""Golden files `nets`, `warp` and `decoder`: the picture networks on their own.

A case is one run: a slice of its output and the whole output's summary. It reads streams that its `input`
names, or rows of the case that does. Runs that share rows are compared with each other, too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.appearance import AppearanceExtractor
from visavis.render.ditto.blocks import fold_batch_norms
from visavis.render.ditto.decoder import Decoder
from visavis.render.ditto.motion import Source
from visavis.render.ditto.motion_net import MotionExtractor
from visavis.render.ditto.stitch import StitchNetwork
from visavis.render.ditto.warp import WarpNetwork

from .core import CoreDecoder, CoreWarp
from .harness import F32, Array, Comparison, GoldenFile, sliced, summary

NETWORKS: Mapping[str, Callable[[], nn.Module]] = {
    "appearance_extractor": AppearanceExtractor,
    "motion_extractor": MotionExtractor,
    "stitch_network": StitchNetwork,
    "warp_network": WarpNetwork,
    "decoder": Decoder,
}
CORE: Mapping[str, Callable[[Any, torch.device, torch.dtype], Any]] = {
    "warp_network": CoreWarp,
    "decoder": CoreDecoder,
}
APPEARANCE = SCORES = DECODER = 1e-4
MOTION = STITCH = 1e-5
WARP = 5e-4
STREAM = r"(\S+/\S+) (normal|uniform|smooth_image)\b"
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
KEYPOINTS = ("kp_source", "kp_driving")
POSES = ("pitch", "yaw", "roll")


def run(file: GoldenFile) -> Iterator[Comparison]:
    """Every array but keypoints, which are inputs, must have been compared at the end."""
    runners = {"nets": _nets, "warp": _warp, "decoder": _decoder}
    left = {name for name in file.arrays if name.rpartition(".")[2] not in KEYPOINTS}
    if file.dtype != torch.float32:
        left = {name for name in left if not name.endswith(".summary")}
    if file.core:
        left = {name for name in left if name.endswith((".out", ".summary", ".frame_255"))}
    with torch.inference_mode():
        for one in runners[file.name](file):
            left.discard(one.case)
            yield one
    for name in sorted(left):
        yield Comparison(name, float("nan"), 0.0, "nothing compares it")


def build(name: str, file: GoldenFile) -> Any:  # a network, called as its own `forward` is
    """The network of official size with the weights of the file's seed, on its device, in its dtype."""
    with torch.device("meta"):
        network = NETWORKS[name]()
    random_weights.loaded(network, name, file.seed)
    if file.core and name in CORE:
        return CORE[name](network, file.device, file.dtype)
    if file.dtype != torch.float32:
        fold_batch_norms(network)
    return network.to(file.device, file.dtype)


def drawn(file: GoldenFile, text: str) -> F32:
    """The batch that `text` describes: streams beside each other, then what is done to single rows."""
    starts = [found.start() for found in re.finditer(STREAM, text)]
    pieces = (text[start:end] for start, end in pairwise([*starts, len(text)]))
    batch = np.concatenate([_stream(file, piece) for piece in pieces])
    change = rf"row (\d+) (?:\*=|= row (\d+) \*) ({NUMBER})(?: ([-+]) ({NUMBER}))?"
    for to, of, factor, sign, offset in re.findall(change, text):
        row = batch[int(of or to)] * np.float32(factor)
        batch[int(to)] = row + np.float32(f"{sign}{offset}") if offset else row
    return batch


def _stream(file: GoldenFile, text: str) -> F32:
    """One stream with a leading dimension. A picture becomes (1, 3, H, W)."""
    found = re.match(STREAM, text)
    assert found
    name, kind = found[1], found[2]
    if kind == "smooth_image":
        height, width = (int(side) for side in re.findall(r"(\d+)\s*x\s*(\d+)", text)[0])
        cell = re.search(r"cell (\d+)", text)
        picture = file.smooth_image(name, height, width, cell=int(cell[1]) if cell else 16)
        whole = picture.astype(np.float32) / np.float32(255 if re.search(r"/\s*255", text) else 1)
        return np.ascontiguousarray(whole.transpose(2, 0, 1)[None])
    sizes = re.search(r"\((\d+(?:\s*,\s*\d+)+)\)", text)
    assert sizes
    shape = [int(part) for part in sizes[1].split(",")]
    if kind == "uniform":
        bounds = re.findall(NUMBER, text[found.end() : sizes.start()])
        low, high = (float(bound) for bound in bounds) if bounds else (0.0, 1.0)
        return file.uniform(name, *shape, low=low, high=high)
    scale = re.match(rf"\s*\*\s*({NUMBER})", text[sizes.end() :])
    return file.normal(name, *shape, scale=float(scale[1]) if scale else 1.0)


@dataclass(frozen=True, slots=True)
class Reads:
    """What a case reads: `rows` of the batch that the case `of` draws."""

    of: str
    rows: list[int]


def reads_of(file: GoldenFile, case: str) -> Reads:
    """A case that names streams draws them; another reads rows of the one that does, as its words say. Where
    several do, the words name it, else it is the first."""
    options = file.cases[case]
    drawing = [name for name, one in file.cases.items() if re.search(STREAM, str(one.get("input", "")))]
    text = f"{options.get('input', '')} {options.get('note', '')}"
    named = [name for name in drawing if re.search(rf"\b{re.escape(name)}\b", text)]
    of = case if case in drawing else (named or drawing)[0]
    found = re.search(r"\brows? (\d+(?:(?:\s*,?\s+and\s+|\s*,\s*|\s*\.\.\s*|\s+to\s+)\d+)*)", text)
    if of == case or not found:
        return Reads(of, list(range(len(drawn(file, file.cases[of]["input"])))))
    numbers = [int(number) for number in re.findall(r"\d+", found[1])]
    is_range = re.search(r"\.\.|to", found[1])
    return Reads(of, list(range(numbers[0], numbers[1] + 1)) if is_range else numbers)


def _batch(file: GoldenFile, reads: Reads) -> Tensor:
    return file.tensor(drawn(file, file.cases[reads.of]["input"])[reads.rows])


def _parts(file: GoldenFile, case: str, got: Tensor, tolerance: float) -> Iterator[Comparison]:
    """A slice of an output and, in float32, the summary of the whole."""
    options = file.cases[case]
    shape = list(options.get("full_shape", got.shape))
    if shape != list(got.shape):
        yield Comparison(f"{case}.out", float("inf"), tolerance, f"shape {list(got.shape)}, not {shape}")
        return
    part = got[sliced(options["slice"])] if "slice" in options else got
    yield file.compare(f"{case}.out", part, tolerance)
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
    file: GoldenFile, outputs: Mapping[str, tuple[Reads, Tensor]], tolerance: float
) -> Iterator[Comparison]:
    """Each run against the same rows of a run with more of them."""
    for case, (reads, got) in outputs.items():
        for larger, (others, whole) in outputs.items():
            if reads.of != others.of or not set(reads.rows) < set(others.rows):
                continue
            expected = whole[[others.rows.index(row) for row in reads.rows]].cpu().double().numpy()
            name = f"{case} = rows of {larger}"
            yield replace(file, arrays={name: expected}).compare(name, got, tolerance)


def _nets(file: GoldenFile) -> Iterator[Comparison]:
    """Which network a case is of is told by its arrays: keypoints, poses or neither."""
    for case in file.cases:
        if f"{case}.{KEYPOINTS[0]}" in file.arrays:
            keypoints = (_float32(file, f"{case}.{name}") for name in KEYPOINTS)
            yield file.compare(f"{case}.out", build("stitch_network", file)(*keypoints), STITCH)
        elif f"{case}.{POSES[0]}" in file.arrays:
            image = _batch(file, reads_of(file, case))
            for item, value in items(build("motion_extractor", file)(image)).items():
                if f"{case}.{item}" in file.arrays:
                    yield file.compare(f"{case}.{item}", value, SCORES if item in POSES else MOTION)
        elif f"{case}.out" in file.arrays:
            image = _batch(file, reads_of(file, case))
            yield from _parts(file, case, build("appearance_extractor", file)(image), APPEARANCE)


def items(source: Source) -> dict[str, Tensor]:
    """The parts of what a picture holds, by their official names."""
    motion = source.motion
    return {
        "pitch": motion.pitch,
        "yaw": motion.yaw,
        "roll": motion.roll,
        "t": motion.translation,
        "exp": motion.expression,
        "scale": motion.scale,
        "kp": source.canonical,
    }


def _float32(file: GoldenFile, array: str) -> Tensor:
    """Keypoints keep float32 whatever the networks' dtype."""
    return torch.from_numpy(file.arrays[array].astype(np.float32)).to(file.device)


def _warp(file: GoldenFile) -> Iterator[Comparison]:
    network = build("warp_network", file)
    inner = {"deformation": "deformation", "mask": "mask", "occlusion_map": "occlusion"}
    outputs: dict[str, tuple[Reads, Tensor]] = {}
    for case, options in file.cases.items():
        reads = reads_of(file, case)
        feature = _batch(file, reads)
        source, driven = (_keypoints(file, name, reads) for name in KEYPOINTS)
        if file.core:
            if f"{case}.out" in file.arrays:
                outputs[case] = reads, network(feature, source, driven)
                yield from _parts(file, case, outputs[case][1], WARP)
            continue
        flow = network.flow(feature, source, driven)
        if f"{case}.out" in file.arrays:
            outputs[case] = reads, network.moved(feature, flow)
            yield from _parts(file, case, outputs[case][1], WARP)
        for name, field in inner.items():
            if f"{case}.{name}" in file.arrays:
                text, got = options.get(name, ""), getattr(flow, field)
                part = got[sliced(text)] if ":" in text else got
                yield file.compare(f"{case}.{name}", part, WARP)
    yield from _same_rows(file, outputs, WARP)


def _keypoints(file: GoldenFile, name: str, reads: Reads) -> Tensor:
    own = f"{reads.of}.{name}"
    return _float32(file, own if own in file.arrays else name)[reads.rows]


def _decoder(file: GoldenFile) -> Iterator[Comparison]:
    network = build("decoder", file)
    outputs: dict[str, tuple[Reads, Tensor]] = {}
    for case, options in file.cases.items():
        reads = reads_of(file, case)
        got = network(_batch(file, reads))
        outputs[case] = reads, got
        if f"{case}.out" in file.arrays:
            yield from _parts(file, case, got, DECODER)
        if f"{case}.frame_255" in file.arrays:
            text = options["frame_255"]
            row = re.search(r"row (\d+)", text)
            frame = got[int(row[1]) if row else 0].clamp(0, 1).permute(1, 2, 0)
            part = frame[sliced(text)] if ":" in text else frame
            yield _against(file, f"{case}.frame_255", part, DECODER, lambda array: array / 255)
    yield from _same_rows(file, outputs, DECODER)
