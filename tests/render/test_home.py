from pathlib import Path

import pytest
from visavis.render.home import VARIABLE, home
from visavis.stream.errors import UsageError


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_variable_wins_on_every_platform(platform: str, tmp_path: Path) -> None:
    assert home({VARIABLE: str(tmp_path)}, platform) == tmp_path


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert home({VARIABLE: "store"}) == tmp_path / "store"


def test_an_empty_variable_is_none(tmp_path: Path) -> None:
    assert home({VARIABLE: "", "XDG_DATA_HOME": str(tmp_path)}, "linux") == tmp_path / "visavis"


def test_without_a_word_it_is_the_folder_of_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home({}, "linux") == tmp_path / ".local/share/visavis"
    assert home({}, "darwin") == tmp_path / "Library/Application Support/visavis"
    assert home({"LOCALAPPDATA": str(tmp_path)}, "win32") == tmp_path / "visavis"


def test_an_account_without_a_folder_is_told_to_set_the_variable() -> None:
    with pytest.raises(UsageError, match=f"set {VARIABLE}"):
        home({}, "win32")
