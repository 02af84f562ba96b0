from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar, face, meshed, moved
from visavis.render.avatar import Avatar, find_avatar
from visavis.render.rig import cull
from visavis.render.rig.face import Face
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.shapes import SHAPES

NAMES = ["ruby", "marcus"]
WIDE = (720, 1280)
STRAND_PX = 5
"""Gaps that are narrower lie between two strands of hair."""
CHIN_DM = 0.35
"""From the lips to what is surely face, in model units."""
Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class OnColor(Avatar):
    """An avatar in front of a wall."""

    color: int = 0

    def plate(self, size: tuple[int, int]) -> Picture:
        return np.full((size[1], size[0], 3), self.color, np.uint8)


def drawn(name: str, motion: Motion) -> Picture:
    one = face(name)
    return one.draw(motion, one.canvas()).copy()


@cache
def on_walls(name: str) -> tuple[Face, Face]:
    """The face in front of black and of white, and nothing else: no plate, no torso."""
    one = find_avatar(name)
    black, white = (OnColor(one.folder, one.manifest, one.tensors, color) for color in (0, 255))
    return Face(black, SMALL), Face(white, SMALL)


def cover(walls: tuple[Face, Face], motion: Motion) -> NDArray[np.float64]:
    """How much of each pixel the head hides, (H, W) in 0..1."""
    black, white = (one.draw(motion, one.canvas()).astype(float) for one in walls)
    return 1 - (white - black).mean(-1) / 255


@pytest.mark.parametrize("name", NAMES)
def test_the_rest_pose_shows_the_person_of_the_preview(name: str) -> None:
    """The preview is a square about the head: it is looked for in the picture, at its best place and size."""
    one = face(name)
    x, y, width, height = one.view.crop
    plate = avatar(name).plate(SMALL).copy()
    plate[y : y + height, x : x + width] = drawn(name, still())
    preview = cv2.imread(str(avatar(name).preview), cv2.IMREAD_COLOR_RGB)
    assert preview is not None
    best = 0.0
    for side in range(240, 480, 8):
        small = cv2.resize(preview[20:-40, 20:-20], (side, side * 300 // 320), interpolation=cv2.INTER_AREA)
        best = max(best, float(cv2.matchTemplate(plate, small, cv2.TM_CCOEFF_NORMED).max()))
    assert best > 0.9


def test_the_edge_of_the_crop_keeps_the_plate() -> None:
    one = face()
    x, y, width, height = one.view.crop
    plate = avatar().plate(SMALL)[y : y + height, x : x + width]
    for head in ((0, 0, 0), (20, 12, 12), (-20, -12, -12)):
        picture = drawn("ruby", moved({}, head=head, body=(1, 1)))
        assert np.array_equal(picture[:2], plate[:2])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(1920, 1080)])
def test_in_a_wide_picture_the_background_beside_the_shoulders_stays(
    name: str, size: tuple[int, int]
) -> None:
    one = Face(avatar(name), size)
    x, y, width, height = one.view.crop
    plate = avatar(name).plate(size)[y : y + height, x : x + width]
    picture = one.draw(moved({}, body=(1, 1)), one.canvas())
    for side in (np.s_[:, :2], np.s_[:, -2:]):
        assert np.abs(picture[side].astype(int) - plate[side]).max() <= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_jaw_parts_the_lips(name: str) -> None:
    one = face(name)
    canvas = one.canvas()
    gaps = [one.lip_gap(moved({"jawOpen": weight}), canvas) for weight in (0.0, 0.2, 0.5)]
    assert gaps[0] == 0.0
    assert gaps[0] < gaps[1] < gaps[2]


@pytest.mark.parametrize("name", NAMES)
def test_a_blink_changes_the_eyes_and_nothing_else(name: str) -> None:
    changed = np.abs(drawn(name, moved({"eyeBlink": 1.0})).astype(int) - drawn(name, still())).max(-1) > 12
    rows, columns = np.nonzero(changed)
    assert changed.sum() > 200
    assert np.ptp(rows) < 90
    assert np.ptp(columns) < 220


@pytest.mark.parametrize("name", NAMES)
def test_gaze_moves_the_pupils_to_the_side_that_is_asked_for(name: str) -> None:
    one = face(name)
    middle = drawn(name, still()).astype(int)
    ahead = middle.sum(-1)
    shifts: list[float] = []
    for gaze in ((1, 0), (-1, 0)):
        looking = one.draw(moved({}, gaze=gaze), one.canvas()).astype(int)
        changed = np.abs(looking - middle).max(-1) > 10
        assert 50 < changed.sum() < 2500
        darker, lighter = changed & (looking.sum(-1) < ahead - 30), changed & (looking.sum(-1) > ahead + 30)
        shifts.append(float(np.nonzero(darker)[1].mean() - np.nonzero(lighter)[1].mean()))
    assert shifts[0] > 2
    assert shifts[1] < -2


