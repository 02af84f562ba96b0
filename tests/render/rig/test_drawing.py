from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import avatar, face, moved
from visavis.render.avatar import Avatar
from visavis.render.rig.face import Face
from visavis.render.rig.lips import SHAPES
from visavis.render.rig.motion import Motion
from visavis.render.rig.tensors import INTERIOR

SMALL = (512, 512)
Picture = NDArray[np.uint8]


def repainted(name: str, color: tuple[int, int, int], parts: tuple[int, ...]) -> Face:
    """The face of `name` with the vertices of `parts` in one colour."""
    one = avatar(name)
    paint = one.tensors["color"].copy()
    shade = one.tensors["shade"].copy()
    mine = np.unique(one.tensors["triangles"][np.isin(one.tensors["parts"], parts)])
    paint[mine], shade[mine] = color, 255
    return Face(Avatar(one.folder, one.manifest, dict(one.tensors) | {"color": paint, "shade": shade}), SMALL)


def interior_of(pair: tuple[Face, Face], motion: Motion) -> NDArray[np.bool_]:
    """The pixels that show the mouth's interior: those that differ between two colours of it."""
    black, white = (one.draw(motion, one.canvas()).astype(int) for one in pair)
    return np.abs(black - white).max(-1) > 4


@pytest.fixture(scope="module")
def teeth() -> tuple[Face, Face]:
    """Ruby with black and with white teeth and tongue."""
    return repainted("ruby", (0, 0, 0), INTERIOR), repainted("ruby", (255, 255, 255), INTERIOR)


@pytest.mark.parametrize("viseme", [name for name in SHAPES if name != "sil"])
@pytest.mark.parametrize("yaw", [0.0, 14.0, -14.0])
def test_no_tooth_or_tongue_shows_outside_of_the_lips(
    teeth: tuple[Face, Face], viseme: str, yaw: float
) -> None:
    """What is seen of the interior is one gap between the lips: in each column at most one run of pixels, but
    for holes of two, where the colour beside an edge decides how it is smoothed."""
    seen = interior_of(teeth, moved(SHAPES[viseme].units, head=(yaw, 0, 0)))
    seen = cv2.morphologyEx(seen.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 1), np.uint8)) > 0
    runs = (np.diff(np.pad(seen, ((1, 1), (0, 0))).astype(int), axis=0) == 1).sum(0)
    assert runs.max() <= 1
    rows, columns = (np.flatnonzero(seen.any(axis)) for axis in (1, 0))
    assert len(rows) < 60
    assert len(columns) < 110


def test_without_their_bias_teeth_would_come_through_the_lips(
    teeth: tuple[Face, Face], monkeypatch: pytest.MonkeyPatch
) -> None:
    motion = moved({"mouthSmile": 0.5, "jawOpen": 0.2})
    right = interior_of(teeth, motion).sum()
    monkeypatch.setattr("visavis.render.rig.drawing._INNER_BIAS", -0.2)
    assert interior_of(teeth, motion).sum() > right + 100


def test_an_open_mouth_shows_its_interior_and_a_shut_one_does_not(teeth: tuple[Face, Face]) -> None:
    assert interior_of(teeth, moved({"jawOpen": 0.5})).sum() > 150
    assert interior_of(teeth, moved({})).sum() < 20


@pytest.mark.parametrize("yaw", [3.0, 12.0, 21.0])
def test_what_was_drawn_before_leaves_no_trace(yaw: float) -> None:
    one = face()
    used = one.canvas()
    for other in (-20.0, 10.0, 0.0):
        one.draw(moved({"jawOpen": 0.4}, head=(other, 8, 0)), used)
    motion = moved({}, head=(yaw, 0, 0))
    assert np.array_equal(one.draw(motion, used), one.draw(motion, one.canvas()))


def test_a_turn_of_the_head_is_drawn_without_a_jump() -> None:
    one = face()
    canvas = one.canvas()
    last: Picture | None = None
    steps: list[float] = []
    for yaw in np.arange(-20, 20.5, 0.5):
        picture = one.draw(moved({}, head=(float(yaw), 0, 0)), canvas).copy()
        if last is not None:
            steps.append(float(np.abs(picture.astype(int) - last).mean()))
        last = picture
    assert max(steps) < 3 * float(np.median(steps))


def test_trailing_hair_moves_its_ends_and_not_the_face() -> None:
    one = face()
    still = one.draw(moved({}), one.canvas()).astype(int)
    swung = one.draw(replace(moved({}), hair=np.array([5, 3], np.float32)), one.canvas())
    apart = np.abs(swung - still).max(-1)
    height, width = apart.shape
    assert (apart[height // 2 :] > 20).sum() > 200
    assert apart[: height // 5].max() <= 24
    assert apart[height // 3 : height // 2, width * 2 // 5 : width * 3 // 5].max() == 0
