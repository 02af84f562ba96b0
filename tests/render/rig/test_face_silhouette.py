"""Nothing of the room is seen inside a head, however it turns."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import face, meshed, moved
from support.walls import bald, cover, filled, grown, shrunk, whole
from visavis.render.rig import seal
from visavis.render.rig.motion import Motion

NAMES = ("ruby", "marcus")
MOST_YAW, MOST_PITCH = 20, 12
GRID = [(yaw, pitch) for yaw in range(-MOST_YAW, MOST_YAW + 1, 2) for pitch in (-MOST_PITCH, 0, MOST_PITCH)]
"""Poses so close that no leak between two views of the hair lies between two of them."""
STRAY = np.random.default_rng(20).uniform((-MOST_YAW, -MOST_PITCH), (MOST_YAW, MOST_PITCH), (24, 2)).round(1)
"""And some that no grid holds."""
POSES = [(name, float(yaw), float(pitch)) for name in NAMES for yaw, pitch in (*GRID, *STRAY.tolist())]
SOLID, HIDING = 0.98, 0.9
"""Skin hides all of the wall, but for rounding; hair lets a tenth of it through."""
SOFT_PX = 2
"""Over which the outline of a head fades into the room."""
STRANDS_PX = 6
"""Over which hair ends in single strands, with the room between them."""
CLOSED_PX = 4
"""Half of the widest gap at the outline that still lies between two strands of a lock."""


def inside(name: str, motion: Motion, hiding: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Skin and hair that hide so much, `hiding` (H, W), without their outermost strands, above the lips:
    below them the room is truly seen between hair and neck."""
    solid = filled(shrunk(grown(hiding > 0.5, CLOSED_PX), CLOSED_PX))
    core = shrunk(solid, STRANDS_PX)
    canvas = face(name).canvas()
    face(name).lip_gap(motion, canvas)
    core[int(canvas.screen[meshed(name).lips, 1].mean()) :] = False
    return core


@pytest.mark.parametrize(("name", "yaw", "pitch"), POSES)
def test_a_head_shows_no_room_through_its_skin(name: str, yaw: float, pitch: float) -> None:
    """Every pixel in the outline of the front of the head, but for its soft rim, hides the room."""
    motion = moved({}, head=(yaw, pitch, 0))
    head = shrunk(filled(cover(bald(name), motion) > 0.5), SOFT_PX)
    assert head.sum() > 38_000
    assert (head & (cover(whole(name), motion) < SOLID)).sum() == 0


@pytest.mark.parametrize(("name", "yaw", "pitch"), POSES)
def test_a_head_shows_no_room_between_its_skin_and_its_hair(name: str, yaw: float, pitch: float) -> None:
    """No pixel in the outline of skin and hair, but for its strands, shows the room."""
    motion = moved({}, head=(yaw, pitch, 0))
    hiding = cover(whole(name), motion)
    head = inside(name, motion, hiding)
    assert head.sum() > 31_000
    assert (head & (hiding < HIDING)).sum() == 0


def test_a_gap_between_skin_and_hair_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing seals what two views of the hair leave open, the far side of the head shows the room."""
    motion = moved({}, head=(11.5, 10, 0))
    head = inside("ruby", motion, cover(whole("ruby"), motion))

    def leave(*_: object) -> None:
        """Seal nothing."""

    monkeypatch.setattr(seal, "seal", leave)
    assert (head & (cover(whole("ruby"), motion) < HIDING)).sum() > 100


def test_a_hole_in_the_skin_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that lacks a fortieth of its skin shows the room through it, beard or not."""
    motion = moved({})
    head = shrunk(filled(cover(bald("marcus"), motion) > 0.5), SOFT_PX)
    for one in whole("marcus"):
        mesh = one._mesh
        torn = dataclasses.replace(mesh, skin=np.delete(mesh.skin, np.s_[::40], axis=0))
        monkeypatch.setattr(one, "_mesh", torn)
    assert (head & (cover(whole("marcus"), motion) < SOLID)).sum() > 40
