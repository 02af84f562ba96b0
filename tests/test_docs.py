"""The README says what is there: every file in its tree, every command, every option."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner
from visavis.web.cli import app
from visavis.web.config import option_names

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
SOURCES = [
    path.relative_to(ROOT)
    for plane in ("stream", "render", "web")
    for path in sorted((ROOT / plane).rglob("*.py"))
    if path.name != "__init__.py"
]
COMMANDS = (
    "serve",
    "say",
    "render",
    "doctor",
    "bench live",
    "bench motion",
    "weights fetch",
    "weights check",
    "avatar add",
    "avatar list",
)


def tree() -> str:
    """The file tree, from `stream/` to the end of its block."""
    start = README.index("\nstream/")
    return README[start : README.index("\n```", start)]


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_every_source_file_stands_in_the_readmes_tree(source: Path) -> None:
    plane = re.split(rf"\n(?={source.parts[0]}/)", tree())[1]
    plane = re.split(r"\n(?=\w)", plane)[0]
    assert re.search(rf"(?<![\w.]){re.escape(source.name)}(?!\w)", plane)


def test_the_tree_names_no_file_that_is_gone() -> None:
    named = set(re.findall(r"(?<![\w.])(\w+\.py)\b", tree()))
    there = {path.name for path in SOURCES} | {path.name for path in (ROOT / "scripts").iterdir()}
    assert named <= there


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


@pytest.mark.parametrize("command", ["serve", "say", "render", "weights", "avatar", "doctor"])
def test_the_readme_shows_every_command(command: str) -> None:
    assert f"visavis {command}" in README


def test_the_readme_names_every_option_under_its_table() -> None:
    for option in option_names():
        assert re.search(rf"\b{option}\b", README), option
