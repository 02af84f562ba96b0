"""`geometry`: keypoint transform, angles, gaze, smoothing over frames, size rule, masks, eye values."""

import re
from collections.abc import Callable, Iterator

import numpy as np
import torch
from visavis.render.crop import fit_size
from visavis.render.ditto import eyes, keypoints, smoothing
from visavis.render.ditto.motion import Source
from visavis.render.ditto.putback import feather

from .harness import F32, Comparison, GoldenFile
from .made_up import ITEMS, in_float32, source_of

TOLERANCE = 1e-5
DEGREES = 1e-4
"""The reference's own rounding is up to 2e-5 degrees away."""


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    parts: dict[str, Callable[[GoldenFile], Iterator[Comparison]]] = {
        "transform_keypoint": _keypoints,
        "rotation": _rotation,
        "gaze_exp": _gaze,
        "check_resize": _sizes,
        "lmk478_used": _eyes,
    }
    for array, part in parts.items():
        if array in file.arrays:
            yield from part(file)
    yield from _smoothed(file)
    yield from _masks(file)


def _keypoints(file: GoldenFile) -> Iterator[Comparison]:
    face = _face(file)
    points = keypoints.transform(face.motion, face.canonical)
    yield file.compare("transform_keypoint", points, TOLERANCE)
    for item in ("pitch", "yaw", "roll"):
        scores = _tensor(file, f"x.{item}")
        yield file.compare(f"degree.{item}", keypoints.degrees(scores), DEGREES)


def _rotation(file: GoldenFile) -> Iterator[Comparison]:
    yield file.compare("rotation", keypoints.rotation(*_tensor(file, "deg")), TOLERANCE)


def _gaze(file: GoldenFile) -> Iterator[Comparison]:
    number = r"\s*(-?[\d.]+)\s*"
    note = str(file.cases["gaze_exp"]["note"])
    turns = [[float(part) for part in pair] for pair in re.findall(rf"\({number},{number}\)", note)]
    row = re.search(r"row (\d+)", note)
    dx, dy = torch.tensor(turns, device=file.device).unbind(1)
    still = _tensor(file, "x.exp")[int(row[1]) if row else 0]
    yield file.compare("gaze_exp", still + keypoints.gaze_shift(dx, dy), TOLERANCE)


def _smoothed(file: GoldenFile) -> Iterator[Comparison]:
    for array in file.arrays:
        if array.startswith("smooth_in."):
            found = smoothing.moving_mean(_tensor(file, array), file.cases["smooth"]["k"])
            yield file.compare(array.replace("smooth_in", "smooth_out"), found, TOLERANCE)


def _sizes(file: GoldenFile) -> Iterator[Comparison]:
    expected = file.arrays["check_resize"]
    found: list[tuple[int, ...]] = []
    for height, width, longest, *_ in expected.tolist():
        fitting = fit_size(height, width, longest)
        found.append((height, width, longest, *fitting, fitting != (height, width)))
    yield file.compare("check_resize", np.array(found), 0)


def _masks(file: GoldenFile) -> Iterator[Comparison]:
    for array in file.arrays:
        if array.startswith("mask"):
            note = str(file.cases.get(array, {}).get("note", ""))
            yield file.compare(array, _mask(file.arrays[array].shape, note), TOLERANCE)


def _mask(shape: tuple[int, ...], note: str) -> F32:
    """Of the size and the ratios in `note`, where it names them, else of `shape` and the usual ratio."""
    value = {name: float(number) for name, number in re.findall(r"(\w+) (\d+(?:\.\d+)?)", note)}
    sides = [side for side in ("height", "width") if f"ratio_{side[0]}" in value]
    return feather(
        int(value.get("height", shape[0])),
        int(value.get("width", shape[1])),
        **{f"{side}_ratio": value[f"ratio_{side[0]}"] for side in sides},
    )


def _eyes(file: GoldenFile) -> Iterator[Comparison]:
    used = np.asarray(file.arrays["lmk478_used"], np.float32)
    points = np.zeros((len(used), eyes.POINTS, 3), np.float32)
    points[:, file.cases["eye"]["used_indices"]] = used
    opened, ball = eyes.eye_values(points)
    yield file.compare("eye_open", opened, TOLERANCE)
    yield file.compare("eye_ball", ball, TOLERANCE)
    if "eye_ball_direction" in file.arrays:
        yield file.compare("eye_ball_direction", eyes.eye_directions(points), TOLERANCE)


def _face(file: GoldenFile) -> Source:
    items = [np.asarray(file.arrays[f"x.{item}"], np.float32) for item in (*ITEMS, "kp")]
    return source_of(file, tuple(items[:-1]), items[-1])


def _tensor(file: GoldenFile, array: str) -> torch.Tensor:
    return torch.from_numpy(np.asarray(file.arrays[array], np.float32)).to(file.device)
