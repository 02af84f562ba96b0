"""Presenters look as they did when somebody last looked at them: `python scripts/face_pictures.py` draws the
set anew.
"""

from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from support.likeness import Likeness, likeness
from support.rig import avatar
from visavis.scripts.face_pictures import SIDE, path_of, poses, strip

U8 = NDArray[np.uint8]

NAMES = ("ruby", "marcus")
POSES = tuple(poses())
COLOR, WORST = 1.0, 3.0
"""Mean difference in Lab over a picture, and over 16 x 16 pixels of it: 2.3 is just noticed."""
CONTRAST, LEAST = 0.98, 0.85


def alike(found: Likeness) -> bool:
    return found.color < COLOR and found.worst < WORST and found.contrast > CONTRAST and found.least > LEAST


@cache
def kept(name: str) -> U8:
    pixels = cv2.imread(str(path_of(name)), cv2.IMREAD_COLOR_RGB)
    assert pixels is not None, "run scripts/face_pictures.py and look at what it draws"
    return pixels.astype(np.uint8)


@cache
def drawn(name: str) -> U8:
    return strip(avatar(name))


def cell(pictures: U8, pose: str) -> U8:
    at = POSES.index(pose) * SIDE
    return pictures[:, at : at + SIDE]


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("name", NAMES)
def test_a_presenter_looks_as_it_was_approved(name: str, pose: str) -> None:
    found = likeness(cell(kept(name), pose), cell(drawn(name), pose))
    assert alike(found), found


@pytest.mark.parametrize("name", NAMES)
def test_another_pose_is_not_alike(name: str) -> None:
    for pose in POSES[1:]:
        assert not alike(likeness(cell(kept(name), "rest"), cell(drawn(name), pose)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", ["shifted", "tinted", "blurred", "speck"])
def test_a_small_fault_is_found(name: str, fault: str) -> None:
    picture = cell(kept(name), "rest").copy()
    match fault:
        case "shifted":
            picture = np.roll(picture, 1, axis=1)
        case "tinted":
            picture[..., 0] = np.minimum(picture[..., 0].astype(int) + 5, 255)
        case "blurred":
            picture = cv2.GaussianBlur(picture, (0, 0), 1.0).astype(np.uint8)
        case _:
            picture[120:124, 120:124] = (0, 255, 0)
    assert not alike(likeness(cell(kept(name), "rest"), picture))


def test_noise_that_nobody_sees_is_let_pass() -> None:
    picture = cell(kept("ruby"), "rest")
    noise = np.random.default_rng(4).normal(0, 0.8, picture.shape)
    assert alike(likeness(picture, np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)))
