"""Draw a labelled sheet of a presenter: rest, mouth shapes, blinks, turns, moods and five seconds of speech.

    python scripts/contact_sheet.py ruby [--wav SPEECH.wav] [-o docs/presenters/ruby.jpg]

Without a WAV the speech is synthesised.
"""

import argparse
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import soxr
from numpy.typing import NDArray
from visavis.render.avatar import find_avatar
from visavis.render.rig.expression import EMOTIONS
from visavis.render.rig.face import Face
from visavis.render.rig.lips import SHAPES
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.performer import DELAY_TICKS, Performer
from visavis.render.rig.units import unit_vector
from visavis.render.rig.viseme import VisemeStage
from visavis.stream.clock import FEATURE_HOP, FEATURE_HZ, PROGRAM_HOP
from visavis.stream.media import TickAudio
from visavis.stream.visemes import ROWS_PER_TICK, VISEMES

U8 = NDArray[np.uint8]
F32 = NDArray[np.float32]

SIZE = (720, 1280)
COLUMNS = 6
CELL = (250, 290)
STRIP_COLUMNS = 15
STRIP_CELL = (100, 84)
STRIP_TICKS = 123
TURNS = ((10, 0, 0), (-10, 0, 0), (5, 0, 0), (-5, 0, 0), (0, 6, 0), (0, -6, 0))
PANGRAM = "Hello! I am a presenter made of numbers. Maybe we will move five very big boxes, if you help me."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("name")
    parser.add_argument("--wav", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    options = parser.parse_args()
    out: Path = options.out or Path(__file__).parents[1] / "docs" / "presenters" / f"{options.name}.jpg"
    samples = _read(options.wav) if options.wav else _synthesised()
    out.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(out), sheet(options.name, samples)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


def sheet(name: str, samples: F32) -> U8:
    """The whole sheet, RGB."""
    face = Face(find_avatar(name), SIZE)
    canvas = face.canvas()
    poses = [_labelled(_shot(face.draw(motion, canvas)), label) for label, motion in _poses()]
    strip = [
        _labelled(_mouth(face.draw(motion, canvas)), label, small=True) for label, motion in _talk(samples)
    ]
    top, low = _grid(poses, COLUMNS), _grid(strip, STRIP_COLUMNS)
    width = max(top.shape[1], low.shape[1])
    return np.vstack([_padded(top, width), _padded(low, width)])


def _poses() -> Iterator[tuple[str, Motion]]:
    yield "rest", still()
    for name, shape in SHAPES.items():
        if name != "sil":
            yield name, _moved(shape.units)
    for weight in (0.25, 0.5, 1.0):
        yield f"blink {weight:.0%}", _moved({"eyeBlink": weight})
    for turn in TURNS:
        label = " ".join(
            f"{axis} {angle:+d}" for axis, angle in zip(("yaw", "pitch", "roll"), turn, strict=True) if angle
        )
        yield label, _moved({}, turn)
    for name, units in EMOTIONS.items():
        if name != "neutral":
            yield name, replace(still(), units=units)
    yield "gaze", replace(still(), gaze=np.array([0.8, 0.2], np.float32))


def _moved(units: dict[str, float], head: tuple[int, int, int] = (0, 0, 0)) -> Motion:
    return replace(still(), units=unit_vector(units), head=np.array(head, np.float32))


def _ahead() -> tuple[F32, F32]:
    return np.zeros(3, np.float32), np.zeros(2, np.float32)


def _talk(samples: F32) -> Iterator[tuple[str, Motion]]:
    """Every second frame of what the presenter does while saying `samples` (16 kHz)."""
    performer = Performer(VisemeStage(), seed=1, index=0)
    rows, known = np.zeros((ROWS_PER_TICK, len(VISEMES)), np.float32), np.zeros(ROWS_PER_TICK, np.bool_)
    for tick in range(min(STRIP_TICKS, len(samples) // FEATURE_HOP)):
        heard = samples[tick * FEATURE_HOP : (tick + 1) * FEATURE_HOP]
        sent = np.zeros(PROGRAM_HOP, np.float32)
        motion = performer.hear(TickAudio(tick, sent, heard, rows, known, (), True))
        frame = tick - DELAY_TICKS
        if frame >= 0 and frame % 2 == 0:
            yield f"{frame * 40 / 1000:.2f}", motion


def _shot(pixels: U8) -> U8:
    """The head out of a crop, in a cell."""
    height, width = pixels.shape[:2]
    side = min(width, height * CELL[0] // CELL[1])
    left = (width - side) // 2
    return _fitted(pixels[: side * CELL[1] // CELL[0], left : left + side], CELL)


def _mouth(pixels: U8) -> U8:
    height, width = pixels.shape[:2]
    middle, row = width // 2, height * 57 // 100
    return _fitted(pixels[row - 84 : row + 84, middle - 100 : middle + 100], STRIP_CELL)


def _fitted(pixels: U8, cell: tuple[int, int]) -> U8:
    return cv2.resize(pixels, cell, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def _labelled(cell: U8, text: str, *, small: bool = False) -> U8:
    cell = np.ascontiguousarray(cell)
    at, scale = ((4, 12), 0.32) if small else ((8, 20), 0.5)
    for color, weight in (((0, 0, 0), 1 if small else 3), ((255, 255, 255), 1)):
        cv2.putText(cell, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, color, weight, cv2.LINE_AA)
    return cell


def _grid(cells: list[U8], columns: int) -> U8:
    blank = np.zeros_like(cells[0])
    cells = cells + [blank] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[at : at + columns]) for at in range(0, len(cells), columns)])


def _padded(picture: U8, width: int) -> U8:
    return np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)))


def _read(path: Path) -> F32:
    with wave.open(str(path)) as clip:
        rate, pcm = clip.getframerate(), clip.readframes(clip.getnframes())
        if clip.getsampwidth() != 2 or clip.getnchannels() != 1:
            raise SystemExit(f"{path} is not 16-bit mono; convert it first")
    return _heard(np.frombuffer(pcm, np.int16).astype(np.float32) / 32768, rate)


def _synthesised() -> F32:
    from hibari import Hibari

    voice = Hibari()
    return _heard(np.asarray(voice(PANGRAM), np.float32), voice.sample_rate)


def _heard(samples: F32, rate: int) -> F32:
    return soxr.resample(samples, rate, FEATURE_HZ).astype(np.float32)


if __name__ == "__main__":
    main()
