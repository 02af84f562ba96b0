import numpy as np
import pytest
from support.rig import SMALL, avatar
from visavis.render.avatar import Avatar
from visavis.render.rig import raster
from visavis.render.rig.mesh import BODY, TONGUE, load_mesh
from visavis.stream.errors import AvatarError

NAMES = ["ruby", "marcus"]


@pytest.mark.parametrize("name", NAMES)
def test_every_triangle_is_drawn_somewhere(name: str) -> None:
    mesh = load_mesh(avatar(name), avatar(name).view(SMALL))
    batches = [mesh.whole, *(patch.batch for patch in mesh.patches)]
    drawn = {tuple(row) for batch in batches for row in batch.triangles.tolist()}
    assert drawn == {tuple(row) for row in avatar(name).tensors["triangles"].astype(int).tolist()}


@pytest.mark.parametrize("name", NAMES)
def test_all_kinds_of_drawing_are_there(name: str) -> None:
    mesh = load_mesh(avatar(name), avatar(name).view(SMALL))
    assert set(np.unique(mesh.whole.kinds)) == {raster.SKIN, raster.LID, raster.EYE, raster.HAIR, raster.BACK}
    assert raster.SHADE in mesh.patches[0].batch.kinds
    assert all(raster.EYE in patch.batch.kinds for patch in mesh.patches[1:])


def test_hair_follows_the_head_it_lies_on() -> None:
    mesh = load_mesh(avatar(), avatar().view(SMALL))
    row = mesh.uv[mesh.whole.triangles, 1].mean(1)
    turn = np.arange(len(row))
    hair, skin = mesh.whole.kinds == raster.HAIR, mesh.whole.kinds == raster.SKIN
    for strand in np.flatnonzero(hair)[::97]:
        under = skin & (np.abs(row - row[strand]) < 30)
        assert turn[under].max() < strand


def test_the_lips_are_two_vertices_of_the_face_that_touch() -> None:
    mesh = load_mesh(avatar(), avatar().view(SMALL))
    upper, lower = mesh.rest[mesh.lips]
    assert np.linalg.norm(upper - lower) < 0.05
    assert (mesh.part[mesh.lips] == BODY).all()


def test_the_interior_is_cavity_teeth_and_tongue() -> None:
    mesh = load_mesh(avatar(), avatar().view(SMALL))
    assert set(mesh.part[np.unique(mesh.inner)]) == {BODY, 3, 4, TONGUE}


def test_a_mouth_in_the_wrong_place_is_refused() -> None:
    ruby = avatar()
    tensors = dict(ruby.tensors) | {"mouth": np.array([0, 0, 0], np.float32)}
    with pytest.raises(AvatarError, match="no lips"):
        load_mesh(Avatar(ruby.folder, ruby.manifest, tensors), ruby.view(SMALL))
