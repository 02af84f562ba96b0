"""Files that are no checkpoints, or that were made to do harm."""

import errno
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.checkpoints import content, save, write
from torch import Tensor
from visavis.render.ditto.checkpoints import load
from visavis.render.weights import file_named
from visavis.stream.errors import SetupError

STITCH = file_named("stitch_network")


def fails(folder: Path) -> str:
    with pytest.raises(SetupError) as caught:
        load("stitch_network", folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class Harm:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.system, ("exit 1",)


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(10_000_000))


def no_pickle(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/readme", b"hello")


def long_pickle(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", bytes(9_000_000))


def new_protocol(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Harm(), 4))


def truncated(share: float) -> Callable[[Path], None]:
    def cut(path: Path) -> None:
        save(content("stitch_network"), path)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])

    return cut


def without(key: str) -> Callable[[Path], None]:
    def drop(path: Path) -> None:
        value = content("stitch_network")
        del value["retarget_shoulder"][key]
        save(value, path)

    return drop


def with_tensor(key: str, tensor: Tensor) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        value = content("stitch_network")
        value["retarget_shoulder"][key] = tensor
        save(value, path)

    return put


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda path: path.write_bytes(b"<!DOCTYPE html><h1>404</h1>"), "is a web page"),
        (lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"), "Git LFS pointer"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(pickle.dumps(Harm())), "is damaged or no checkpoint"),
        (truncated(0.5), "is damaged or no checkpoint"),
        (truncated(0.999), "is damaged or no checkpoint"),
        (lambda path: save(Harm(), path), "wants to run posix system: it was made to do harm"),
        (lambda path: save({"retarget_shoulder": Harm()}, path), "wants to run posix system"),
        (new_protocol, "wants to run something"),
        (bomb, "unfolds to more than its size"),
        (no_pickle, "is no checkpoint that torch.save wrote"),
        (long_pickle, "is no checkpoint that torch.save wrote"),
        (lambda path: save([torch.zeros(1)], path), "holds no weights"),
        (lambda path: save({"retarget_shoulder": 1}, path), "holds no weights"),
        (lambda path: save({"retarget_shoulder": {"a": 1}}, path), "holds 'a', which is no tensor"),
        (lambda path: save({"other": {}}, path), "has no retarget_shoulder: it is another file"),
        (without("module.mlp.0.bias"), "lacks mlp.0.bias: it belongs to another version"),
        (with_tensor("module.more", torch.zeros(1)), "has unexpected more"),
        (with_tensor("module.mlp.0.bias", torch.zeros(2)), "other shapes: mlp.0.bias (2,) instead of (128,)"),
        (
            with_tensor("module.mlp.0.bias", torch.zeros(1).expand(1 << 40)),
            "other shapes: mlp.0.bias (1099511627776,)",
        ),
        (
            with_tensor("module.mlp.0.bias", torch.zeros(128, dtype=torch.float64)),
            "other dtypes: mlp.0.bias torch.float64 instead of torch.float32",
        ),
    ],
    ids=[
        *("page", "pointer", "empty", "pickle", "half", "end missing", "harm", "harm within", "protocol"),
        *("zip bomb", "no pickle", "long pickle", "list", "entry", "no tensor", "other", "missing"),
        *("unexpected", "shape", "expanded", "dtype"),
    ],
)
def test_a_bad_file_is_one_line_that_names_it_and_what_to_do(
    tmp_path: Path, make: Callable[[Path], object], line: str
) -> None:
    path = tmp_path / STITCH.path
    path.parent.mkdir(parents=True)
    make(path)
    told = fails(tmp_path)
    assert told.startswith(str(path))
    assert line in told
    assert "visavis weights fetch" in told
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_missing_file_and_half_a_download_say_how_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / STITCH.path
    path.parent.mkdir(parents=True)
    path.with_name(f"{path.name}.0123456789ab.incomplete").write_bytes(b"PK")
    line = fails(tmp_path)
    assert f"is missing: get it with visavis weights fetch --only stitch_network --to {tmp_path}" in line


def test_a_closed_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("stitch_network", tmp_path)

    def refuse(one: Path, *_: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(one))

    monkeypatch.setattr(Path, "open", refuse)
    assert fails(tmp_path).startswith(f"{path} is closed to this account")
