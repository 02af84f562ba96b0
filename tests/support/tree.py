"""The repository's own files, and what its modules import."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "visavis"
PLANES = ("stream", "render", "web")
_TEXT = {".py", ".js", ".css", ".html", ".md", ".toml", ".json", ".svg", ".sh", ".yml", ".yaml", ".txt", ""}
_SKIPPED = {"__pycache__", "artifacts", "build", "dist", "htmlcov", "node_modules", "shared"}


def modules(*folders: str) -> list[Path]:
    """Every Python file below these folders of the repository."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert found, f"no Python files in {folders}"
    return [path for path in found if not _SKIPPED & set(path.parts)]


def texts() -> list[Path]:
    """Every text file that people write: no caches, no environments, no data."""
    return [path for path in _walk(ROOT) if path.suffix in _TEXT]


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name != ".ci"
            if not hidden and path.name not in _SKIPPED and path.suffix != ".egg-info":
                yield from _walk(path)
        elif not path.name.startswith(".coverage"):
            yield path


def name_of(path: Path) -> str:
    """`stream/clock.py` as it is imported: visavis.stream.clock."""
    parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imports(path: Path) -> set[str]:
    """Dotted names that the module imports anywhere in it, relative ones made absolute."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    return imported(syntax(path), package)


def imported(tree: ast.Module, package: str) -> set[str]:
    """The same for source that stands in `package`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                start = ".".join([*base, *([module] if module else [])])
                found |= {start} | {f"{start}.{alias.name}" for alias in aliases}
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
                found.add(name)
            case _:
                pass
    return found


def third_party(names: set[str]) -> set[str]:
    """Top-level names that are neither ours nor of the standard library."""
    tops = {name.partition(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {PACKAGE}


def reachable(paths: list[Path]) -> set[Path]:
    """`paths` and every module of ours that importing them runs."""
    by_name = {name_of(path): path for path in modules(*PLANES)}
    todo, seen = list(paths), set[Path]()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imports(path):
            parts = name.split(".")
            prefixes = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            todo += [by_name[prefix] for prefix in prefixes if prefix in by_name]
    return seen
