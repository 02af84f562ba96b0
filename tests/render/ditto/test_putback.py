import numpy as np
import pytest
from visavis.render.ditto.putback import SIDE, blend, feather, put_back


def test_a_mask_is_one_inside_zero_at_the_edge_and_symmetric() -> None:
    mask = feather()
    assert (mask.shape, mask.dtype) == ((SIDE, SIDE), np.float32)
    assert (mask[26:-26, 26:-26] == 1).all()
    assert not mask[[0, -1]].any()
    assert not mask[:, [0, -1]].any()
    assert (mask == mask[::-1]).all()
    assert (mask == mask.T).all()
    assert mask[5, 5] == 0 < mask[5, 256]


@pytest.mark.parametrize(("height", "width"), [(40, 48), (41, 47), (512, 300)])
def test_a_mask_has_the_size_asked_for(height: int, width: int) -> None:
    mask = feather(height, width, height_ratio=0.7, width_ratio=0.8)
    assert mask.shape == (height, width)
    assert mask.max() == 1


def test_a_whole_mask_hides_nothing() -> None:
    assert feather(20, 20, height_ratio=1, width_ratio=1).min() == 1


def test_blending_cuts_and_truncates() -> None:
    plate = np.full((1, 3, 3), 10, np.uint8)
    face = np.array([300.0, 20.9, -5])[None, :, None].repeat(3, 2).astype(np.float32)
    assert blend(plate, face, np.array([[2, 0.5, 1]], np.float32))[0, :, 0].tolist() == [255, 15, 0]


def test_the_plate_stays_where_the_face_is_not() -> None:
    plate = np.random.default_rng(0).integers(0, 256, (90, 120, 3)).astype(np.uint8)
    face = np.full((64, 64, 3), 255.0, np.float32)
    matrix = np.array([[0.5, 0, 40], [0, 0.5, 20], [0, 0, 1]], np.float32)
    seen = put_back(plate, face, feather(64, 64), matrix)
    changed = np.argwhere((seen != plate).any(-1))
    assert changed.min(0).tolist() >= [20, 40]
    assert changed.max(0).tolist() <= [52, 72]
    assert (seen[36, 56] == 255).all()
