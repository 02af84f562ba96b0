"""Ticks of speech and faces to draw them with, for tests of the rigged head."""

import wave
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import soxr
from numpy.typing import NDArray
from support.tree import ROOT
from visavis.render.avatar import Avatar, find_avatar
from visavis.render.rig.face import Face
from visavis.render.rig.mesh import Mesh, load_mesh
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.units import unit_vector
from visavis.render.rig.viseme import VisemeStage
from visavis.stream.media import TickAudio
from visavis.stream.visemes import VISEMES

Sound = NDArray[np.float32]
SMALL = (512, 512)
HOP = 640


@cache
def avatar(name: str = "ruby") -> Avatar:
    return find_avatar(name)


@cache
def face(name: str = "ruby") -> Face:
    """The face of `name` at its small size."""
    return Face(avatar(name), SMALL)


@cache
def meshed(name: str = "ruby") -> Mesh:
    """The mesh of `name` at its small size."""
    return load_mesh(avatar(name), avatar(name).view(SMALL))


def moved(
    units: dict[str, float] | NDArray[np.float32],
    *,
    head: tuple[float, float, float] = (0, 0, 0),
    gaze: tuple[float, float] = (0, 0),
    body: tuple[float, float] = (0, 0),
    tongue: tuple[float, ...] = (0, 0, 0),
) -> Motion:
    """A still face but for what is given."""
    weights = unit_vector(units) if isinstance(units, dict) else units
    turn, look, sway, taste = (np.array(part, np.float32) for part in (head, gaze, body, tongue))
    return replace(still(), units=weights, head=turn, gaze=look, body=sway, tongue=taste)


@cache
def stage() -> VisemeStage:
    return VisemeStage()


@cache
def speech() -> Sound:
    """Real speech at 16 kHz, whole ticks."""
    with wave.open(str(ROOT / "tests/assets/hibari.wav")) as clip:
        rate, pcm = clip.getframerate(), clip.readframes(clip.getnframes())
    samples = soxr.resample(np.frombuffer(pcm, np.int16).astype(np.float32) / 32768, rate, 16_000)
    return samples[: len(samples) // HOP * HOP].astype(np.float32)


def heard(index: int, samples: Sound | None = None) -> TickAudio:
    """Tick `index` of `samples` (640,), or of silence."""
    sound = np.zeros(HOP, np.float32) if samples is None else samples
    rows, known = np.zeros((4, len(VISEMES)), np.float32), np.zeros(4, np.bool_)
    return TickAudio(index, np.zeros(1920, np.float32), sound, rows, known, (), samples is not None)


def spoken(first: int, samples: Sound) -> list[TickAudio]:
    """`samples` as ticks from index `first` on."""
    return [heard(first + k, samples[k * HOP : (k + 1) * HOP]) for k in range(len(samples) // HOP)]


def named(index: int, names: Sequence[str]) -> TickAudio:
    """Tick `index` with four rows known beforehand and a voice to go with them."""
    rows = np.zeros((4, len(VISEMES)), np.float32)
    rows[np.arange(4), [VISEMES.index(name) for name in names]] = 1
    voice = np.zeros(HOP, np.float32) if set(names) == {"sil"} else np.full(HOP, 0.1, np.float32)
    return TickAudio(index, np.zeros(1920, np.float32), voice, rows, np.ones(4, np.bool_), (), True)
