"""Outlines of hair that three views agree on."""

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.presenters.camera import VIEWS, Camera, front_camera
from visavis.scripts.presenters.piece import Part, Piece, make_piece
from visavis.scripts.presenters.relief import Relief, relief
from visavis.scripts.presenters.snap import FADES, SINK_DM, View, snapped
from visavis.scripts.presenters.trace import trace

PIVOT = np.array([0.0, 6.0, 0.0])
RADIUS, HALF_HEIGHT = 0.9, 1.0
SCALE = 0.25
FRONT = front_camera(PIVOT, 10.7)
PARTS = {"front": Part.HAIR_FRONT, "left": Part.HAIR_LEFT, "right": Part.HAIR_RIGHT}


def camera(yaw: float) -> Camera:
    return FRONT.orbited(yaw, 0, PIVOT).scaled(SCALE)


def view(name: str, nearer: float) -> View:
    """An upright cylinder about the pivot, taken for a flat picture so much `nearer` than its axis, in dm."""
    yaw, _ = VIEWS[name]
    own = camera(yaw)
    wide, high = own.size
    y, x = np.mgrid[0:high, 0:wide]
    column, row, depth = own.project(PIVOT)
    px = own.focal / depth
    inside = (np.abs(x + 0.5 - column) < RADIUS * px) & (np.abs(y + 0.5 - row) < HALF_HEIGHT * px)
    picture = np.zeros((high, wide, 4), np.uint8)
    picture[inside] = (90, 60, 40, 255)
    depths = np.where(inside, depth - nearer, np.inf).astype(np.float32)
    return View(own, yaw, {PARTS[name]: relief(PARTS[name], picture, depths, own)})


def edges(made: Relief, seen_by: Camera) -> NDArray[np.int64]:
    """First and last column of a relief in the row of the pivot, as a camera sees it."""
    hits = trace(seen_by.project(made.piece.vertices), made.piece.triangles, seen_by.size, cull=False)
    high, wide = made.texture.shape[:2]
    column, row = (hits.blend(made.piece.triangles, made.piece.uv) * (wide, high)).astype(int).T
    solid = np.zeros(hits.seen.shape, bool)
    solid[hits.seen] = made.texture[np.clip(row, 0, high - 1), np.clip(column, 0, wide - 1), 3] > 128
    return np.flatnonzero(solid[int(seen_by.project(PIVOT)[1])])[[0, -1]]


@pytest.fixture(name="views", scope="module")
def _views() -> list[View]:
    return [view("front", 0.0), view("left", 0.4), view("right", 0.4)]


@pytest.fixture(name="snapped_reliefs", scope="module")
def _snapped_reliefs(views: list[View]) -> dict[Part, Relief]:
    return snapped(views, PIVOT)


@pytest.mark.parametrize("name", ["left", "right"])
def test_a_side_view_fades_in_where_the_front_view_is(
    views: list[View], snapped_reliefs: dict[Part, Relief], name: str
) -> None:
    between = camera(VIEWS[name][0] * FADES[0])
    before = {part: made for each in views for part, made in each.reliefs.items()}
    apart = [
        np.abs(edges(reliefs[PARTS[name]], between) - edges(reliefs[Part.HAIR_FRONT], between)).max()
        for reliefs in (before, snapped_reliefs)
    ]
    assert apart[0] >= 6
    assert apart[1] <= 1


@pytest.mark.parametrize("name", ["left", "right"])
def test_the_front_view_fades_out_within_the_side_view(
    snapped_reliefs: dict[Part, Relief], name: str
) -> None:
    between = camera(VIEWS[name][0] * FADES[1])
    left, right = edges(snapped_reliefs[Part.HAIR_FRONT], between)
    first, last = edges(snapped_reliefs[PARTS[name]], between)
    assert left >= first - 1
    assert right <= last + 1


def test_every_view_looks_the_same_from_its_own_camera(
    views: list[View], snapped_reliefs: dict[Part, Relief]
) -> None:
    for each in views:
        for part, made in each.reliefs.items():
            moved = each.camera.project(snapped_reliefs[part].piece.vertices)
            assert moved[:, :2] == pytest.approx(each.camera.project(made.piece.vertices)[:, :2], abs=1e-6)


def test_hair_in_front_is_moved_no_further_behind_the_skin_than_it_may(views: list[View]) -> None:
    skin = wall(views[1].camera, 0.3)
    moved = snapped(views, PIVOT, skin)[Part.HAIR_LEFT].piece
    own = views[1].camera
    assert own.project(moved.vertices)[:, 2].max() < own.project(PIVOT)[2] - 0.3 + SINK_DM + 1e-3


def test_what_lies_lower_stays(views: list[View]) -> None:
    moved = snapped(views, PIVOT, lowest=float(PIVOT[1]))
    old = views[1].reliefs[Part.HAIR_LEFT].piece.vertices
    shift = np.linalg.norm(moved[Part.HAIR_LEFT].piece.vertices - old, axis=1)
    assert shift[old[:, 1] < PIVOT[1] - 0.1].max() < 1e-9
    assert shift[old[:, 1] > PIVOT[1] + 0.4].max() > 0.1


def wall(own: Camera, nearer: float) -> Piece:
    """Skin all over a camera's picture, so much `nearer` than the pivot."""
    wide, high = own.size
    corners = np.array([[0, 0], [0, high], [wide, high], [wide, 0]], np.float64)
    points = own.unproject(corners, np.full(4, own.project(PIVOT)[2] - nearer))
    return make_piece(Part.SKIN, points, np.array([[0, 1, 2], [0, 2, 3]]))
