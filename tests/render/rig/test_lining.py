import numpy as np
from numpy.typing import NDArray
from visavis.render.rig.lining import lined
from visavis.render.rig.textures import packed_texture

F32 = NDArray[np.float32]
MOUTH = np.array([0, 5, 1], np.float32)
PLACE = np.array([(-0.1, 0.0), (-0.1, 0.1), (0.1, 0.1)], np.float32)
TEXELS = np.array([(2, 2), (2, 12), (12, 12)], np.float32)
TRIANGLE = np.array([[0, 1, 2]], np.int32)


def painted(*, away: bool = True, aside: float = 0.0, level: int = 40) -> NDArray[np.uint8]:
    """A texture of one `level` (16, 16, 4), lined for a triangle at the mouth that faces `away`."""
    rgba = np.full((16, 16, 4), level, np.uint8)
    rgba[..., 3] = 255
    vertices = np.pad(PLACE, ((0, 0), (0, 1))) + MOUTH + np.array([aside, 0, 0], np.float32)
    screen = PLACE * np.array([100, -100 if away else 100], np.float32)
    texture = lined(packed_texture(rgba), TEXELS, TRIANGLE, vertices, screen, MOUTH)
    return texture.texels.reshape(17, 17)[:16, :16].copy().view(np.uint8).reshape(16, 16, 4)


def test_dark_texels_of_what_faces_away_become_flesh() -> None:
    """Flesh is redder than it is blue, in whatever shade."""
    after = painted().astype(int)
    flesh = after[..., 0] > 1.5 * after[..., 2]
    assert flesh[10, 4] or flesh[4, 10]
    assert not flesh[14, 14]
    assert 30 < flesh.sum() < 90


def test_what_is_seen_at_rest_or_far_from_the_mouth_stays() -> None:
    assert (painted(away=False)[..., :3] == 40).all()
    assert (painted(aside=0.5)[..., :3] == 40).all()


def test_lips_are_darker_where_they_turn_inside_and_redder() -> None:
    after = painted(level=120).astype(int)
    inside = after[10, 4]
    assert 80 < inside[0] < 105
    assert inside[1] < inside[0]
    assert (after[14, 14, :3] == 120).all()
    assert (after[..., 3] == 255).all()
    steps = np.abs(np.diff(after[..., 0], axis=0)).max()
    assert steps < 25
