import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import safetensors.numpy
from visavis.render.avatar import (
    HEAD,
    MANIFEST,
    PRESENTERS,
    PREVIEW,
    TENSORS,
    TEXTURES,
    find_avatar,
    load_avatar,
    presenters,
)
from visavis.stream.errors import AvatarError

Json = dict[str, object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of ruby that may be damaged."""
    return Path(shutil.copytree(PRESENTERS / "ruby", tmp_path / "ruby"))


def rewrite(folder: Path, change: Callable[[Json], None]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def put(folder: Path, name: str, blob: bytes) -> None:
    """Replace a file and its hash."""
    (folder / name).write_bytes(blob)

    def signed(manifest: Json) -> None:
        files = manifest["files"]
        assert isinstance(files, dict)
        files[name] = hashlib.sha256(blob).hexdigest()

    rewrite(folder, signed)


def test_the_presenters_are_two_different_people() -> None:
    assert presenters() == ("marcus", "ruby")
    ruby, marcus = find_avatar("ruby"), find_avatar("marcus")
    apart = np.abs(ruby.plate((512, 512)).astype(int) - marcus.plate((512, 512)))
    assert apart.mean() > 10


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_a_presenter_is_whole(name: str) -> None:
    avatar = find_avatar(name)
    assert (avatar.name, avatar.title, avatar.kind) == (name, name.capitalize(), "rig")
    assert avatar.sizes == ((720, 1280), (512, 512))
    for width, height in avatar.sizes:
        assert avatar.plate((width, height)).shape == (height, width, 3)
    for texture in TEXTURES:
        assert avatar.texture(texture).shape == (1024, 1024, 4)
    preview = cv2.imread(str(avatar.preview))
    assert preview is not None
    assert preview.shape == (360, 360, 3)


def test_the_presenters_are_small() -> None:
    assert sum(path.stat().st_size for path in PRESENTERS.rglob("*") if path.is_file()) < 8_000_000


def test_a_plate_is_red_green_blue() -> None:
    jacket = find_avatar("ruby").plate((720, 1280))[1000:1100, 60:140].mean((0, 1))
    assert jacket[2] > jacket[0] + 20


def test_no_presenter_holds_a_pickle() -> None:
    assert {path.suffix for path in PRESENTERS.rglob("*") if path.is_file()} == {
        ".json",
        ".png",
        ".webp",
        ".safetensors",
    }


def test_an_unknown_avatar_names_the_known_ones() -> None:
    with pytest.raises(AvatarError, match="marcus, ruby"):
        find_avatar("nobody")


@pytest.mark.parametrize("name", ["../ruby", "/etc", "ruby/../ruby", "", ".", "ruby\0"])
def test_a_name_never_becomes_a_path(name: str) -> None:
    with pytest.raises(AvatarError, match="no avatar"):
        find_avatar(name)


def test_an_unknown_size_names_the_known_ones() -> None:
    with pytest.raises(AvatarError, match="720x1280, 512x512"):
        find_avatar("ruby").plate((640, 480))


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AvatarError, match="give the folder of a packed avatar"):
        load_avatar(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', "\udcff"])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AvatarError, match="pack the avatar again"):
        load_avatar(folder)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("schema", 2, "schema 2"),
        ("kind", "ditto", "cannot draw"),
        ("units", ["jawOpen"], "other face units"),
        ("views", [], "no view"),
        ("frames", 0, "no frame"),
        ("surprise", 1, "surprise"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(folder: Path, key: str, value: object, said: str) -> None:
    rewrite(folder, lambda manifest: manifest.update({key: value}))
    with pytest.raises(AvatarError, match=said):
        load_avatar(folder)


def test_a_crop_outside_its_plate_is_refused(folder: Path) -> None:
    def widened(manifest: Json) -> None:
        views = manifest["views"]
        assert isinstance(views, list)
        views[0]["crop"] = [10, 10, 800, 100]

    rewrite(folder, widened)
    with pytest.raises(AvatarError, match="leaves its plate"):
        load_avatar(folder)


def test_a_changed_file_is_refused(folder: Path) -> None:
    (folder / HEAD).write_bytes((folder / HEAD).read_bytes() + b"\0")
    with pytest.raises(AvatarError, match="not the file it was packed with"):
        load_avatar(folder)


def test_a_missing_file_is_refused(folder: Path) -> None:
    (folder / PREVIEW).unlink()
    with pytest.raises(AvatarError, match="lacks preview"):
        load_avatar(folder)


def test_a_file_that_the_manifest_forgot_is_refused(folder: Path) -> None:
    def forgetful(manifest: Json) -> None:
        files = manifest["files"]
        assert isinstance(files, dict)
        del files[HEAD]

    rewrite(folder, forgetful)
    with pytest.raises(AvatarError, match="lists no head"):
        load_avatar(folder)


def test_a_file_outside_the_folder_is_refused(folder: Path) -> None:
    def escaping(manifest: Json) -> None:
        files = manifest["files"]
        assert isinstance(files, dict)
        files["../secret"] = "0" * 64

    rewrite(folder, escaping)
    with pytest.raises(AvatarError, match="outside its folder"):
        load_avatar(folder)


def test_tensors_that_are_no_tensors_are_refused(folder: Path) -> None:
    put(folder, TENSORS, b"not tensors")
    with pytest.raises(AvatarError, match="cannot be read"):
        load_avatar(folder)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("vertices", np.zeros((3, 2), np.float32), "not"),
        ("uv", np.zeros((3, 2), np.float64), "lacks tensor uv"),
        ("triangles", np.full((1, 3), 60000, np.uint16), "not"),
        ("shape_start", np.zeros(53, np.int32), "points outside itself"),
        ("vertices", None, "lacks tensor vertices"),
    ],
)
def test_a_mesh_that_does_not_fit_is_refused(
    folder: Path, key: str, value: np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None, said: str
) -> None:
    tensors = dict(load_avatar(folder).tensors)
    if value is None:
        del tensors[key]
    else:
        tensors[key] = value
    put(folder, TENSORS, safetensors.numpy.save(tensors))
    with pytest.raises(AvatarError, match=said):
        load_avatar(folder)


def test_a_triangle_that_points_past_the_vertices_is_refused(folder: Path) -> None:
    tensors = dict(load_avatar(folder).tensors)
    tensors["triangles"] = np.full_like(tensors["triangles"], 65535)
    put(folder, TENSORS, safetensors.numpy.save(tensors))
    with pytest.raises(AvatarError, match="points outside itself"):
        load_avatar(folder)


def test_a_texture_of_another_size_is_refused(folder: Path) -> None:
    done, blob = cv2.imencode(".webp", np.zeros((64, 64, 4), np.uint8))
    assert done
    put(folder, HEAD, blob.tobytes())
    with pytest.raises(AvatarError, match="1024x1024"):
        load_avatar(folder).texture(HEAD)


def test_a_plate_that_is_no_picture_is_refused(folder: Path) -> None:
    put(folder, "plate_512x512.webp", b"nothing")
    with pytest.raises(AvatarError, match="no picture"):
        load_avatar(folder).plate((512, 512))
