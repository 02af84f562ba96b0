"""Smoothed edges around eyes and mouth."""

import numpy as np
from numpy.typing import NDArray
from visavis.render.avatar import find_avatar
from visavis.render.rig.face import Face
from visavis.render.rig.mesh import load_mesh
from visavis.render.rig.motion import still
from visavis.render.rig.smooth import smooth, smooth_zones, zones

SIDE = 32
DARK, BRIGHT = 40, 200


def grey(value: NDArray[np.int64]) -> NDArray[np.uint32]:
    return (value | value << 8 | value << 16 | 255 << 24).astype(np.uint32).reshape(-1)


def light(picture: NDArray[np.uint32]) -> NDArray[np.int64]:
    return (picture.reshape(SIDE, SIDE) >> 8 & 255).astype(np.int64)


def stairs() -> NDArray[np.int64]:
    """Dark above a line that falls by one row in eight pixels."""
    y, x = np.mgrid[:SIDE, :SIDE]
    return np.where(y < 12 + x // 8, DARK, BRIGHT)


def smoothed(value: NDArray[np.int64]) -> NDArray[np.int64]:
    picture = grey(value)
    smooth(picture, SIDE, 1, 1, SIDE - 1, SIDE - 1)
    return light(picture)


def test_a_stair_becomes_a_slope() -> None:
    height = (BRIGHT - smoothed(stairs())).sum(0)[8:24] / (BRIGHT - DARK)
    line = 12 + (np.arange(8, 24) + 0.5) / 8 - 0.5
    before = (BRIGHT - stairs()).sum(0)[8:24] / (BRIGHT - DARK)
    assert np.abs(height - line).max() < 0.3 < np.abs(before - line).max()


def test_a_stair_that_falls_along_the_rows_becomes_a_slope_too() -> None:
    assert np.array_equal(smoothed(stairs().T), smoothed(stairs()).T)


def test_a_straight_edge_stays_sharp() -> None:
    y, _ = np.mgrid[:SIDE, :SIDE]
    edge = np.where(y < 15, DARK, BRIGHT)
    rows = smoothed(edge)[:, SIDE // 2]
    assert np.abs(rows - edge[:, SIDE // 2]).max() < 0.2 * (BRIGHT - DARK)


def test_even_and_faintly_shaded_surfaces_are_left_alone() -> None:
    _, x = np.mgrid[:SIDE, :SIDE]
    assert np.array_equal(smoothed(100 + 2 * x), 100 + 2 * x)


def test_a_speck_is_taken_back() -> None:
    value = np.full((SIDE, SIDE), DARK)
    value[16, 16] = BRIGHT
    assert smoothed(value)[16, 16] < BRIGHT - 0.4 * (BRIGHT - DARK)


def test_nothing_outside_the_box_changes() -> None:
    picture = grey(stairs())
    smooth(picture, SIDE, 4, 4, 12, 20)
    changed = np.argwhere(light(picture) != stairs())
    assert len(changed)
    assert changed.min() >= 4
    assert changed[:, 1].max() < 12
    assert changed[:, 0].max() < 20


def test_eyes_and_mouth_of_a_presenter_are_zones_that_smoothing_keeps_to() -> None:
    avatar = find_avatar("ruby")
    face = Face(avatar, (512, 512))
    canvas = face.canvas()
    face.draw(still(), canvas)
    mesh = load_mesh(avatar, face.view)
    chosen = zones(mesh)
    middles = np.array([mesh.rest[zone].mean(0)[:2] for zone in chosen])
    assert np.abs(middles - np.array([*mesh.eyes_at, mesh.mouth])[:, :2]).max() < 0.1
    height, width = canvas.ground.shape
    noise = np.random.default_rng(3).integers(0, 256, (height, width))
    picture = grey(noise)
    smooth_zones(chosen, canvas.screen, picture, width)
    changed = (picture != grey(noise)).reshape(height, width).mean()
    assert 0.001 < changed < 0.15


def test_zones_that_are_out_of_the_picture_change_nothing() -> None:
    picture = grey(stairs())
    screen = np.full((4, 3), -500, np.float32)
    smooth_zones((np.arange(4, dtype=np.int32),), screen, picture, SIDE)
    assert np.array_equal(light(picture), stairs())
