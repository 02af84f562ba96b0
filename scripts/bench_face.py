"""Measure what a frame of a presenter costs, as JSON: CPU milliseconds of this process on one core.

    python scripts/bench_face.py [NAME | FOLDER ...] [--frames 150] [--size 720x1280 ...]

`calm` is a face that speaks, breathes and sways by a few degrees; `turning` swings its head by 20 degrees.
`pose` moves the mesh, `draw` is the whole crop with its pose, `composite` puts it on the plate, `whole` is a
frame; `draw_share` says which part of 40 ms the drawing takes. Run it with OPENBLAS_NUM_THREADS=1.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from visavis.render.avatar import Avatar, find_avatar, load_avatar, presenters
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.engine import Crop
from visavis.render.rig.face import Face
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.units import unit_vector

F32 = NDArray[np.float32]
FRAME_MS = 40.0
WARM_FRAMES = 8
_MOUTHS = (
    unit_vector({"jawOpen": 0.35, "mouthLowerDown": 0.2}),
    unit_vector({"mouthPucker": 0.6, "jawOpen": 0.1}),
    unit_vector({"mouthSmile": 0.4, "mouthStretch": 0.3, "jawOpen": 0.12}),
    unit_vector({"mouthPress": 0.5}),
)


@dataclass(frozen=True, slots=True)
class Stage:
    """CPU nanoseconds of each frame."""

    spent_ns: list[int]

    def figures(self) -> dict[str, float]:
        spent = np.array(self.spent_ns) / 1e6
        return {"best_ms": round(float(spent.min()), 3), "median_ms": round(float(np.median(spent)), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--size", action="append", default=[], help="WIDTHxHEIGHT, again for more")
    options = parser.parse_args()
    wanted = [tuple(int(side) for side in size.split("x")) for size in options.size]
    report = {}
    for name in options.names or presenters():
        avatar = load_avatar(Path(name)) if "/" in name else find_avatar(name)
        sizes = [size for size in avatar.sizes if not wanted or size in wanted]
        report[name] = {
            f"{width}x{height}": measured(avatar, (width, height), options.frames) for width, height in sizes
        }
    print(json.dumps(report, indent=1))


def measured(avatar: Avatar, size: tuple[int, int], frames: int) -> dict[str, object]:
    """Figures of one presenter at one size, for each kind of motion."""
    began = time.process_time_ns()
    face = Face(avatar, size)
    load = Stage([time.process_time_ns() - began])
    x, y, width, height = face.view.crop
    figures: dict[str, object] = {
        "crop": [width, height],
        "load_ms": load.figures()["best_ms"],
    }
    for kind, motions in (("calm", calm), ("turning", turning)):
        figures[kind] = _frames(avatar, face, (x, y), size, list(motions(frames)))
    return figures


def _frames(
    avatar: Avatar, face: Face, corner: tuple[int, int], size: tuple[int, int], motions: list[Motion]
) -> dict[str, object]:
    canvas = face.canvas()
    compositor = Compositor(avatar.plate(size), color_space(*size))
    surface = compositor.surface()
    matrix = np.array([[1, 0, corner[0]], [0, 1, corner[1]]], np.float32)
    pose, draw, composite = Stage([]), Stage([]), Stage([])
    for motion in [*motions[:WARM_FRAMES], *motions]:
        _timed(pose, lambda m=motion: face.lip_gap(m, canvas))
        _timed(draw, lambda m=motion: face.draw(m, canvas))
        crop = Crop(0, canvas.pixels, matrix)
        _timed(composite, lambda c=crop: compositor.composite(c, face.mask, surface))
    stages = {"pose": pose, "draw": draw, "composite": composite}
    kept = {name: Stage(stage.spent_ns[WARM_FRAMES:]) for name, stage in stages.items()}
    whole = Stage([a + b for a, b in zip(kept["draw"].spent_ns, kept["composite"].spent_ns, strict=True)])
    figures: dict[str, object] = {name: stage.figures() for name, stage in kept.items()}
    figures["whole"] = whole.figures()
    figures["draw_share"] = round(kept["draw"].figures()["median_ms"] / FRAME_MS, 3)
    return figures


def _timed(stage: Stage, work: Callable[[], object]) -> None:
    began = time.process_time_ns()
    work()
    stage.spent_ns.append(time.process_time_ns() - began)


def calm(frames: int) -> Iterator[Motion]:
    for k in range(frames):
        way = k / 4
        mouth = _MOUTHS[int(way) % 4] * np.float32(1 - way % 1) + _MOUTHS[int(way + 1) % 4] * np.float32(
            way % 1
        )
        blink = unit_vector({"eyeBlink": max(0.0, 1 - abs(k % 75 - 4) / 4)})
        yield replace(
            still(),
            units=(mouth + blink).astype(np.float32),
            head=np.array([4 * np.sin(k / 19), 2 * np.sin(k / 13), 1.5 * np.sin(k / 29)], np.float32),
            gaze=np.array([0.2 * np.sign(np.sin(k / 11)), 0.1], np.float32),
            body=np.array([0.5 - 0.5 * np.cos(k / 16), 0.3 * np.sin(k / 60)], np.float32),
            hair=np.array([np.sin(k / 9), 0.4 * np.sin(k / 7)], np.float32),
            torso=np.array([np.sin(k / 21), 0.4 * np.sin(k / 31)], np.float32),
        )


def turning(frames: int) -> Iterator[Motion]:
    for k, motion in enumerate(calm(frames)):
        head = np.array([20 * np.sin(k / 12), 8 * np.sin(k / 17), 0], np.float32)
        yield replace(motion, head=head)


if __name__ == "__main__":
    main()
