"""Imports go web -> render -> stream and never back, and each plane keeps to its own libraries."""

import ast
from pathlib import Path

import pytest
from support.tree import PLANES, ROOT, imported, imports, modules, reachable, relative, syntax, third_party

PURE = {"numpy", "msgspec", "soxr"}
"""All that the stream plane may use beside the standard library."""
IMPURE = {
    *("asyncio", "concurrent", "multiprocessing", "queue", "select", "selectors", "signal", "socket"),
    *("socketserver", "ssl", "subprocess", "threading", "_thread", "http", "urllib"),
    *("time", "datetime"),
}
BANNED = {
    "stream": IMPURE | {"torch"},
    "render": {"asyncio", "aiohttp", "aiortc", "aioice"},
    "web": {"torch"},
}
EACH_PLANE = pytest.mark.parametrize("plane", PLANES)


def tops(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def planes_in(names: set[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("visavis.")} & set(PLANES)


@EACH_PLANE
def test_a_plane_imports_only_itself_and_the_planes_below_it(plane: str) -> None:
    above = set(PLANES[PLANES.index(plane) + 1 :])
    breaks = {relative(path): planes_in(imports(path)) & above for path in modules(plane)}
    assert {path: found for path, found in breaks.items() if found} == {}


@EACH_PLANE
def test_a_plane_stays_away_from_the_libraries_of_the_others(plane: str) -> None:
    breaks = {relative(path): tops(imports(path)) & BANNED[plane] for path in modules(plane)}
    assert {path: found for path, found in breaks.items() if found} == {}


def test_nothing_that_the_front_imports_brings_torch_along() -> None:
    breaks = [relative(path) for path in reachable(modules("web")) if "torch" in tops(imports(path))]
    assert breaks == []


def test_the_stream_plane_needs_only_three_libraries() -> None:
    breaks = {relative(path): third_party(imports(path)) - PURE for path in modules("stream")}
    assert {path: found for path, found in breaks.items() if found} == {}


@EACH_PLANE
def test_modules_of_ours_import_each_other_relatively(plane: str) -> None:
    absolute = [
        f"{relative(path)}:{node.lineno}"
        for path in modules(plane)
        for node in ast.walk(syntax(path))
        if (isinstance(node, ast.ImportFrom) and not node.level and tops({node.module or ""}) == {"visavis"})
        or (isinstance(node, ast.Import) and "visavis" in tops({alias.name for alias in node.names}))
    ]
    assert absolute == []


def private_names(tree: ast.Module) -> set[str]:
    """Underscore names that the module uses but does not define itself: other people's."""
    used: set[str] = set()
    ours: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                ours.add(name)
            case ast.Attribute(attr=name):
                used.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                ours.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.AnnAssign(target=ast.Name(id=name)):
                ours.add(name)
            case ast.ImportFrom(module=module, names=aliases):
                used |= {alias.name for alias in aliases} | set((module or "").split("."))
            case ast.Import(names=aliases):
                used |= {part for alias in aliases for part in alias.name.split(".")}
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr"),
                args=[_, ast.Constant(value=str(name)), *_],
            ):
                used.add(name)
            case _:
                pass
    return {name for name in used - ours if name.startswith("_") and not name.endswith("__")}


def test_only_the_sender_touches_private_names_of_libraries() -> None:
    found = {relative(path): private_names(syntax(path)) for path in modules("web")}
    assert {path for path, names in found.items() if names} == {"web/sender.py"}


@pytest.mark.parametrize(
    "source",
    [
        "from aiortc.rtcrtpsender import _Hidden",
        "import aiortc._codecs",
        "sender._next_rtp_packet = None",
        "peer.sctp._streams.clear()",
        "class Track(MediaStreamTrack):\n    def stop(self):\n        return self._MediaStreamTrack__ended",
        'getattr(sender, "_encoder")',
    ],
)
def test_the_rule_on_private_names_sees_each_way_to_break_it(source: str) -> None:
    assert private_names(ast.parse(source))


OWN_NAMES = """
_LIMIT = 1

class Box:
    def __init__(self):
        self._items = [_LIMIT]

    def _joined(self, other):
        return self._items + other._items + other._joined(self)
"""


def test_the_rule_on_private_names_lets_a_module_have_its_own() -> None:
    assert private_names(ast.parse(OWN_NAMES)) == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from ..render import live", {"visavis.render", "visavis.render.live"}),
        ("from .. import web", {"visavis", "visavis.web"}),
        ("from .clock import Rate", {"visavis.stream.clock", "visavis.stream.clock.Rate"}),
        ("def f():\n    import torch.nn", {"torch.nn"}),
        ('importlib.import_module("torch")', {"torch"}),
    ],
)
def test_the_walk_sees_relative_late_and_spelt_out_imports(source: str, expected: set[str]) -> None:
    assert imported(ast.parse(source), "visavis.stream") == expected


def test_the_walk_follows_our_own_modules() -> None:
    names = {relative(path) for path in reachable([ROOT / "stream" / "session.py"])}
    assert {"stream/__init__.py", "stream/clock.py", "stream/playout.py"} <= names
    assert not any(Path(name).parts[0] != "stream" for name in names)
