import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.faces import extractors, head, landmarks, on_grey
from support.pictures import encoded
from visavis.render import register as module
from visavis.render.avatar import MANIFEST, PREVIEW, TENSORS, Avatar, load_avatar
from visavis.render.ditto.motion import Source
from visavis.render.portrait import portrait
from visavis.render.register import (
    PLATE,
    Extractors,
    load_extractors,
    register,
    register_file,
)
from visavis.stream.errors import AvatarError, SetupError


def registered(store: Path, name: str = "ada") -> Avatar:
    return register(name, portrait(head(), landmarks()), extractors(), store).avatar


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_picture_becomes_an_avatar_that_loads(tmp_path: Path) -> None:
    avatar = registered(tmp_path, "ada-lovelace-")
    assert (avatar.name, avatar.title, avatar.kind) == ("ada-lovelace-", "Ada Lovelace", "ditto")
    assert avatar.sizes == ((360, 360),)
    assert (avatar.plate((360, 360)) == head()).all()
    assert avatar.manifest.weights == "stand-in"
    assert {name: (tensor.dtype, tensor.shape) for name, tensor in avatar.tensors.items()} == {
        "appearance": (np.float16, (1, 32, 16, 64, 64)),
        "motion": (np.float32, (1, 265)),
        "canonical": (np.float32, (1, 63)),
        "matrix": (np.float32, (1, 3, 3)),
        "eye_open": (np.float32, (1, 2)),
        "eye_ball": (np.float32, (1, 6)),
    }
    assert contents(avatar.folder).keys() == {MANIFEST, PLATE, PREVIEW, TENSORS}


def test_the_networks_see_the_crop_at_half_its_size(tmp_path: Path) -> None:
    found = portrait(head(), landmarks())
    means: list[float] = []

    def motion(image: torch.Tensor) -> Source:
        assert image.shape == (1, 3, 256, 256)
        means.append(float(image.mean()))
        return extractors().motion(image)

    register("ada", found, replace(extractors(), motion=motion), tmp_path)
    assert means == [pytest.approx(found.crop().mean() / 255, abs=1e-3)]


def test_the_same_picture_gives_the_same_folder(tmp_path: Path) -> None:
    one, other = registered(tmp_path / "one"), registered(tmp_path / "other")
    assert contents(one.folder) == contents(other.folder)


def test_the_manifest_lists_each_file_with_its_hash_and_no_path(tmp_path: Path) -> None:
    files = contents(registered(tmp_path).folder)
    listed = json.loads(files.pop(MANIFEST))["files"]
    assert listed == {name: hashlib.sha256(blob).hexdigest() for name, blob in files.items()}
    assert str(tmp_path).encode() not in b"".join(files.values())


def test_a_name_that_is_taken_is_refused_and_the_avatar_stays(tmp_path: Path) -> None:
    before = contents(registered(tmp_path).folder)
    with pytest.raises(AvatarError, match="visavis avatar remove ada"):
        registered(tmp_path)
    assert contents(tmp_path / "ada") == before
    assert [path.name for path in tmp_path.iterdir()] == ["ada"]


@pytest.mark.parametrize("name", ["", "Ada", "a b", "../ada", "a/b", "x" * 41, ".ada", "ädä", "ruby"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AvatarError, match=r"no name for an avatar|is a presenter"):
        registered(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_networks_that_give_no_numbers_are_told_apart_from_the_picture(tmp_path: Path) -> None:
    def burst(image: torch.Tensor) -> torch.Tensor:
        return extractors().appearance(image) + 1e6

    with pytest.raises(SetupError, match="visavis weights check"):
        register("ada", portrait(head(), landmarks()), replace(extractors(), appearance=burst), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file")
    with pytest.raises(AvatarError, match="VISAVIS_HOME"):
        registered(tmp_path / "store")


def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, blob: bytes) -> int:
        if path.name == MANIFEST:
            raise OSError(28, "No space left on device")
        with path.open("wb") as file:
            return file.write(blob)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(AvatarError, match="No space left on device; free some space"):
        registered(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_looked_at_before_any_network_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(weights: str | None) -> Extractors:
        raise AssertionError(f"loaded {weights}")

    monkeypatch.setattr(module, "load_extractors", never)
    for blob, said in ((b"text", "no JPEG"), (encoded(".png", np.zeros((300, 300, 3), np.uint8)), "no face")):
        (tmp_path / "picture").write_bytes(blob)
        with pytest.raises(AvatarError, match=said):
            register_file("ada", tmp_path / "picture", tmp_path / "store")
    with pytest.raises(AvatarError, match=r"nothing\.png cannot be read: No such file"):
        register_file("ada", tmp_path / "nothing.png", tmp_path / "store")
    with pytest.raises(AvatarError, match="is no file, but a folder"):
        register_file("ada", tmp_path, tmp_path / "store")


def test_a_file_is_registered_with_the_weights_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "load_extractors", extractors)
    path = tmp_path / "picture.jpg"
    path.write_bytes(encoded(".jpg", on_grey(head(), 400, 500, 70, 30)))
    made = register_file("ada", path, tmp_path / "store", weights="random:3")
    assert made.avatar.manifest.weights == "random:3"
    assert load_avatar(tmp_path / "store" / "ada").sizes == ((500, 400),)
    assert [entry.name for entry in os.scandir(tmp_path / "store")] == ["ada"]


@pytest.mark.slow
def test_the_official_networks_register_a_face(tmp_path: Path) -> None:
    made = register("ada", portrait(head(), landmarks()), load_extractors("random:1"), tmp_path)
    assert len(made.avatar.manifest.weights) == 64
    assert np.ptp(made.avatar.tensors["motion"].astype(np.float32)) > 0
