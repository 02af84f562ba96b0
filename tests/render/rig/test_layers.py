import numpy as np
import pytest
from support.rig import SMALL, avatar
from visavis.render.rig import raster
from visavis.render.rig.layers import Layers, load_layers

WIDE = (720, 1280)


@pytest.fixture(scope="module")
def layers() -> Layers:
    _, _, width, height = avatar().view(WIDE).crop
    eyes = np.zeros((height, width), np.bool_)
    eyes[200:220, 200:230] = True
    return load_layers(avatar(), avatar().view(WIDE), eyes)


def page(layers: Layers, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    pages = layers.atlas.reshape(len(raster.PAGES), -1, layers.atlas_width)
    return pages[raster.PAGES.index(name)].view(np.uint8).reshape(-1, layers.atlas_width, 4)


def test_an_atlas_has_one_texel_more_than_the_crop_on_each_page(layers: Layers) -> None:
    _, _, width, height = avatar().view(WIDE).crop
    assert layers.atlas.size == len(raster.PAGES) * (height + 1) * (width + 1)
    assert layers.atlas_width == width + 1
    assert layers.plate.shape == layers.mask.shape == (height, width)


def test_textures_are_premultiplied(layers: Layers) -> None:
    for name in ("head", "hair", "back"):
        texels = page(layers, name).astype(int)
        assert (texels[..., :3] <= texels[..., 3:] + 1).all()


def test_the_plate_in_the_crop_is_the_avatars_plate(layers: Layers) -> None:
    x, y, width, height = avatar().view(WIDE).crop
    plate = avatar().plate(WIDE)[y : y + height, x : x + width]
    rgba = layers.plate.view(np.uint8).reshape(height, width, 4)
    assert np.array_equal(rgba[..., :3], plate)
    assert not rgba[..., 3].any()


def test_the_eyes_grow_beyond_what_is_seen_of_them(layers: Layers) -> None:
    head, eyes = page(layers, "head"), page(layers, "eyes")
    changed = (head != eyes).any(-1)
    assert changed.any()
    assert not changed[202:218, 202:228].any()
    assert not changed[:180].any()


def test_a_mask_is_one_inside_and_fades_at_the_crops_edges(layers: Layers) -> None:
    assert layers.mask[20:-20, 20:-20].min() == 1.0
    assert layers.mask[0].max() == layers.mask[-1].max() == layers.mask[:, 0].max() == 0.0
    assert (np.diff(layers.mask[300, :20]) >= 0).all()


def test_a_mask_does_not_fade_where_the_crop_meets_the_plates_border() -> None:
    view = avatar().view(SMALL)
    height = view.height
    touching = type(view)(
        view.width, height, view.plate, view.origin, view.scale, (0, 10, view.width, height - 10)
    )
    mask = load_layers(avatar(), touching, np.zeros((height - 10, view.width), np.bool_)).mask
    assert mask[200, 0] == mask[200, -1] == mask[-1, 200] == 1.0
    assert mask[0].max() == 0.0
