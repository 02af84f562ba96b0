import numpy as np
import pytest
from support.pattern import PictureEngine
from support.virtual import request
from visavis.render.avatar import find_avatar
from visavis.render.parts import parts_for
from visavis.render.surface import surface_over
from visavis.stream.errors import AvatarError


def test_an_engine_of_crops_needs_a_plate_to_put_them_on() -> None:
    parts = parts_for(request("a"), None)
    assert parts.avatar.name == "ruby"
    assert parts.compositor is not None
    surface = parts.compositor.surface()
    assert parts.video.encode(surface, pts=0, keyframe=True)[0].keyframe
    parts.video.close()


def test_an_engine_of_pictures_gets_an_encoder_of_its_layout() -> None:
    parts = parts_for(request("a"), PictureEngine().pictures)
    assert parts.compositor is None
    surface = surface_over(np.zeros((768, 512), np.uint8), "nv12")
    assert parts.video.encode(surface, pts=0, keyframe=True)[0].keyframe
    parts.video.close()


def test_plates_are_decoded_once() -> None:
    first, second = (find_avatar("ruby").plate((512, 512)) for _ in range(2))
    assert first is second


def test_a_size_that_the_avatar_lacks_is_refused() -> None:
    with pytest.raises(AvatarError, match="has no size"):
        parts_for(request("a", size=(100, 100)), None)
