"""A preview is what a viewer sees."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from visavis.render.avatar import find_avatar
from visavis.scripts.presenters.preview import SIDE, drawn, write_preview


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_a_presenter_looks_as_its_preview(name: str) -> None:
    avatar = find_avatar(name)
    kept = cv2.imread(str(avatar.preview), cv2.IMREAD_COLOR_RGB)
    assert kept is not None
    assert kept.shape == (SIDE, SIDE, 3)
    assert np.abs(drawn(avatar.folder).astype(int) - kept).mean() < 1


def test_a_preview_is_written_as_it_is(tmp_path: Path) -> None:
    shot = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
    write_preview(tmp_path / "preview.png", shot)
    kept = cv2.imread(str(tmp_path / "preview.png"), cv2.IMREAD_COLOR_RGB)
    assert kept is not None
    assert (kept == shot).all()
