import errno
import os
from pathlib import Path

import pytest
from visavis.render.weights import (
    MANIFEST,
    RECORD,
    REPOSITORY,
    Entry,
    Record,
    State,
    WeightsFile,
    again,
    again_at,
    check_file,
    default_folder,
    digest,
    file_named,
    impostor,
    locate,
    read_record,
    trouble,
    write_record,
)
from visavis.stream.errors import SetupError, UsageError

SMALL = WeightsFile("small", "models/small.pth", 4, "four bytes", "MIT")
FOUR = "9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a"
NOTHING = Record(REPOSITORY, {})


def put(folder: Path, content: bytes = b"\x01\x02\x03\x04", place: str = SMALL.path) -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_manifest_names_each_file_once_and_leaves_out_what_is_not_free() -> None:
    assert len({file.name for file in MANIFEST}) == len({file.path for file in MANIFEST}) == 9
    assert not any("det_10g" in file.path or "2d106" in file.path for file in MANIFEST)
    assert all(file.licence and file.what for file in MANIFEST)
    assert all(len(file.twin.sha256) == 64 for file in MANIFEST if file.twin)


@pytest.mark.parametrize("name", ["decoder", "decoder.pth", "ditto_pytorch/models/decoder.pth"])
def test_a_file_is_named_in_three_ways(name: str) -> None:
    assert file_named(name).what == "draws the picture"


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no weights 'face'; choose one of appearance_extractor, "):
        file_named("face")


@pytest.mark.parametrize(
    "place",
    [
        "ditto_pytorch/models/decoder.pth",
        "decoder.pth",
        "liveportrait/base_models/spade_generator.pth",
        "spade_generator.pth",
    ],
)
def test_a_file_is_found_in_the_layout_of_the_hub_of_live_portrait_and_bare(
    tmp_path: Path, place: str
) -> None:
    assert locate(file_named("decoder"), tmp_path) is None
    path = put(tmp_path, place=place)
    assert locate(file_named("decoder"), tmp_path) == path


def test_the_default_folder_lies_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "weights"


def test_the_advice_names_the_folder_unless_it_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    assert again(SMALL) == again(SMALL, tmp_path / "weights") == "visavis weights fetch --only small"
    assert again(SMALL, tmp_path) == f"visavis weights fetch --only small --to {tmp_path}"


def test_what_lies_somewhere_is_fetched_again_by_its_name_and_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    decoder = "visavis weights fetch --only decoder"
    for place in file_named("decoder").places:
        assert again_at(default_folder() / place) == decoder
        assert again_at(tmp_path / "a b" / place) == f"{decoder} --to '{tmp_path}/a b'"
    assert again_at(tmp_path / "other.pth") == "visavis weights fetch"
    (tmp_path / "decoder.pth").write_bytes(b"<html>")
    assert impostor(tmp_path / "decoder.pth").endswith(f"delete it and run {decoder} --to {tmp_path}")


def test_a_digest_tells_its_progress(tmp_path: Path) -> None:
    told: list[int] = []
    assert digest(put(tmp_path), told.append) == FOUR
    assert sum(told) == 4


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_record(tmp_path).files == {}
    record = Record(REPOSITORY, {SMALL.path: Entry(FOUR, 4, "c")})
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]


def test_a_damaged_record_is_one_line(tmp_path: Path) -> None:
    put(tmp_path, b'{"files": 1}', RECORD)
    with pytest.raises(SetupError, match=r"manifest.json is damaged: delete it"):
        read_record(tmp_path)


def test_a_record_that_is_a_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / RECORD).mkdir()
    with pytest.raises(SetupError, match=r"manifest.json has a file where a folder should be, or a folder"):
        read_record(tmp_path)


def test_a_recorded_file_is_good_while_its_hash_is_the_same(tmp_path: Path) -> None:
    record = Record(REPOSITORY, {SMALL.path: Entry(FOUR, 4, "c")})
    path = put(tmp_path)
    assert check_file(SMALL, tmp_path, record).state is State.GOOD
    path.write_bytes(b"\x01\x02\x03\x05")
    finding = check_file(SMALL, tmp_path, record)
    assert finding.state is State.DAMAGED
    assert "is not the file that was fetched: fetch it again with visavis weights fetch --only small" in (
        finding.problem
    )


def test_a_file_that_nobody_vouches_for_is_unverified_and_no_problem(tmp_path: Path) -> None:
    put(tmp_path)
    finding = check_file(SMALL, tmp_path, NOTHING)
    assert (finding.state, finding.problem, finding.bytes, finding.sha256) == (State.UNVERIFIED, "", 4, FOUR)


def test_a_truncated_file_is_damaged(tmp_path: Path) -> None:
    put(tmp_path, b"\x01\x02")
    finding = check_file(SMALL, tmp_path, NOTHING)
    assert finding.state is State.DAMAGED
    assert "has 2 bytes instead of 4: fetch it again" in finding.problem


def test_a_missing_file_and_half_of_one_say_how_to_get_it(tmp_path: Path) -> None:
    assert check_file(SMALL, tmp_path, NOTHING).state is State.MISSING
    put(tmp_path, b"\x01", f"{SMALL.path}.0123456789ab.incomplete")
    finding = check_file(SMALL, tmp_path, NOTHING)
    assert finding.state is State.HALF
    assert "half a download, 1 bytes so far: go on with visavis weights fetch --only small" in finding.problem


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "is a web page, perhaps a login or an error"),
        (b"\xef\xbb\xbf\n <HTML>", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a Git LFS pointer"),
        (b"", "is empty"),
    ],
)
def test_what_is_no_weights_at_all_is_named(tmp_path: Path, content: bytes, line: str) -> None:
    path = put(tmp_path, content)
    assert impostor(path).startswith(line)
    assert check_file(SMALL, tmp_path, NOTHING).problem.startswith(f"{path} {line}")


def test_a_closed_file_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path)
    opened = Path.open

    def refuse(one: Path, *rest: str) -> object:
        if one == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(one))
        return opened(one, *rest)

    monkeypatch.setattr(Path, "open", refuse)
    finding = check_file(SMALL, tmp_path, NOTHING)
    assert finding.state is State.UNREADABLE
    assert "small.pth is closed to this account (permission denied)" in finding.problem


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.ENOSPC, "lies on a full disk"),
        (errno.EROFS, "read-only"),
        (errno.EPERM, "permission denied"),
        (errno.ENOTDIR, "has a file where a folder should be"),
        (errno.EIO, "cannot be used (input/output error)"),
    ],
)
def test_each_trouble_says_what_to_do(number: int, line: str) -> None:
    assert line in trouble(OSError(number, os.strerror(number)))
