import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar
from visavis.render.rig.mesh import load_mesh, projected
from visavis.render.rig.textures import load_texture, packed_texture, texel_density

QUAD = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def square(side: float) -> NDArray[np.float32]:
    return np.array([(0, 0, 1), (0, side, 1), (side, side, 1), (side, 0, 1)], np.float32)


@pytest.mark.parametrize(("texels", "pixels"), [(100, 50), (30, 60), (64, 64)])
def test_density_counts_texels_a_pixel(texels: float, pixels: float) -> None:
    density = texel_density(np.ascontiguousarray(square(texels)[:, :2]), square(pixels), QUAD)
    assert density == pytest.approx(texels / pixels, rel=1e-5)


def test_a_stretched_texture_counts_its_coarser_side() -> None:
    wide = np.ascontiguousarray(square(60)[:, :2] * (1, 4)).astype(np.float32)
    assert texel_density(wide, square(30), QUAD) == pytest.approx(2.0, rel=1e-5)


def test_what_faces_away_has_no_density() -> None:
    assert texel_density(np.ascontiguousarray(square(9)[:, :2]), square(9), QUAD[:, ::-1].copy()) == 0.0


def test_a_texture_repeats_its_last_row_and_column() -> None:
    rgba = np.random.default_rng(1).integers(0, 256, (5, 7, 4), np.uint8)
    texture = packed_texture(rgba)
    grid = texture.texels.reshape(6, 8)
    assert texture.size == (7, 5)
    assert np.array_equal(grid[:5, :7].copy().view(np.uint8).reshape(5, 7, 4), rgba)
    assert np.array_equal(grid[5], grid[4])
    assert np.array_equal(grid[:, 7], grid[:, 6])
    assert np.array_equal(texture.alpha, rgba[..., 3])


def test_coordinates_keep_a_sample_inside() -> None:
    texture = packed_texture(np.zeros((5, 7, 4), np.uint8))
    uv = np.array([(0, 0), (1, 1), (0.5, 0.5), (-3, 9)], np.float32)
    assert texture.coordinates(uv).tolist() == [[0, 0], [6, 4], [3, 2], [0, 4]]


def shrunk(pixels: float) -> tuple[int, int]:
    uv = np.array([(0, 0), (0, 1), (1, 1), (1, 0)], np.float32)
    return load_texture(avatar(), 0, uv, square(pixels), QUAD).size


def test_a_texture_shrinks_to_a_texel_a_pixel_and_never_grows() -> None:
    whole = avatar().texture("skin.webp").shape[0]
    assert shrunk(whole / 2) == (whole // 2, whole // 2)
    assert shrunk(whole) == shrunk(4 * whole) == (whole, whole)


def test_textures_are_premultiplied() -> None:
    mesh = load_mesh(avatar(), avatar().view(SMALL))
    for texture in (mesh.skin_texture, mesh.lash_texture, *(relief.hair for relief in mesh.reliefs)):
        rgba = texture.texels.view(np.uint8).reshape(-1, 4).astype(int)
        assert (rgba[:, :3] <= rgba[:, 3:] + 1).all()


def test_no_size_shows_a_texture_so_small_that_it_flickers() -> None:
    for size in avatar().sizes:
        mesh = load_mesh(avatar(), avatar().view(size))
        screen = projected(mesh.rest, mesh.camera, mesh.lens)
        assert texel_density(mesh.uv, screen, mesh.skin) < 1.15
        for relief in mesh.reliefs[:1]:
            assert texel_density(mesh.uv, screen, relief.behind) < 1.15
