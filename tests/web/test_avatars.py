"""`visavis avatar` from outside: what it prints, what it refuses, and that the front never loads torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from support.faces import Picture, extractors, head, on_grey, scaled
from support.pictures import encoded, huge_png
from typer.testing import CliRunner, Result
from visavis.render import register
from visavis.render.avatar import MANIFEST, find_avatar, store
from visavis.web import avatars
from visavis.web.cli import app


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own, and stand-ins for the networks."""
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(register, "load_extractors", lambda weights: extractors(weights or "official"))
    return tmp_path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["avatar", *map(str, arguments)])


def one_line(result: Result, code: int = 2) -> str:
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("visavis: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def saved(folder: Path, picture: Picture | bytes, name: str = "photo.png") -> Path:
    path = folder / name
    path.write_bytes(picture if isinstance(picture, bytes) else encoded(path.suffix, picture))
    return path


def added(home: Path, name: str = "ada") -> Path:
    result = run("add", name, saved(home, head()))
    assert result.exit_code == 0, result.output
    return store() / name


def test_an_added_avatar_is_listed_shown_and_removed(home: Path) -> None:
    result = run("add", "ada", saved(home, head()), "--weights", "random:1")
    assert result.stdout == f"ada: 360x360, in {home}/home/avatars/ada\n"
    assert result.stderr == ""
    assert run("list").stdout.splitlines()[0] == "ada: ditto, 360x360"
    shown = run("show", "ada").stdout
    assert "Ada (ada)\ndrawn by engine ditto, 360x360\n" in shown
    assert shown.endswith("registered with weights random:1\n")
    assert run("remove", "ada").stdout == f"ada: removed from {home}/home/avatars\n"
    assert list(store().iterdir()) == []
    assert "ada" not in run("list").stdout


def test_each_command_has_json(home: Path) -> None:
    both = np.hstack([on_grey(scaled(head("marcus"), 260), 360, 260, 0, 50), head()])
    row = json.loads(run("add", "ada", saved(home, both), "--json").stdout)
    assert (row["name"], row["kind"], row["sizes"], row["presenter"]) == ("ada", "ditto", ["620x360"], False)
    assert row["notes"] == ["2 faces were found; the largest is used"]
    assert row["bytes"] == sum(path.stat().st_size for path in (store() / "ada").iterdir())
    listing = json.loads(run("list", "--json").stdout)
    assert listing["store"] == str(store())
    assert {one["name"]: one["kind"] for one in listing["avatars"]} == {
        "ada": "ditto",
        "marcus": "rig",
        "ruby": "rig",
    }
    assert json.loads(run("show", "ada", "--json").stdout) == {**row, "notes": []}
    assert json.loads(run("remove", "ada", "--json").stdout)["folder"] == row["folder"]


def test_notes_go_to_the_error_stream(home: Path) -> None:
    result = run("add", "ada", saved(home, head()[:, 60:]))
    assert result.exit_code == 0
    assert result.stderr.startswith("visavis: ")
    assert "more room" in result.stderr


@pytest.mark.parametrize("name", ["Ada", "../ada", "a_b", "x" * 41, "ruby"])
def test_a_name_is_refused_before_anything_is_read(home: Path, name: str) -> None:
    assert "name" in one_line(run("add", name, home / "nothing.png"))


def test_a_name_that_is_taken_is_refused(home: Path) -> None:
    added(home)
    assert "visavis avatar remove ada" in one_line(run("add", "ada", saved(home, head())))


BAD = {
    "empty": b"",
    "text": b"not a picture\n",
    "truncated": encoded(".png", np.zeros((300, 300, 3), np.uint8))[:-30],
    "cut off": encoded(".jpg", np.zeros((300, 300, 3), np.uint8))[:200],
    "huge": huge_png(40_000, 40_000),
    "nobody": encoded(".webp", np.full((300, 300, 3), 90, np.uint8)),
    "grey": encoded(".png", np.full((300, 300), 30_000, np.uint16)),
}


@pytest.mark.parametrize("blob", BAD.values(), ids=BAD)
def test_a_picture_that_will_not_do_is_one_line(home: Path, blob: bytes) -> None:
    one_line(run("add", "ada", saved(home, blob)))
    assert not store().exists()


def test_a_picture_that_is_not_there_is_one_line(home: Path) -> None:
    assert "No such file" in one_line(run("add", "ada", home / "nothing.png"))


def test_what_is_no_file_is_refused_and_not_waited_for(home: Path) -> None:
    os.mkfifo(home / "pipe.png")
    assert "pipe.png is no file, but a pipe; give the path of a picture" in one_line(
        run("add", "ada", home / "pipe.png")
    )
    assert "is no file, but a device" in one_line(run("add", "ada", "/dev/zero"))
    assert "is no file, but a folder" in one_line(run("add", "ada", home))


def test_a_grey_portrait_will_do(home: Path) -> None:
    grey = np.asarray(cv2.cvtColor(head("marcus"), cv2.COLOR_RGB2GRAY), np.uint8)
    assert run("add", "ada", saved(home, encoded(".png", grey.astype(np.uint16) * 257))).exit_code == 0


def test_presenters_stay(home: Path) -> None:
    assert "ships with the project" in one_line(run("remove", "ruby"))
    assert find_avatar("ruby").name == "ruby"


@pytest.mark.parametrize("name", ["nobody", "../home", "."])
def test_only_what_is_there_can_be_removed_or_shown(home: Path, name: str) -> None:
    assert "you have none" in one_line(run("remove", name))
    assert "marcus, ruby" in one_line(run("show", name))
    added(home)
    assert "ada" in one_line(run("remove", name))


def test_a_damaged_avatar_is_listed_as_such_and_can_be_removed(home: Path) -> None:
    (added(home) / MANIFEST).write_text("{")
    assert "ada: damaged: avatar.json" in run("list").stdout
    (row,) = [row for row in json.loads(run("list", "--json").stdout)["avatars"] if row["name"] == "ada"]
    assert "damaged" in row["problem"]
    assert row["folder"] == str(store() / "ada")
    assert run("remove", "ada").exit_code == 0


def test_a_link_is_removed_and_its_target_stays(home: Path) -> None:
    target = added(home).rename(home / "elsewhere")
    (store() / "ada").symlink_to(target)
    assert run("remove", "ada").exit_code == 0
    assert (target / MANIFEST).is_file()


def test_a_folder_that_cannot_be_removed_is_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added(home)

    def held(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(avatars.shutil, "rmtree", held)
    assert "Permission denied; remove it by hand" in one_line(run("remove", "ada"))


def test_without_torch_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avatars, "find_spec", lambda _name: None)
    assert "pip install 'visavis[ditto]'" in one_line(run("add", "ada", saved(home, head())), code=1)


def test_the_server_s_modules_and_a_ditto_avatar_load_no_torch(home: Path) -> None:
    added(home)
    program = (
        "import asyncio, sys\n"
        "import visavis.web.app, visavis.web.avatars, visavis.web.cli, visavis.web.front\n"
        "from visavis.web.gallery import open_gallery\n"
        "names = asyncio.run(open_gallery('ditto')).names\n"
        "assert names == ('ada',), names\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
