"""Files opencv4 and opencv5: crops, put-back, loading and the whole registration, with stand-in models.

Errors of pictures are in levels of 0..255. OpenCV 4 places samples on a grid of 1/32 pixel, which is imitated
here for what is sampled once from a rough picture; the project itself samples exactly.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from visavis.render.crop import cut, face_square, fit, halved, moved
from visavis.render.ditto.eyes import eye_values
from visavis.render.ditto.putback import blend, feather, put_back
from visavis.render.ditto.reference_points import Models, anchors, faces, look, mesh_points

from .harness import F32, Array, Comparison, GoldenFile, largest, matched, summary
from .made_up import in_float32

Case = Mapping[str, Any]  # free-form JSON
LEVELS, PUT_BACK_LEVELS, PIXELS, EYES = 2.0, 1.0, 5e-3, 1e-5
GRID = 32
_WORDS = ("pixel", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_STEPS = {word: step for step, word in enumerate(_WORDS, start=1)} | {"other": 2}
_NUMBER = r"-?\d+(?:\.\d+)?"


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    for name, case in file.cases.items():
        if "dsize" in case:
            yield from _crop(file, name, case)
        elif "render" in case:
            yield from _put_back(file, name, case)
        elif "result_shape" in case:
            yield _load(file, name, case)
        elif "stub_det" in case:
            yield from _Registration(file, name, case).run()
        elif "input" in case:
            (step,) = {int(one) for one in re.findall(r"::(\d+)", case["stored"])}
            pixels = halved(drawn(file, case["input"]).astype(np.uint8))
            yield _levels(file, name, pixels.transpose(2, 0, 1)[:, ::step, ::step] / 255, 255)


def drawn(file: GoldenFile, text: str) -> Array:
    """What `stream smooth_image HxW [cell N]` or `stream uniform A..B (shape)` describes."""
    stream, kind, _ = text.split(maxsplit=2)
    if kind.startswith("smooth_image"):
        return _smooth(file, text)
    shape = [int(one) for one in re.findall(r"\d+", re.findall(r"\(([\d, ]+)\)", text)[0])]
    if kind.startswith("normal"):
        times = re.search(rf"\*\s*({_NUMBER})", text)
        return file.normal(stream, *shape, scale=float(times[1]) if times else 1.0)
    low, high = re.findall(rf"({_NUMBER})\.\.({_NUMBER})", text)[0]
    return file.uniform(stream, *shape, low=float(low), high=float(high))


def _smooth(file: GoldenFile, text: str) -> NDArray[np.uint8]:
    found = matched("picture", r"([\w/]+) smooth_image (\d+)\s*x\s*(\d+)(?:.*?cell (\d+))?", text)
    return file.smooth_image(found[1], int(found[2]), int(found[3]), int(found[4] or 16))


def _every(text: str) -> int:
    """The step that `every 7th`, `every third` or `every pixel` names."""
    found = matched("step", r"every (?:(\d+)|(\w+))", text)
    return int(found[1]) if found[1] else _STEPS[found[2]]


def _levels(file: GoldenFile, array: str, got: Array, scale: float, allowed: float = LEVELS) -> Comparison:
    """The largest difference in levels, where 1 level is 1 / `scale`."""
    expected = file.arrays[array].astype(np.float64)
    if got.shape != expected.shape:
        return Comparison(array, float("inf"), allowed, f"shape {got.shape}, not {expected.shape}")
    return Comparison(array, largest(got.astype(np.float64) - expected) * scale, allowed, "levels")


def _on_grid(file: GoldenFile) -> bool:
    return file.name.endswith("4")


def gridded(pixels: Array, place: ArrayLike, height: int, width: int) -> F32:
    """As `sampled`, on a grid of 1/32 pixel."""
    rows = np.asarray(place, np.float64)[:2]
    across = np.arange(width)
    down = np.arange(height)[:, None]
    fine = 1024
    at = [np.rint(row[0] * across * fine) + np.rint((row[1] * down + row[2]) * fine) for row in rows]
    x, y = (np.floor((axis + fine / GRID / 2) / (fine / GRID)) / GRID for axis in at)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right_share, low_share = (x - left)[..., None], (y - top)[..., None]
    padded = np.pad(pixels.astype(np.float64), ((2, 2), (2, 2), (0, 0)))

    def tap(row: NDArray[np.int64], column: NDArray[np.int64]) -> Array:
        return padded[np.clip(row + 2, 0, padded.shape[0] - 1), np.clip(column + 2, 0, padded.shape[1] - 1)]

    upper = (1 - right_share) * tap(top, left) + right_share * tap(top, left + 1)
    lower = (1 - right_share) * tap(top + 1, left) + right_share * tap(top + 1, left + 1)
    return ((1 - low_share) * upper + low_share * lower).astype(np.float32)


def _crop(file: GoldenFile, name: str, case: Case) -> Iterator[Comparison]:
    points = file.arrays[f"{name}.pts"].astype(np.float32)
    square = face_square(points, scale=case["scale"], shift=case["vy_ratio"])
    size, turned = case["dsize"], case["flag_do_rot"]
    to_crop, to_picture = square.to_crop(size, turned=turned), square.to_picture(size, turned=turned)
    rect = np.array([*square.centre, square.side_px, square.side_px, square.angle])
    yield file.compare(f"{name}.rect", rect, PIXELS)
    yield file.compare(f"{name}.M_o2c", to_crop, PIXELS)
    yield file.compare(f"{name}.M_c2o", to_picture, PIXELS)
    first = points[: len(file.arrays[f"{name}.pt_crop"])]
    yield file.compare(f"{name}.pt_crop", moved(first, to_crop), PIXELS)
    step = _every(case["img"])
    photo = _smooth(file, case["photo"])
    if _on_grid(file):
        seen = np.round(gridded(photo, np.linalg.inv(to_crop.astype(np.float64)), size, size))
    else:
        seen = cut(photo, to_picture, size)
    yield _levels(file, f"{name}.img", seen[::step, ::step], 1)


def _put_back(file: GoldenFile, name: str, case: Case) -> Iterator[Comparison]:
    plate = drawn(file, case["plate"]).astype(np.uint8)
    face = drawn(file, case["render"]).astype(np.float32)
    place = np.linalg.inv(file.arrays[f"{name}.m_c2o"].astype(np.float64))
    mask = feather(*face.shape[:2])
    height, width = plate.shape[:2]
    if _on_grid(file):
        covered = gridded(mask[..., None], place, height, width)[..., 0]
        seen = blend(plate, gridded(face, place, height, width), covered)
    else:
        seen = put_back(plate, face, mask, file.arrays[f"{name}.m_c2o"])
    changed = np.argwhere((seen != plate).any(-1))
    low, high = changed.min(0), changed.max(0) + 1
    yield file.compare(f"{name}.box", np.array([low[0], high[0], low[1], high[1]]), 1)
    y0, y1, x0, x1 = (int(edge) for edge in file.arrays[f"{name}.box"].astype(int))
    whole = "whole" in case["stored"]
    step = 1 if whole else _every(case["stored"])
    part = seen if whole else seen[y0:y1:step, x0:x1:step]
    yield _levels(file, f"{name}.result", part, 1, PUT_BACK_LEVELS)
    weights = np.array([1, 1, seen.size**-0.5, 1, 1, 1])
    away = largest((summary(seen) - file.arrays[f"{name}.summary"].astype(np.float64)) * weights)
    yield Comparison(f"{name}.summary", away, PUT_BACK_LEVELS, "levels")


def _load(file: GoldenFile, name: str, case: Case) -> Comparison:
    text = case["input"]
    if re.search(r"\d+\s*x\s*\d+", text):
        most = int(case["max_size"] if "max_size" in case else re.findall(r"\d+", name)[-1])
    else:  # the name of the case tells the sizes: loadHxW_MAX
        height, width, most = (int(one) for one in re.findall(r"(\d+)x(\d+)_(\d+)", name)[-1])
        text = re.sub(r"smooth_image", f"smooth_image {height}x{width}", text)
    picture = _smooth(file, text)
    seen = fit(picture, most)
    if list(seen.shape) != case["result_shape"]:
        return Comparison(name, float("inf"), LEVELS, f"shape {seen.shape}, not {case['result_shape']}")
    steps = [int(one) for one in re.findall(r"::(\d+)", case["stored"])]
    return _levels(file, name, seen[:: steps[0], :: steps[1]], 1)


class _Registration:
    """Two or more frames through the stand-in models, which keep what they were fed."""

    def __init__(self, file: GoldenFile, name: str, case: Case) -> None:
        self._file, self._name, self._case = file, name, case
        self._photo = _smooth(file, case["photo"])
        self._fed: dict[str, list[F32]] = {}
        few, many = (self._array(f"stub_{model}").astype(np.float32) for model in ("lm106", "lm203"))
        self._models = Models(
            detector=self._detector,
            few=lambda picture: self._keep("in_lm106", picture, [few]),
            many=lambda picture: self._keep("in_lm203", picture, [many]),
            box=lambda picture: self._keep("in_blaze", picture, self._box()),
            mesh=lambda picture: self._keep("in_mesh", picture, [drawn(file, case["stub_mesh"])]),
        )

    def run(self) -> Iterator[Comparison]:
        boxes, points = faces(self._photo, self._models.detector)
        yield self._file.compare(f"{self._name}.det_boxes", boxes, PIXELS)
        yield self._file.compare(f"{self._name}.det_kps", points, PIXELS)
        yield self._anchors()
        crop = _smooth(self._file, self._case["lmk478_direct"])
        direct = mesh_points(crop, self._models.box, self._models.mesh)
        step = _every(self._case["lmk478_direct"])
        yield self._file.compare(f"{self._name}.lmk478_direct", direct[::step], EYES)
        self._fed.clear()
        yield from self._frames()
        for array in ("in_det", "in_lm106", "in_blaze", "in_mesh"):
            if f"{self._name}.{array}" in self._file.arrays:
                yield self._picture(array, array, 0)

    def _frames(self) -> Iterator[Comparison]:
        frames = sum(key.startswith(f"{self._name}.M_c2o_frame") for key in self._file.arrays)
        previous: F32 | None = None
        mirrored = {int(one) for one in re.findall(r"frame (\d+) = mirrored", self._case["photo"])}
        for frame in range(frames):
            picture = self._photo[:, ::-1] if frame in mirrored else self._photo
            seen = look(np.ascontiguousarray(picture), self._models, previous=previous)
            previous = seen.landmarks
            opened, ball = eye_values(seen.mesh[None])
            for array, got, allowed in (
                ("M_c2o", seen.to_picture, PIXELS),
                ("lmk203", seen.landmarks, PIXELS),
                ("eye_open", opened, EYES),
                ("eye_ball", ball, EYES),
            ):
                yield self._file.compare(f"{self._name}.{array}_frame{frame}", got, allowed)
            yield self._picture(f"in_lm203_frame{frame}", "in_lm203", frame)
            if frame == 0:
                app = halved(seen.crop).astype(np.float32).transpose(2, 0, 1)[None] / 255
                self._keep("in_app", app, [])
                yield self._picture("in_app", "in_app", 0)

    def _array(self, array: str) -> Array:
        return self._file.arrays[f"{self._name}.{array}"]

    def _keep(self, name: str, fed: F32, outputs: Sequence[F32]) -> Sequence[F32]:
        self._fed.setdefault(name, []).append(fed)
        return outputs

    def _picture(self, array: str, fed: str, frame: int) -> Comparison:
        """What a model was fed, thinned as `strides` says, against the stored array."""
        steps = {
            one: int(step)
            for group, step in re.findall(r"([\w/]+) ::(\d+)", self._case["strides"])
            for one in group.split("/")
        }
        step = steps[fed]
        pixels = self._fed[fed][frame][0]
        thinned = pixels[:, ::step, ::step] if len(pixels) == 3 else pixels[::step, ::step]
        scale = {"in_det": 128.0, "in_lm106": 1.0, "in_blaze": 127.5}.get(fed, 255.0)
        return _levels(self._file, f"{self._name}.{array}", thinned, scale)

    def _anchors(self) -> Comparison:
        """The stored rows are some of ours, in this order: the ends of the first and of the second grid."""
        stored = self._array("blaze_anchors").astype(np.float64)[:, :2]
        apart = np.abs(anchors()[:, None] - stored).max(-1).min(0)
        return Comparison(f"{self._name}.blaze_anchors", largest(apart), 1e-6)

    def _detector(self, picture: F32) -> Sequence[F32]:
        """Scores, boxes and points of each stride, by the rule of `stub_det`. Where it leaves several boxes
        with the same best score, those that were kept stand a hair above the others."""
        text = self._case["stub_det"]
        strides = [int(one) for one in matched("strides", r"st in ([\d,]+)", text)[1].split(",")]
        size = float(matched("size", rf"\*\s*({_NUMBER})/st", text)[1])
        ranges = {
            stream: (float(low), float(high))
            for stream, low, high in re.findall(rf"(\w+/\w+)/st uniform ({_NUMBER})\.\.({_NUMBER})", text)
        }
        hot = re.search(rf"hot point \(({_NUMBER}),\s*({_NUMBER})\)", text)
        other = re.search(
            rf"of \(({_NUMBER}),\s*({_NUMBER})\) get score ({_NUMBER}) and boxes \*\s*({_NUMBER})", text
        )
        assert hot
        streams = {stream.split("_")[-1]: stream for stream in ranges}
        points = re.search(r"kps = (\w+/\w+)/st normal", text)
        assert points
        outputs: list[list[F32]] = [[], [], []]
        for stride in strides:
            cells = 512 // stride
            down, along = np.divmod(np.repeat(np.arange(cells * cells), 2), cells)
            centres = np.stack([along, down], -1) * stride

            def at(stream: str, columns: int, stride: int = stride, rows: int = len(centres)) -> F32:
                low, high = ranges[streams[stream]]
                return self._file.uniform(f"{streams[stream]}/{stride}", rows, columns, low=low, high=high)

            def near(x: str, y: str, stride: int = stride, centres: Array = centres) -> NDArray[np.bool_]:
                return (np.abs(centres - (float(x), float(y))) <= stride).all(-1)

            scores, boxes = at("score", 1), at("box", 4) * np.float32(size / stride)
            rows = near(hot[1], hot[2])
            scores[rows] = at("hot", 1)[rows]
            if other:
                rows = near(other[1], other[2])
                scores[rows] = np.float32(other[3])
                boxes[rows] *= np.float32(other[4])
                self._lift(scores, rows, centres, boxes * stride)
            outputs[0].append(scores)
            outputs[1].append(boxes)
            outputs[2].append(self._file.normal(f"{points[1]}/{stride}", len(centres), 10))
        return self._keep("in_det", picture, [one for level in outputs for one in level])

    def _lift(self, scores: F32, rows: NDArray[np.bool_], centres: Array, reach: F32) -> None:
        """Raise the scores of those `rows` whose box is one of the expected."""
        scale = 512 / max(self._photo.shape[:2])
        boxes = np.hstack([centres - reach[:, :2], centres + reach[:, 2:]]) / scale
        expected = self._array("det_boxes").astype(np.float64)[:, :4]
        kept = np.abs(boxes[:, None] - expected).max(-1).min(-1) < PIXELS
        scores[rows & kept] += np.float32(1e-6)

    def _box(self) -> Sequence[F32]:
        """Regressors and scores by the rule of `stub_blaze`."""
        text = self._case["stub_blaze"]
        raw = drawn(self._file, matched("regressors", r"[\w/]+ normal[^,]*\([\d,]+\)", text)[0])
        scores = drawn(self._file, matched("scores", r"[\w/]+ uniform [^;]*\([\d,]+\)", text)[0])
        listed = re.search(r"rows ([\d,]+) get scores ([\d.,-]+\d)", text)
        shares = re.findall(rf"((?:{_NUMBER},)+{_NUMBER}) \+ ([\w/]+ normal[^(]*\([\d,]+\))", text)
        assert listed
        rows = [int(one) for one in listed[1].split(",")]
        scores[0, rows, 0] = [float(one) for one in listed[2].split(",")]
        first = 2
        for base, noise in shares:
            values = np.array([float(one) for one in base.split(",")], np.float32)
            raw[0, rows, first : first + len(values)] = values + drawn(self._file, noise)
            first += len(values)
        return [raw.astype(np.float32), scores.astype(np.float32)]
