"""Draw a labelled sheet of a presenter: rest, mouths, blinks, gaze, turns, moods, a breath, 5 s of speech.

    python scripts/contact_sheet.py ruby [--wav SPEECH.wav] [--folder FOLDER] [-o docs/presenters/ruby.jpg]

Without a WAV the speech is synthesised. A breath is shown as four times what it
changes.
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
from visavis.render.avatar import Avatar, find_avatar, load_avatar
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
COLUMNS = 8
CELL = (240, 270)
STRIP_COLUMNS = 16
STRIP_CELL = (120, 96)
STRIP_TICKS = 123
TURNS = ((-20, 0, 0), (-10, 0, 0), (10, 0, 0), (20, 0, 0), (0, -12, 0), (0, 12, 0), (0, 0, 8), (14, -6, -4))
GAZES = (
    ("left", (-1, 0), {}),
    ("right", (1, 0), {}),
    ("up", (0, 1), {"eyeLookUp": 1.0}),
    ("down", (0, -1), {"eyeLookDown": 1.0}),
)
MOODS = ("happy", "serious", "surprised", "sad", "concerned")
BREATH_GAIN = 4
HEAD_DM, MOUTH_DM = (3.05, 1.9), (0.95, 0.95)
"""Height of a cell and how much of it lies above the mouth, in model units; width and place of a mouth's."""
QUALITY, LARGEST_BYTES = 88, 700_000
PANGRAM = "Hello! I am a presenter made of numbers. Maybe we will move five very big boxes, if you help me."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("name")
    parser.add_argument("--wav", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    options = parser.parse_args()
    out: Path = options.out or Path(__file__).parents[1] / "docs" / "presenters" / f"{options.name}.jpg"
    samples = _read(options.wav) if options.wav else _synthesised()
    avatar = load_avatar(options.folder) if options.folder else find_avatar(options.name)
    picture = sheet(avatar, samples)[..., ::-1]
    out.parent.mkdir(parents=True, exist_ok=True)
    quality = QUALITY
    while True:
        cv2.imwrite(str(out), picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if out.stat().st_size <= LARGEST_BYTES:
            break
        quality -= 3
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


class Studio:
    """Draws one avatar's poses into cells."""

    def __init__(self, avatar: Avatar) -> None:
        self._face = Face(avatar, SIZE)
        self._canvas = self._face.canvas()
        view = avatar.view(SIZE)
        camera, mouth = (avatar.tensors[key].astype(np.float32) for key in ("camera", "mouth"))
        ray = mouth - camera[0]
        self._dm_px = float(avatar.tensors["lens"][0]) * view.scale[1] / float(ray @ camera[3])
        center = avatar.tensors["lens"][1:3].astype(np.float32)
        shown = (
            center
            + np.array([ray @ camera[1], -(ray @ camera[2])]) / (ray @ camera[3]) * avatar.tensors["lens"][0]
        )
        self._mouth = (shown - np.array(view.origin)) * np.array(view.scale) - np.array(view.crop[:2])

    def draw(self, motion: Motion) -> U8:
        return self._face.draw(motion, self._canvas).copy()

    def head(self, motion: Motion) -> U8:
        """The head in a cell."""
        return self.cut(self.draw(motion))

    def cut(self, pixels: U8) -> U8:
        height = HEAD_DM[0] * self._dm_px
        return self._cell(pixels, height * CELL[0] / CELL[1], height, HEAD_DM[1] * self._dm_px, CELL)

    def mouth(self, motion: Motion) -> U8:
        width = MOUTH_DM[0] * self._dm_px
        height = width * STRIP_CELL[1] / STRIP_CELL[0]
        return self._cell(self.draw(motion), width, height, height * 0.45, STRIP_CELL)

    def _cell(self, pixels: U8, width: float, height: float, above: float, cell: tuple[int, int]) -> U8:
        left, top = round(self._mouth[0] - width / 2), max(0, round(self._mouth[1] - above))
        part = pixels[top : top + round(height), max(0, left) : left + round(width)]
        return cv2.resize(part, cell, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)


def sheet(avatar: Avatar, samples: F32) -> U8:
    """The whole sheet, RGB."""
    studio = Studio(avatar)
    cells = [_labelled(studio.head(motion), label) for label, motion in _poses()]
    cells += [_labelled(cell, label) for label, cell in _breath(studio)]
    strip = [_labelled(studio.mouth(motion), label, small=True) for label, motion in _talk(samples)]
    top, low = _grid(cells, COLUMNS), _grid(strip, STRIP_COLUMNS)
    width = max(top.shape[1], low.shape[1])
    return np.vstack([_padded(top, width), _padded(low, width)])


def _poses() -> Iterator[tuple[str, Motion]]:
    yield "rest", still()
    for name, shape in SHAPES.items():
        if name != "sil":
            yield name, replace(_moved(shape.units), tongue=np.array(shape.tongue, np.float32))
    for weight in (0.25, 0.5, 0.75, 1.0):
        yield f"blink {weight:.0%}", _moved({"eyeBlink": weight})
    for name, gaze, lids in GAZES:
        yield f"gaze {name}", replace(_moved(lids), gaze=np.array(gaze, np.float32))
    for turn in TURNS:
        label = " ".join(
            f"{axis} {angle:+d}" for axis, angle in zip(("yaw", "pitch", "roll"), turn, strict=True) if angle
        )
        yield label, _moved({}, turn)
    for name in MOODS:
        yield name, replace(still(), units=EMOTIONS[name])


def _breath(studio: Studio) -> Iterator[tuple[str, U8]]:
    """In, and how it differs from out."""
    full = replace(still(), body=np.array([1, 0], np.float32))
    rest, risen = studio.draw(still()), studio.draw(full)
    apart = np.abs(risen.astype(np.int32) - rest) * BREATH_GAIN
    lower = rest.shape[0] // 3
    yield "breath in", cv2.resize(risen[lower:], CELL, interpolation=cv2.INTER_AREA).astype(np.uint8)
    shown = np.clip(apart[lower:], 0, 255).astype(np.uint8)
    yield "in - out, x4", cv2.resize(shown, CELL, interpolation=cv2.INTER_AREA).astype(np.uint8)


def _moved(units: dict[str, float] | F32, head: tuple[int, int, int] = (0, 0, 0)) -> Motion:
    weights = unit_vector(units) if isinstance(units, dict) else units
    return replace(still(), units=weights, head=np.array(head, np.float32))


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
