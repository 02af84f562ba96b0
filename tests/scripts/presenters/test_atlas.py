"""A texture gathered from pictures of a ball."""

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.presenters.atlas import Shot, Surface, gather, psnr, shown, spread
from visavis.scripts.presenters.camera import Camera, front_camera
from visavis.scripts.presenters.piece import grid
from visavis.scripts.presenters.trace import trace

SIDE = 256
SIZE = (240, 240)
F64 = NDArray[np.float64]


def ball() -> tuple[F64, NDArray[np.int64], F64]:
    """Vertices, triangles and uv of the front of a ball of radius 1."""
    rows, columns = 25, 37
    v, u = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij")
    up, around = (0.5 - v) * 2.8, (u - 0.5) * 2.8
    points = np.stack([np.cos(up) * np.sin(around), np.sin(up), np.cos(up) * np.cos(around)], -1)
    uv = 0.05 + 0.9 * np.stack([u, v], -1)
    return points.reshape(-1, 3), grid(rows, columns), uv.reshape(-1, 2)


POINTS, TRIANGLES, UV = ball()


def painted(points: F64) -> F64:
    """A smooth colour of each point on the ball, 0..255."""
    return 128 + 70 * np.sin(points * (3, 4, 5) + (0, 1, 2))


def camera(yaw_deg: float) -> Camera:
    front = front_camera(np.zeros(3), 9.0).orbited(yaw_deg, 0.0, np.zeros(3))
    axes = (front.right, front.up, front.forward)
    return Camera(front.position, *axes, 900.0, (120.0, 120.0), SIZE)


def picture(eye: Camera) -> NDArray[np.uint8]:
    hits = trace(eye.project(POINTS), TRIANGLES, SIZE, cull=True)
    image = np.zeros((*SIZE[::-1], 4), np.uint8)
    image[hits.seen, :3] = painted(hits.blend(TRIANGLES, POINTS)).round()
    image[hits.seen, 3] = 255
    return image


def shot(yaw_deg: float) -> Shot:
    eye = camera(yaw_deg)
    return Shot(picture(eye), eye, Surface(POINTS, POINTS))


def rounded(color: NDArray[np.float32]) -> NDArray[np.uint8]:
    solid = np.full((SIDE, SIDE, 1), 255, np.float32)
    return np.concatenate([color, solid], 2).round().astype(np.uint8)


def test_the_texture_shows_each_view_as_it_was_taken() -> None:
    shots = [shot(0), shot(-30), shot(30)]
    texture = rounded(gather(shots, TRIANGLES, UV, SIDE)[0])
    assert min(psnr(each, TRIANGLES, UV, texture) for each in shots) > 38


def test_a_view_that_was_not_taken_looks_right_too() -> None:
    texture = rounded(gather([shot(0), shot(-30), shot(30)], TRIANGLES, UV, SIDE)[0])
    assert psnr(shot(15), TRIANGLES, UV, texture) > 38


def test_what_hides_the_skin_does_not_get_into_its_texture() -> None:
    eye = camera(0)
    card = np.array([[-0.4, 0.4, 1.2], [-0.4, -0.4, 1.2], [0.4, -0.4, 1.2], [0.4, 0.4, 1.2]])
    surface = Surface(POINTS, POINTS, [(card, np.array([[0, 1, 2], [0, 2, 3]]))])
    image = picture(eye)
    (left, top), (right, bottom) = eye.project(card[[0, 2]])[:, :2].astype(int)
    image[top : bottom + 1, left : right + 1, :3] = (255, 0, 255)
    hidden = Shot(image, eye, surface)
    texture = rounded(gather([hidden, shot(-35), shot(35)], TRIANGLES, UV, SIDE)[0])
    assert psnr(shot(0), TRIANGLES, UV, texture) > 30
    naive = Shot(image, eye, Surface(POINTS, POINTS))
    assert psnr(shot(0), TRIANGLES, UV, rounded(gather([naive], TRIANGLES, UV, SIDE)[0])) < 20


def test_clothes_held_out_of_the_picture_count_as_cover() -> None:
    eye = camera(0)
    image = picture(eye)
    image[150:, :, 3] = 0
    cover = gather([Shot(image, eye, Surface(POINTS, POINTS))], TRIANGLES, UV, SIDE)[1]
    assert cover[SIDE // 4, SIDE // 2] < 0.01
    assert cover[3 * SIDE // 4, SIDE // 2] > 0.99


def test_islands_are_continued_into_their_gaps() -> None:
    color = gather([shot(0)], TRIANGLES, UV, SIDE)[0]
    edge = round(0.05 * SIDE)
    inside, outside = color[SIDE // 2, edge + 40], color[SIDE // 2, edge - 4]
    assert np.abs(outside).min() > 1
    assert np.abs(inside - outside).max() < 120


def test_the_skin_of_a_shot_is_told_from_its_ground() -> None:
    _, skin = shown(shot(0), TRIANGLES, UV, np.zeros((SIDE, SIDE, 4), np.uint8))
    assert skin[120, 120]
    assert not skin[2, 2]


@pytest.mark.parametrize("shape", [(7, 5), (64, 64), (1, 9)])
def test_spreading_keeps_what_is_known_and_fills_the_rest(shape: tuple[int, int]) -> None:
    known = np.zeros(shape, np.float32)
    known[0, 0] = known[0, -1] = 1
    values = np.full((*shape, 2), 9, np.float32)
    values[0, 0], values[0, -1] = (10, 40), (20, 50)
    filled = spread(values, known)
    np.testing.assert_allclose(filled[0, 0], (10, 40))
    assert (filled >= (9.99, 39.99)).all()
    assert (filled <= (20.01, 50.01)).all()
