"""`chain`: a photo's features and motion, moved by a made-up driver, stitched, warped and drawn."""

import re
from collections.abc import Iterator

import numpy as np
import torch
from visavis.render.ditto import keypoints
from visavis.render.ditto.controls import Controls
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.motion_stitch import MotionStitch, StitchState

from .harness import Comparison, GoldenFile, matched, sliced, summary
from .made_up import ITEMS
from .networks import build, drawn

TOLERANCE = 5e-3
POSES = ("pitch", "yaw", "roll")
_NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"


@torch.no_grad()
def run(file: GoldenFile) -> Iterator[Comparison]:
    (case,) = (one for one in file.cases.values() if "photo" in one)
    photo = file.tensor(drawn(file, case["photo"]))
    volume = build("appearance_extractor", file)(photo)
    source: Source = build("motion_extractor", file)(photo)
    still = keypoints.transform(source.motion, source.canonical)
    yield file.compare("kp_source", still, TOLERANCE)
    rendered = int(case["rendered_frame"])
    frames = [int(number) for number in re.findall(r"frame(\d+)\.kp_driving", " ".join(file.arrays))]
    points: list[torch.Tensor] = []
    stage = MotionStitch(build("stitch_network", file), file.device)
    controls, state = Controls.init(1, file.device), StitchState.init(1, file.device)
    for frame in range(max((*frames, rendered)) + 1):
        driving = _driving(file, case["driving"], source, frame)
        if (array := f"driving{frame}.exp") in file.arrays:
            yield file.compare(array, driving.expression, TOLERANCE)
        active = torch.ones(1, dtype=torch.bool, device=file.device)
        points.append(stage.step(source, still, driving, controls=controls, state=state, active=active))
        if frame in frames:
            yield file.compare(f"frame{frame}.kp_driving", points[frame], TOLERANCE)
    feature = build("warp_network", file)(volume, still, points[rendered])
    image = build("decoder", file)(feature)
    yield from _drawn(file, f"frame{rendered}", {"feature": feature, "image": image}, case["slices"])


def _drawn(file: GoldenFile, frame: str, found: dict[str, torch.Tensor], slices: str) -> Iterator[Comparison]:
    for name, value in found.items():
        words = re.search(rf"{name} (\[[^\]]*\])", slices)
        yield file.compare(f"{frame}.{name}", value[sliced(words[1])] if words else value, TOLERANCE)
    if (array := f"{frame}.summary") not in file.arrays or file.dtype != torch.float32:
        return
    # The third number is a norm over all: by element, it can be held to the same tolerance.
    scale = np.ones((len(found), 6))
    scale[:, 2] = [1 / np.sqrt(value.numel()) for value in found.values()]
    seen = np.stack([summary(value) for value in found.values()])
    difference = np.abs((seen - np.asarray(file.arrays[array])) * scale)
    yield Comparison(array, float(difference.max()), TOLERANCE)


def _driving(file: GoldenFile, text: str, source: Source, frame: int) -> Motion:
    """The source's motion and what the streams of `text` add to it in `frame`."""
    tag = matched("stream", r"(\S+)/I/KEY", text)
    spread = dict(re.findall(rf"\b(scale|t|exp|poses|pitch|yaw|roll) ({_NUMBER})", text))
    moved: list[torch.Tensor] = []
    for item, value in zip(ITEMS, _items(source.motion), strict=True):
        scale = spread.get(item, spread.get("poses") if item in POSES else None)
        added = file.normal(f"{tag[1]}/{frame}/{item}", *value.shape, scale=float(scale or 0))
        moved.append(value + torch.from_numpy(added).to(value))
    return Motion(*moved)


def _items(motion: Motion) -> tuple[torch.Tensor, ...]:
    """In the order of `ITEMS`."""
    return (motion.scale, motion.pitch, motion.yaw, motion.roll, motion.translation, motion.expression)
