from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar, meshed
from visavis.render.avatar import Avatar
from visavis.render.rig.mesh import alpha_range, blended_views, load_mesh, shape
from visavis.render.rig.tensors import CAVITY, LOWER_TEETH, SKIN, TONGUE, UPPER_TEETH
from visavis.render.rig.textures import packed_texture
from visavis.stream.errors import AvatarError

NAMES = ["ruby", "marcus"]
Points = NDArray[np.float32]


def corners(points: Points, triangles: NDArray[np.int32]) -> set[bytes]:
    return {row.tobytes() for row in points[triangles]}


@pytest.mark.parametrize("name", NAMES)
def test_every_part_keeps_its_triangles(name: str) -> None:
    mesh, tensors = meshed(name), avatar(name).tensors
    triangles, parts = tensors["triangles"].astype(np.int32), tensors["parts"]
    points = tensors["vertices"].astype(np.float32)
    for part, mine in ((SKIN, mesh.skin), (1, mesh.eyes[0]), (2, mesh.eyes[1]), (7, mesh.lash)):
        assert corners(mesh.rest, mine) == corners(points, triangles[parts == part])


@pytest.mark.parametrize("name", NAMES)
def test_hair_is_split_into_what_hides_and_what_does_not(name: str) -> None:
    mesh = meshed(name)
    for relief in mesh.reliefs:
        least, most = alpha_range(relief.hair, mesh.uv, relief.solid)
        assert (least == 255).all()
        assert (most == 255).all()
        least, most = alpha_range(relief.hair, mesh.uv, relief.wisps)
        assert (least < 255).all()
        assert (most > 0).all()


def test_alpha_is_searched_in_all_texels_that_a_triangle_can_show() -> None:
    rgba = np.zeros((10, 10, 4), np.uint8)
    rgba[4:8, 4:8, 3] = 255
    rgba[5, 5, 3] = 9
    uv = np.array([(4, 4), (4, 6.5), (6.5, 4), (0, 0), (0, 2), (2, 0)], np.float32)
    least, most = alpha_range(packed_texture(rgba), uv, np.array([[0, 1, 2], [3, 4, 5]], np.int32))
    assert least.tolist() == [9, 0]
    assert most.tolist() == [255, 0]


def test_groups_hold_their_own_vertices_and_shapes() -> None:
    mesh = meshed()
    groups = [mesh.body, *(relief.group for relief in mesh.reliefs)]
    assert groups[0].first == 0
    for one, following in pairwise(groups):
        assert one.last == following.first
    for group in groups:
        assert ((group.shape_vertex >= group.first) & (group.shape_vertex < group.last)).all()
        assert group.shape_start[-1] == len(group.shape_vertex)
    for relief in mesh.reliefs:
        used = np.concatenate([relief.solid, relief.wisps, relief.behind])
        assert used.min() >= relief.group.first
        assert used.max() < relief.group.last


def test_shapes_move_the_vertices_that_the_avatar_says() -> None:
    mesh, one = meshed(), avatar()
    moved = np.zeros_like(mesh.rest)
    jaw = 24
    body = mesh.body
    span = slice(int(body.shape_start[jaw]), int(body.shape_start[jaw + 1]))
    moved[body.shape_vertex[span]] = body.shape_delta[span]
    wanted = shape(one, "jawOpen")
    used = np.hstack([one.tensors["vertices"], wanted])[np.abs(wanted).max(1) > 0]
    found = np.hstack([mesh.rest, moved])[np.abs(moved).max(1) > 0]
    away = np.array([np.abs(used - row).max(1).min() for row in found])
    teeth = mesh.part[np.abs(moved).max(1) > 0] == LOWER_TEETH
    assert len(found) == len(used)
    assert away[~teeth].max() == 0
    assert away[teeth].max() < 0.12


def test_the_lips_are_two_vertices_of_the_face_that_touch() -> None:
    mesh = meshed()
    upper, lower = mesh.rest[mesh.lips]
    assert np.linalg.norm(upper - lower) < 0.05
    assert (mesh.part[mesh.lips] == SKIN).all()


def test_the_interior_is_lining_teeth_and_tongue() -> None:
    mesh = meshed()
    assert {UPPER_TEETH, LOWER_TEETH, TONGUE} <= set(mesh.part[np.unique(mesh.inner)])
    assert set(mesh.part[np.unique(mesh.lining)]) <= {SKIN, CAVITY}
    assert corners(mesh.rest, mesh.lining) < corners(mesh.rest, mesh.inner)


@pytest.mark.parametrize(
    ("yaw", "views"),
    [(0.0, {0.0: 1.0}), (4.0, {0.0: 1.0}), (-4.0, {0.0: 1.0}), (20.0, {22.0: 1.0}), (-40.0, {-22.0: 1.0})],
)
def test_one_view_of_the_hair_serves_near_it(yaw: float, views: dict[float, float]) -> None:
    shown = blended_views(meshed().reliefs, yaw)
    assert {relief.yaw: share for relief, share in shown} == views


def test_between_views_the_hair_is_cross_faded_without_a_jump() -> None:
    shares: list[float] = []
    for yaw in np.arange(0, 22.1, 0.25):
        shown = {relief.yaw: share for relief, share in blended_views(meshed().reliefs, float(yaw))}
        assert sum(shown.values()) == pytest.approx(1.0)
        assert -22.0 not in shown
        shares.append(shown.get(22.0, 0.0))
    assert shares[0] == 0
    assert shares[-1] == 1
    assert (np.diff(shares) >= 0).all()
    assert np.diff(shares).max() < 0.08


def test_only_long_hair_trails() -> None:
    ruby, marcus = meshed(), meshed("marcus")
    assert not marcus.trail.any()
    assert not ruby.trail[: ruby.body.last].any()
    group = ruby.reliefs[0].group
    mine, height = ruby.trail[group.first : group.last], ruby.rest[group.first : group.last, 1]
    assert mine.max() == pytest.approx(1.0, abs=0.1)
    assert not mine[height > ruby.hair_top].any()
    assert (np.diff(mine[np.argsort(-height)]) >= 0).all()


def test_a_mouth_in_the_wrong_place_is_refused() -> None:
    ruby = avatar()
    tensors = dict(ruby.tensors) | {"mouth": np.array([0, 0, 0], np.float32)}
    with pytest.raises(AvatarError, match="no lips"):
        load_mesh(Avatar(ruby.folder, ruby.manifest, tensors), ruby.view(SMALL))
