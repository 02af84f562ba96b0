import numpy as np
from numpy.typing import NDArray
from visavis.render.rig.lining import lined
from visavis.render.rig.textures import packed_texture

F32 = NDArray[np.float32]
MOUTH = np.array([0, 5, 1], np.float32)
PLACE = np.array([(-0.1, 0.0), (-0.1, 0.1), (0.1, 0.1)], np.float32)
TEXELS = np.array([(2, 2), (2, 12), (12, 12)], np.float32)
TRIANGLE = np.array([[0, 1, 2]], np.int32)


def flesh(*, away: bool = True, aside: float = 0.0, level: int = 40) -> NDArray[np.bool_]:
    """Which texels of a texture of one `level` change, for a triangle at the mouth that faces `away`."""
    rgba = np.full((16, 16, 4), level, np.uint8)
    rgba[..., 3] = 255
    vertices = np.pad(PLACE, ((0, 0), (0, 1))) + MOUTH + np.array([aside, 0, 0], np.float32)
    screen = PLACE * np.array([100, -100 if away else 100], np.float32)
    texture = lined(packed_texture(rgba), TEXELS, TRIANGLE, vertices, screen, MOUTH)
    after = texture.texels.reshape(17, 17)[:16, :16].copy().view(np.uint8).reshape(16, 16, 4)
    return (after != rgba).any(-1)


def test_dark_texels_of_what_faces_away_become_flesh() -> None:
    changed = flesh()
    assert changed[10, 4] or changed[4, 10]
    assert not changed[14, 14]
    assert 30 < changed.sum() < 90


def test_what_is_seen_at_rest_or_far_from_the_mouth_or_bright_stays() -> None:
    assert not flesh(away=False).any()
    assert not flesh(aside=0.5).any()
    assert not flesh(level=120).any()