HEADS = [(0, 0, 0), (20, 0, 0), (-20, 0, 0), (10, 0, 0), (-10, 0, 0), (0, 12, 0), (0, -12, 0), (9, 6, 5)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("head", HEADS)
def test_nothing_shines_through_a_head(name: str, head: tuple[float, float, float]) -> None:
    """The wall is seen nowhere inside the outline above the chin, but for gaps between strands."""
    motion, mesh = moved({}, head=head), meshed(name)
    canvas = face(name).canvas()
    face(name).draw(motion, canvas)
    chin = int(canvas.screen[mesh.lips, 1].mean() + CHIN_DM * mesh.lens[0] / mesh.mouth_depth)
    seen = (cover(on_walls(name), motion)[:chin] < 0.5).astype(np.uint8)
    _, labels = cv2.connectedComponents(seen, connectivity=4)
    rim = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    holes = (seen & ~np.isin(labels, rim)).astype(np.uint8)
    assert not cv2.erode(holes, np.ones((STRAND_PX, STRAND_PX), np.uint8)).any()


@pytest.mark.parametrize("name", NAMES)
def test_the_outline_of_a_head_is_soft(name: str) -> None:
    """Every row that leaves the head passes a pixel that is neither head nor wall."""
    hidden = cover(on_walls(name), moved({}, head=(4, 2, 1)))
    between = (hidden > 0.08) & (hidden < 0.92)
    rows = np.flatnonzero((hidden > 0.99).any(1))[8:-8]
    assert between[rows].any(1).mean() > 0.95


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["512x512", "720x1280"])
def test_a_breath_lifts_the_shoulders_and_leaves_the_background(size: tuple[int, int]) -> None:
    one = Face(avatar(), size)
    canvas = one.canvas()
    out = one.draw(moved({}), canvas).astype(int)
    full = one.draw(moved({}, body=(1, 0)), canvas).astype(int)
    apart = np.abs(full - out).max(-1)
    height, width = apart.shape
    assert apart[: height // 5, : width // 8].max() == 0
    assert (apart[height * 2 // 3 :] > 4).mean() > 0.01
    assert apart.mean() < 6


def test_a_lean_takes_head_and_shoulders_to_the_same_side() -> None:
    one = face()
    canvas = one.canvas()
    still_one = cv2.cvtColor(one.draw(moved({}), canvas), cv2.COLOR_RGB2GRAY).astype(np.float32)
    leaning = cv2.cvtColor(one.draw(moved({}, body=(0, 1)), canvas), cv2.COLOR_RGB2GRAY).astype(np.float32)
    height = len(still_one)
    for rows in (np.s_[height // 4 : height // 2], np.s_[height * 4 // 5 :]):
        (shift, _), _ = cv2.phaseCorrelate(still_one[rows].copy(), leaning[rows].copy())
        assert 1.0 < shift < 8.0


def test_the_same_motion_is_drawn_the_same_on_any_canvas() -> None:
    one = face()
    motion = moved({"jawOpen": 0.3, "eyeBlink": 0.5}, head=(3, 1, -2), body=(0.4, -0.5))
    used = one.canvas()
    one.draw(moved({}, head=(-9, 4, 3), body=(1, 1)), used)
    assert np.array_equal(one.draw(motion, used), one.draw(motion, one.canvas()))


def test_a_wide_open_mouth_in_a_turned_head_stays_in_the_crop() -> None:
    one = Face(avatar(), WIDE)
    motion = moved({"jawOpen": 1.0, "mouthLowerDown": 1.0}, head=(20, 12, 12), body=(1, 1))
    picture = one.draw(motion, one.canvas())
    assert picture.shape[:2] == one.mask.shape


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("head", [(0, 0, 0), (20, 12, 14), (-20, -12, -14), (15, -12, 14)])
def test_what_is_left_out_of_a_mouth_was_hidden(
    name: str, head: tuple[float, float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = face(name)
    for shape in SHAPES.values():
        motion = moved(shape.units, head=head, tongue=shape.tongue)
        drawn_less = one.draw(motion, one.canvas()).copy()
        with monkeypatch.context() as patch:
            patch.setattr(cull, "within_rows", lambda _, triangles, *rows: triangles)
            assert np.array_equal(one.draw(motion, one.canvas()), drawn_less)
