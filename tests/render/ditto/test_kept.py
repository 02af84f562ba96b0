import os
from pathlib import Path

import pytest
import torch
from visavis.render.ditto import kept
from visavis.render.ditto.kept import Beside


def source(folder: Path, content: bytes = b"official") -> Path:
    path = folder / "net.pth"
    path.write_bytes(content)
    return path


def test_what_is_kept_is_there_while_the_file_is_the_same(tmp_path: Path) -> None:
    path, made = source(tmp_path), {"row": torch.arange(3.0)}
    Beside.of(path, "fp32").keep(made)
    found = Beside.of(path, "fp32").read()
    assert found is not None
    assert torch.equal(found["row"], made["row"])
    assert Beside.of(path, "fp16").read() is None
    os.utime(path, ns=(1, 1))
    assert Beside.of(path, "fp32").read() is not None
    source(tmp_path, b"another!")
    assert Beside.of(path, "fp32").read() is None


def test_a_file_that_changed_while_it_was_read_keeps_nothing(tmp_path: Path) -> None:
    path = source(tmp_path)
    beside = Beside.of(path, "fp32")
    source(tmp_path, b"changed meanwhile")
    beside.keep({"row": torch.zeros(1)})
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff" * 100])
def test_what_is_damaged_is_not_there(tmp_path: Path, content: bytes) -> None:
    beside = Beside.of(source(tmp_path), "fp32")
    assert beside.read() is None
    beside.path.write_bytes(content)
    assert beside.read() is None


def test_it_can_be_forgotten_twice(tmp_path: Path) -> None:
    beside = Beside.of(source(tmp_path), "fp32")
    beside.keep({"row": torch.zeros(1)})
    for _ in range(2):
        beside.forget()
        assert not beside.path.exists()


def test_of_another_layout_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = source(tmp_path)
    Beside.of(path, "fp32").keep({"row": torch.zeros(1)})
    monkeypatch.setattr(kept, "_LAYOUT", "2")
    assert Beside.of(path, "fp32").read() is None


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Beside.of(tmp_path / "gone.pth", "fp32")
