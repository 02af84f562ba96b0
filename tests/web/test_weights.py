import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session
from support.checkpoints import content, save
from support.hub import LocalHub, local_hub
from typer.testing import CliRunner, Result
from visavis.render.weights import REPOSITORY, file_named
from visavis.web import weights
from visavis.web.cli import app

STITCH, OPTIONS = file_named("stitch_network"), file_named("configuration")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """A hub with two small files, which are all there are."""
    stitch = save(content("stitch_network"), tmp_path / "made.pth").read_bytes()
    options = pickle.dumps({"audio2motion_cfg": {}, "default_kwargs": {}})
    monkeypatch.setattr(weights, "MANIFEST", (STITCH, OPTIONS))
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    with local_hub({STITCH.path: stitch, OPTIONS.path: options}, REPOSITORY) as server:
        yield server
    close_session()


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["weights", *map(str, arguments)])


def one_line(result: Result, code: int) -> str:
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("visavis: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_fetched_files_are_good_when_checked(hub: LocalHub, tmp_path: Path) -> None:
    fetched = run("fetch", "--mirror", hub.url)
    assert fetched.exit_code == 0, fetched.output
    folder = tmp_path / "home/weights"
    host = hub.url.removeprefix("http://")
    assert fetched.stdout == f"{folder}: 2 files in place, hashes as {host} names them\n"
    checked = run("check")
    assert checked.exit_code == 0, checked.output
    stitch, options = (f"{len(hub.files[file.path]):,} bytes" for file in (STITCH, OPTIONS))
    assert checked.stdout.splitlines() == [
        f"stitch_network: good, {stitch}, 8 entries of float32, MIT (LivePortrait)",
        f"configuration: good, {options}, Apache-2.0",
    ]


def test_one_file_may_be_fetched_into_another_folder(hub: LocalHub, tmp_path: Path) -> None:
    result = run("fetch", "--mirror", hub.url, "--to", tmp_path / "there", "--only", "configuration")
    assert result.exit_code == 0, result.output
    assert ": 1 file in place" in result.stdout
    assert (tmp_path / "there" / OPTIONS.path).is_file()
    assert not (tmp_path / "there" / STITCH.path).exists()


def test_the_findings_can_be_read_by_a_program(hub: LocalHub, tmp_path: Path) -> None:
    run("fetch", "--mirror", hub.url, "--to", tmp_path)
    report = json.loads(run("check", "--in", tmp_path, "--json").stdout)
    assert (report["folder"], report["good"], report["shapes"]) == (str(tmp_path), True, True)
    assert report["files"][0] == {
        "name": "stitch_network",
        "path": str(tmp_path / STITCH.path),
        "what": STITCH.what,
        "licence": "MIT (LivePortrait)",
        "state": "good",
        "bytes": len(hub.files[STITCH.path]),
        "sha256": hub.hash_of(STITCH.path),
        "entries": 8,
        "parameters": 45249,
        "dtypes": ["float32"],
        "problems": [],
    }


def test_what_is_missing_or_damaged_is_listed_and_exits_with_1(hub: LocalHub, tmp_path: Path) -> None:
    run("fetch", "--mirror", hub.url, "--to", tmp_path, "--only", "stitch_network")
    path = tmp_path / STITCH.path
    path.write_bytes(path.read_bytes()[:-1])
    result = run("check", "--in", tmp_path)
    assert "2 of 2 files in" in one_line(result, 1)
    assert f"  {path} has " in result.stdout
    advice = f"visavis weights fetch --only configuration --to {tmp_path}"
    assert f"  {tmp_path / OPTIONS.path} is missing: get it with {advice}\n" in result.stdout
    assert json.loads(run("check", "--in", tmp_path, "--json").stdout)["good"] is False


def test_tensors_of_another_shape_are_found_though_the_hash_is_the_hubs(
    hub: LocalHub, tmp_path: Path
) -> None:
    other = content("stitch_network")
    del other["retarget_shoulder"]["module.mlp.0.bias"]
    hub.files[STITCH.path] = save(other, tmp_path / "other.pth").read_bytes()
    hub.files[OPTIONS.path] = b"junk"
    run("fetch", "--mirror", hub.url, "--to", tmp_path)
    result = run("check", "--in", tmp_path)
    assert result.exit_code == 1
    assert f"  {tmp_path / STITCH.path} lacks mlp.0.bias" in result.stdout
    assert f"  {tmp_path / OPTIONS.path} " in result.stdout


def test_without_torch_presence_and_hash_are_checked_and_shapes_named(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("fetch", "--mirror", hub.url, "--to", tmp_path)
    monkeypatch.setattr(weights, "find_spec", lambda _name: None)
    monkeypatch.setattr(weights, "import_module", lambda name: pytest.fail(f"{name} needs torch"))
    result = run("check", "--in", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == weights.NEEDS_TORCH
    assert json.loads(run("check", "--in", tmp_path, "--json").stdout)["shapes"] is False
    assert "pip install 'visavis[ditto]'" in one_line(run("fetch", "--to", tmp_path), 1)


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["fetch", "--only", "face"], 2, "there are no weights 'face'; choose one of"),
        (["fetch", "--mirror", "hf-mirror.com"], 2, "is no address; give one such as https"),
        (["fetch", "--mirror", "http://127.0.0.1:9"], 1, "cannot be reached"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(
    hub: LocalHub, arguments: list[str], code: int, line: str
) -> None:
    assert line in one_line(run(*arguments), code)


@pytest.mark.parametrize(
    ("status", "line"), [(404, "has no ditto_pytorch/models/stitch_network.pth"), (401, "wants a login")]
)
def test_what_the_hub_refuses_is_one_line(hub: LocalHub, status: int, line: str) -> None:
    hub.status = status
    assert line in one_line(run("fetch", "--mirror", hub.url), 1)


def test_a_login_page_is_one_line(hub: LocalHub) -> None:
    hub.page = b"<!DOCTYPE html>"
    assert "is no hub" in one_line(run("fetch", "--mirror", hub.url), 1)


def test_where_nothing_was_fetched_yet_one_line_says_how(hub: LocalHub, tmp_path: Path) -> None:
    result = run("check")
    assert one_line(result, 1) == (
        f"visavis: {tmp_path / 'home/weights'} holds none of Ditto's files yet: "
        "get them with visavis weights fetch\n"
    )
    assert result.stdout == ""
    there = tmp_path / "my own"
    assert f"get them with visavis weights fetch --to '{there}'" in one_line(run("check", "--in", there), 1)
    there.mkdir()
    assert "holds none" in one_line(run("check", "--in", there), 1)
    report = json.loads(run("check", "--in", there, "--json").stdout)
    assert [row["state"] for row in report["files"]] == ["missing", "missing"]
    part = there / f"{STITCH.path}.0123456789ab.incomplete"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x")
    assert "2 of 2 files" in one_line(run("check", "--in", there), 1)


def test_a_terminal_sees_a_bar(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    result = run("fetch", "--mirror", hub.url, "--to", tmp_path)
    assert result.exit_code == 0, result.output
    assert REPOSITORY in result.stderr
