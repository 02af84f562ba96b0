"""Moods that a viewer tells apart: measured by landmarks on what is drawn."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from support.landmarks import landmarks
from support.rig import face, heard, stage
from visavis.render.rig.performer import Performer
from visavis.stream.controls import Controls

PRESENTERS = ("ruby", "marcus")
SHOWN = (80, 88, 96)
"""Frames that are measured, long after the mood has come."""
BROW, CHIN = 10, 152
INNER_BROWS, INNER_EYES = (55, 285), (133, 362)
OUTER_BROWS, OUTER_EYES = (46, 276), (33, 263)
LIDS = ((159, 145), (386, 374))
CORNERS, LIPS = (61, 291), (13, 14)


@dataclass(frozen=True, slots=True)
class Look:
    """How high the ends of the brows are over the eyes, how far the lids are open and how high the corners of
    the mouth are over its middle, all in heights of the face; how far the head is tilted, in degrees."""

    inner: float
    outer: float
    open: float
    corners: float
    tilt: float

    @property
    def slant(self) -> float:
        """By how much the inner ends of the brows are higher than the outer ones."""
        return self.inner - self.outer


@cache
def look(name: str, mood: str) -> Look:
    performer = Performer(stage(), seed=3, index=0)
    performer.control(Controls(emotion=mood, blink_per_minute=0))
    motions = [performer.hear(heard(index)) for index in range(SHOWN[-1] + 4)]
    one = face(name)
    found = [_measured(landmarks(one.draw(motions[frame], one.canvas()))[1]) for frame in SHOWN]
    return Look(*np.mean(found, 0).tolist())


def _measured(points: NDArray[np.float64]) -> tuple[float, ...]:
    height = float(np.linalg.norm(points[BROW] - points[CHIN]))
    up = (points[BROW] - points[CHIN]) / height

    def above(ends: tuple[int, ...], below: tuple[int, ...]) -> float:
        return float((points[list(ends)].mean(0) - points[list(below)].mean(0)) @ up) / height

    lids = float(np.mean([np.linalg.norm(points[a] - points[b]) for a, b in LIDS])) / height
    across = points[OUTER_EYES[1]] - points[OUTER_EYES[0]]
    return (
        above(INNER_BROWS, INNER_EYES),
        above(OUTER_BROWS, OUTER_EYES),
        lids,
        above(CORNERS, LIPS),
        float(np.degrees(np.arctan2(across[1], across[0]))),
    )


@pytest.mark.parametrize("name", PRESENTERS)
def test_the_serious_lower_their_brows_and_keep_their_lips_level(name: str) -> None:
    calm, serious = look(name, "neutral"), look(name, "serious")
    assert serious.inner < calm.inner - 0.012
    assert serious.outer < calm.outer - 0.008
    assert abs(serious.corners - calm.corners) < 0.006
    assert abs(serious.tilt - calm.tilt) < 2


@pytest.mark.parametrize("name", PRESENTERS)
def test_the_sad_raise_inner_brows_under_heavy_lids_over_corners_that_hang(name: str) -> None:
    calm, sad, serious = (look(name, mood) for mood in ("neutral", "sad", "serious"))
    assert sad.inner > serious.inner + 0.02
    assert sad.inner > calm.inner
    assert sad.open < calm.open - 0.0015
    assert sad.corners < min(calm.corners, serious.corners) - 0.003


@pytest.mark.parametrize("name", PRESENTERS)
def test_the_concerned_tilt_their_head_under_slanted_brows_that_are_lower_than_grief(name: str) -> None:
    calm, sad, serious, concerned = (look(name, mood) for mood in ("neutral", "sad", "serious", "concerned"))
    assert concerned.tilt > max(calm.tilt, sad.tilt, serious.tilt) + 2
    assert concerned.slant > serious.slant + 0.002
    assert concerned.inner < sad.inner - 0.01
    assert concerned.corners > sad.corners + 0.003
