import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import safetensors.numpy
from support.faces import extractors, head, landmarks
from visavis.render.avatar import (
    MANIFEST,
    PRESENTERS,
    PREVIEW,
    TENSORS,
    check_name,
    find_avatar,
    load_avatar,
    own_avatars,
    presenters,
    store,
)
from visavis.render.home import VARIABLE
from visavis.render.portrait import portrait
from visavis.render.register import register
from visavis.render.rig.tensors import TEXTURES
from visavis.stream.errors import AvatarError, UsageError

Json = dict[str, object]
SKIN = "skin.webp"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of ruby that may be damaged."""
    return Path(shutil.copytree(PRESENTERS / "ruby", tmp_path / "ruby"))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's store, with an avatar called ada."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    register("ada", portrait(head(), landmarks()), extractors(), store())
    return store()


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
    assert avatar.sizes == ((720, 1280), (512, 512), (1080, 1920), (1920, 1080))
    for width, height in avatar.sizes:
        assert avatar.plate((width, height)).shape == (height, width, 3)
    for texture in TEXTURES:
        pixels = avatar.texture(texture)
        assert pixels.shape[2] == 4
        assert pixels.dtype == np.uint8
    preview = cv2.imread(str(avatar.preview))
    assert preview is not None
    assert preview.shape == (360, 360, 3)


def test_the_presenters_are_small() -> None:
    assert sum(path.stat().st_size for path in PRESENTERS.rglob("*") if path.is_file()) < 8_000_000


def test_a_plate_is_red_green_blue() -> None:
    jacket = find_avatar("ruby").plate((720, 1280))[800:900, 120:200].mean((0, 1))
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
    with pytest.raises(AvatarError, match="720x1280, 512x512, 1080x1920, 1920x1080"):
        find_avatar("ruby").plate((640, 480))


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AvatarError, match="give the folder of a packed avatar"):
        load_avatar(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', "\udcff"])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AvatarError, match="pack the avatar again"):
        load_avatar(folder)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("schema", 1, "schema 1, this version reads 2"),
        ("kind", "clay", "cannot draw"),
        ("kind", "ditto", "has face units"),
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
    (folder / SKIN).write_bytes((folder / SKIN).read_bytes() + b"\0")
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
        del files[SKIN]

    rewrite(folder, forgetful)
    with pytest.raises(AvatarError, match="lists no skin"):
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


def test_a_mesh_that_does_not_fit_is_refused(folder: Path) -> None:
    tensors = dict(load_avatar(folder).tensors)
    del tensors["vertices"]
    put(folder, TENSORS, safetensors.numpy.save(tensors))
    with pytest.raises(AvatarError, match="lacks tensor vertices"):
        load_avatar(folder)


@pytest.mark.parametrize("shape", [(64, 64), (4100, 8, 4)], ids=["grey", "too large"])
def test_a_texture_of_another_kind_is_refused(folder: Path, shape: tuple[int, ...]) -> None:
    done, blob = cv2.imencode(".png", np.zeros(shape, np.uint8))
    assert done
    put(folder, SKIN, blob.tobytes())
    with pytest.raises(AvatarError, match="in colour of at most 4096"):
        load_avatar(folder).texture(SKIN)


def test_a_texture_without_alpha_is_opaque(folder: Path) -> None:
    pixels = np.full((8, 8, 3), (10, 20, 30), np.uint8)
    done, blob = cv2.imencode(".png", pixels)
    assert done
    put(folder, SKIN, blob.tobytes())
    assert load_avatar(folder).texture(SKIN)[3, 3].tolist() == [30, 20, 10, 255]


def test_a_plate_that_is_no_picture_is_refused(folder: Path) -> None:
    put(folder, "plate_512x512.webp", b"nothing")
    with pytest.raises(AvatarError, match="no picture"):
        load_avatar(folder).plate((512, 512))


def test_the_user_s_avatars_are_found_beside_the_presenters(own: Path) -> None:
    assert own_avatars() == {"ada": own / "ada"}
    assert (find_avatar("ada").kind, find_avatar("ruby").kind) == ("ditto", "rig")
    assert presenters() == ("marcus", "ruby")
    with pytest.raises(AvatarError, match="choose one of ada, marcus, ruby"):
        find_avatar("nobody")


def test_a_presenter_cannot_be_replaced(own: Path) -> None:
    (own / "ada").rename(own / "ruby")
    assert find_avatar("ruby").kind == "rig"
    with pytest.raises(AvatarError, match="ships with the project"):
        check_name("ruby")


def test_what_is_no_avatar_is_no_part_of_the_store(own: Path) -> None:
    for name in (".ada.draft", "Ada", "a" * 41, "empty"):
        (own / name).mkdir()
        if name != "empty":
            shutil.copy(own / "ada" / MANIFEST, own / name)
    (own / "file").touch()
    assert own_avatars().keys() == {"ada"}


def test_a_folder_under_another_name_is_refused(own: Path) -> None:
    (own / "ada").rename(own / "eve")
    with pytest.raises(AvatarError, match="holds an avatar called 'ada'; rename the folder"):
        find_avatar("eve")


def test_a_ditto_avatar_is_checked_by_its_own_table(own: Path) -> None:
    tensors = dict(find_avatar("ada").tensors)
    del tensors["eye_ball"]
    put(own / "ada", TENSORS, safetensors.numpy.save(tensors))
    with pytest.raises(AvatarError, match="eye_ball; register it again"):
        find_avatar("ada")


def test_an_account_without_a_place_for_data_still_has_the_presenters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere() -> Path:
        raise UsageError("this account has no folder for data")

    monkeypatch.setattr("visavis.render.avatar.home", nowhere)
    assert own_avatars() == {}
    assert find_avatar("ruby").name == "ruby"
