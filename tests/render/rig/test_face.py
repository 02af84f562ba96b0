from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar, face
from visavis.render.rig.face import Face, turns
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.units import unit_vector

NAMES = ["ruby", "marcus"]


def moved(units: dict[str, float] | None = None, *, head: tuple[float, float, float] = (0, 0, 0)) -> Motion:
    return replace(still(), units=unit_vector(units or {}), head=np.array(head, np.float32))


def drawn(name: str, motion: Motion) -> NDArray[np.uint8]:
    one = face(name)
    return one.draw(motion, one.canvas()).copy()


def test_turns_are_rotations_that_grow_with_the_weight() -> None:
    matrices = turns(np.array([10, -4, 3], np.float32))
    assert np.allclose(matrices[0], np.eye(3))
    assert np.allclose(matrices @ matrices.transpose(0, 2, 1), np.eye(3), atol=1e-6)
    assert (np.diff(np.abs(matrices - np.eye(3)).sum((1, 2))) > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_rest_pose_shows_the_person_of_the_preview(name: str) -> None:
    one = face(name)
    x, y, width, height = one.view.crop
    plate = avatar(name).plate(SMALL).copy()
    plate[y : y + height, x : x + width] = drawn(name, still())
    preview = cv2.imread(str(avatar(name).preview), cv2.IMREAD_COLOR_RGB)
    assert preview is not None
    left, top, side = (162 - 128) * 2 // 3, (160 - 100) * 2 // 3, 700 * 2 // 3
    shown = cv2.resize(plate[top : top + side, left : left + side], (360, 360), interpolation=cv2.INTER_AREA)
    shown, wanted = (each[: shown.shape[0]].astype(int) for each in (shown, preview))
    apart = cv2.blur(np.abs(shown - wanted).max(2).astype(np.float32), (12, 12))
    assert apart.max() < 40
    assert apart.mean() < 5


def test_the_edge_of_the_crop_keeps_the_plate() -> None:
    one = face()
    plate = one.layers.plate.view(np.uint8).reshape(*one.layers.plate.shape, 4)[..., :3]
    for head in ((0, 0, 0), (12, 10, 12), (-12, -10, -12)):
        picture = drawn("ruby", moved(head=head))
        for side in (np.s_[:2], np.s_[:, :2], np.s_[:, -2:]):
            assert np.array_equal(picture[side], plate[side])


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


def test_gaze_moves_the_eyes_to_the_side_that_is_asked_for() -> None:
    one = face("marcus")
    mesh_eye = drawn("marcus", still())
    right = replace(still(), gaze=np.array([1, 0], np.float32))
    looking = one.draw(right, one.canvas()).astype(int)
    changed = np.abs(looking - mesh_eye).max(-1) > 10
    assert 50 < changed.sum() < 2000


def test_no_hole_opens_in_the_face_when_it_turns() -> None:
    plate = face().layers.plate.view(np.uint8).reshape(*face().layers.plate.shape, 4)[..., :3].astype(int)
    for yaw in (-6, 6):
        picture = drawn("ruby", moved(head=(yaw, 0, 0)))
        same = np.abs(picture.astype(int) - plate).max(-1) == 0
        height, width = same.shape
        middle = same[height // 4 : height * 6 // 10, width * 2 // 5 : width * 3 // 5]
        assert not middle.any()


def test_the_same_motion_is_drawn_the_same_on_any_canvas() -> None:
    one = face()
    motion = moved({"jawOpen": 0.3, "eyeBlink": 0.5}, head=(3, 1, -2))
    used = one.canvas()
    one.draw(moved(head=(-9, 4, 3)), used)
    assert np.array_equal(one.draw(motion, used), one.draw(motion, one.canvas()))


def test_a_wide_open_mouth_in_a_turned_head_stays_in_the_crop() -> None:
    one = Face(avatar(), (720, 1280))
    picture = one.draw(moved({"jawOpen": 1.0, "mouthLowerDown": 1.0}, head=(12, 10, 12)), one.canvas())
    assert picture.shape[:2] == one.layers.mask.shape
