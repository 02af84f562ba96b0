"""The pictures that do not move."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from visavis.scripts.presenters.background import AREA, MOODS, paint
from visavis.scripts.presenters.camera import MASTER
from visavis.scripts.presenters.plates import CUTS, Cut, write_plates


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.plate)
def test_a_cut_keeps_the_shape_of_things_and_stays_in_the_painted_room(cut: Cut) -> None:
    left, top, right, bottom = cut.box
    assert cut.scale[0] == pytest.approx(cut.scale[1], rel=2e-3)
    assert left >= AREA[0]
    assert top >= AREA[1]
    assert right <= AREA[2]
    assert bottom <= AREA[3]


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.plate)
def test_no_size_enlarges_the_master_frame(cut: Cut) -> None:
    assert max(cut.scale) <= 1.0


def test_plates_show_the_body_where_the_camera_sees_it(tmp_path: Path) -> None:
    body = np.zeros((MASTER[1] // 4, MASTER[0] // 4, 4), np.uint8)
    body[250:300, 190:210] = (250, 10, 10, 255)
    write_plates("ruby", body, tmp_path)
    for cut in CUTS:
        plate = cv2.imread(str(tmp_path / cut.plate), cv2.IMREAD_COLOR_RGB)
        assert plate is not None
        assert plate.shape == (cut.height, cut.width, 3)
        column, row = (np.array((800, 1080)) - cut.origin) * cut.scale
        np.testing.assert_allclose(plate[int(row), int(column)], (250, 10, 10), atol=12)
        aside = int((800 - 150 - cut.origin[0]) * cut.scale[0])
        assert plate[int(row), aside, 0] < 150


def test_a_soft_wall_has_grain_and_no_steps(tmp_path: Path) -> None:
    """Of one level, more or less; under it the wall is as it was painted, closer than 8 bits can tell."""
    write_plates("marcus", np.zeros((*MASTER[::-1], 4), np.uint8), tmp_path)
    cut = CUTS[0]
    assert cut.width < cut.box[2] - cut.box[0]
    plate = cv2.imread(str(tmp_path / cut.plate), cv2.IMREAD_COLOR_RGB)
    assert plate is not None
    left, top, right, bottom = (
        round(edge - start) for edge, start in zip(cut.box, AREA[:2] * 2, strict=True)
    )
    wall = cv2.resize(
        paint("marcus")[top:bottom, left:right], (cut.width, cut.height), interpolation=cv2.INTER_AREA
    )
    grain = plate[..., 1] - wall[..., 1]
    assert 0.4 < grain.std() < 0.6
    assert np.abs(grain).max() < 2
    assert np.abs(cv2.GaussianBlur(grain, (0, 0), 6)).max() < 0.25


def test_both_presenters_have_a_room() -> None:
    assert set(MOODS) == {"ruby", "marcus"}
