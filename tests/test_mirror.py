"""Each source file has its test file, and each test file its source."""

import ast
from pathlib import Path

import pytest
from support.tree import PLANES, ROOT, modules, relative, syntax

UNTESTED = {
    "render/engine.py": "declares the engine seam; every engine's tests go through it",
    "web/port.py": "declares the seams between the front's parts; the tests of both sides go through them",
}
"""Source files without a test file, and why."""


def test_file_of(source: Path) -> Path:
    """`render/rig/lips.py` is tested by `tests/render/rig/test_lips.py`."""
    inner = source.relative_to(ROOT)
    return ROOT / "tests" / inner.with_name(f"test_{inner.name}")


test_file_of.__test__ = False  # type: ignore[attr-defined]


def sources() -> list[Path]:
    return [path for path in modules(*PLANES) if path.name != "__init__.py"]


@pytest.mark.parametrize("plane", PLANES)
def test_each_source_file_has_its_test_file(plane: str) -> None:
    missing = [
        relative(path)
        for path in sources()
        if relative(path).startswith(f"{plane}/") and not test_file_of(path).is_file()
    ]
    assert [path for path in missing if path not in UNTESTED] == []


@pytest.mark.parametrize("name", UNTESTED)
def test_an_exception_is_still_needed(name: str) -> None:
    assert (ROOT / name).is_file()
    assert not test_file_of(ROOT / name).is_file()


@pytest.mark.parametrize("plane", PLANES)
def test_each_test_file_names_what_it_tests(plane: str) -> None:
    strays: list[str] = []
    for path in sorted((ROOT / "tests" / plane).rglob("test_*.py")):
        folder = ROOT / path.parent.relative_to(ROOT / "tests")
        subject = path.stem.removeprefix("test_")
        owners = [one.stem for one in folder.iterdir() if one.suffix == ".py" or one.is_dir()]
        if not any(subject == owner or subject.startswith(f"{owner}_") for owner in owners):
            strays.append(relative(path))
    assert strays == []


def test_packages_hold_a_docstring_and_nothing_else() -> None:
    for path in modules(*PLANES):
        if path.name == "__init__.py":
            body = syntax(path).body
            assert len(body) == 1, relative(path)
            assert isinstance(body[0], ast.Expr), relative(path)
            assert ast.get_docstring(syntax(path)), relative(path)
