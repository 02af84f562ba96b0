"""The demo page's files by themselves: complete, small, self-contained, and free of syntax errors."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import playwright
import pytest
import visavis.web
from visavis.render.avatar import find_avatar, presenters
from visavis.scripts.presenters import preview
from visavis.scripts.presenters.plates import CUTS, Cut
from visavis.web.gallery import size_text

NODE = Path(playwright.__file__).parent / "driver" / "node"
"""The one that the browser tests bring, so that these run everywhere."""
STATIC = Path(visavis.web.__file__).parent / "static"
MODULES = sorted(STATIC.glob("*.js"))
TEXTS = sorted(path for path in STATIC.iterdir() if path.suffix in {".html", ".css", ".js", ".svg"})

TOTAL_BYTES = 150_000
MODULE_BYTES = 20_000
MODULE_LINES = 400

IMPORT = re.compile(r'^import\b[^;"]*"([^"]+)";', re.MULTILINE)
ELSEWHERE = re.compile(r"(?:https?|wss?):?//[a-z0-9]|[\"'(=]//[a-z0-9]", re.IGNORECASE)
NAMESPACE = "http://www.w3.org/2000/svg"


class Page(HTMLParser):
    """Collects what the page refers to and what it defines."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.ids: list[str] = []
        self.icons: set[str] = set()
        self.labelled: set[str] = set()
        self.inline: list[str] = []
        self.feed((STATIC / "index.html").read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "use":
            self.icons.add(values["href"].removeprefix("#"))
        elif tag in {"link", "script", "img", "video"}:
            self.references += [values[name] for name in ("href", "src") if name in values]
        if "for" in values:
            self.labelled.add(values["for"])
        self.inline += [name for name in values if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page()


def test_every_file_that_the_page_names_exists(page: Page) -> None:
    assert page.references
    for reference in page.references:
        assert reference.startswith("/static/")
        assert (STATIC / reference.removeprefix("/static/")).is_file(), reference


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_every_imported_module_exists(module: Path) -> None:
    for name in IMPORT.findall(module.read_text()):
        assert name.startswith("./"), name
        assert (STATIC / name).is_file(), name


def test_every_module_is_reached_from_the_page() -> None:
    reached: set[str] = set()
    waiting = ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [each.removeprefix("./") for each in IMPORT.findall((STATIC / name).read_text())]
    assert reached == {module.name for module in MODULES}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    text = path.read_text().replace(NAMESPACE, "")
    assert ELSEWHERE.search(text) is None
    assert "@import" not in text


def test_the_page_has_no_inline_code_or_style(page: Page) -> None:
    assert page.inline == []


def test_ids_are_unique_and_labels_point_at_them(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert page.labelled <= set(page.ids)


def test_modules_ask_only_for_elements_that_exist(page: Page) -> None:
    asked = {name for module in MODULES for name in re.findall(r'byId\("([^"]+)"', module.read_text())}
    assert len(asked) > 20
    assert asked <= set(page.ids)


def test_icons_are_the_page_s_own(page: Page) -> None:
    drawn = {name for name in page.ids if name.startswith("i-")}
    named = {
        f"i-{name}"
        for module in MODULES
        for name in re.findall(r'icon\("(\w+)"\)', module.read_text(), flags=re.IGNORECASE)
    }
    assert page.icons | named <= drawn


def test_names_that_browser_tests_rely_on_are_there(page: Page) -> None:
    expected = {"stage", "say", "text", "start", "interrupt", "mic", "file", "figures", "status"}
    assert expected <= set(page.ids)
    assert '"visavis"' in (STATIC / "main.js").read_text()


def test_the_drawing_of_the_tab_is_well_formed() -> None:
    assert ET.parse(STATIC / "favicon.svg").getroot().tag == f"{{{NAMESPACE}}}svg"


def test_the_page_is_small() -> None:
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < TOTAL_BYTES
    for module in MODULES:
        assert module.stat().st_size < MODULE_BYTES, module.name
        assert len(module.read_text().splitlines()) < MODULE_LINES, module.name


def test_the_folder_is_flat_as_packaging_expects() -> None:
    assert all(path.is_file() for path in STATIC.iterdir())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_parse(module: Path, tmp_path: Path) -> None:
    copy = tmp_path / module.with_suffix(".mjs").name
    copy.write_bytes(module.read_bytes())
    done = subprocess.run(
        [str(NODE), "--check", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


STREAMING = """
import { stream } from "./audio_file.js";
import { Live } from "./live.js";
const said = [];
const stop = new AbortController();
const socket = {
  open: true,
  pendingBytes: 0,
  send: (type, fields = {}) => said.push([type, fields.id ?? null]) > 0,
  sendAudio: () => said.push(["sound", null]) > 0,
};
const onProgress = () => said.length === 3 && stop.abort();
await stream(socket, new Int16Array(24_000), { id: "file", signal: stop.signal, onProgress });
const api = { interrupt: async (session) => said.push(["over http", session]) };
await Live.prototype.interrupt.call({ api, socket, session: "s" });
console.log(JSON.stringify(said));
"""


def run(tmp_path: Path, module: str) -> Any:
    """What `module`, put beside the page's own, prints as JSON."""
    for each in MODULES:
        shutil.copy(each, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "try.js").write_text(module)
    done = subprocess.run(
        [str(NODE), "try.js"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_stopped_file_is_named_before_its_sound_and_ended_and_an_interrupt_goes_over_http(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, STREAMING) == [
        ["segment_start", "file"],
        ["sound", None],
        ["sound", None],
        ["segment_end", None],
        ["over http", "s"],
    ]


def labels(tmp_path: Path, *sizes: str) -> dict[str, str]:
    """Size by label, in the page's order."""
    choices = run(
        tmp_path,
        f"""import {{ choicesOf }} from "./sizes.js";
        console.log(JSON.stringify(choicesOf({json.dumps(sizes)})));""",
    )
    found = {choice["label"]: choice["size"] for choice in choices}
    assert len(found) == len(sizes)
    return found


def test_the_sizes_of_a_presenter_have_names_that_differ_side_by_side_with_their_like(tmp_path: Path) -> None:
    sizes = map(size_text, find_avatar("ruby").sizes)
    assert list(labels(tmp_path, *sizes).items()) == [
        ("Portrait", "720x1280"),
        ("Portrait HD", "1080x1920"),
        ("Square", "512x512"),
        ("Landscape", "1920x1080"),
    ]


def test_sizes_that_differ_in_nothing_else_are_named_by_their_pixels(tmp_path: Path) -> None:
    found = labels(tmp_path, "1080x1920", "540x960", "720x1280", "630x620")
    assert list(found) == ["Portrait 540 \u00d7 960", "Portrait 720 \u00d7 1280", "Portrait HD", "Square"]
    assert labels(tmp_path) == {}


def place(tmp_path: Path, kind: str, size: str) -> dict[str, float]:
    return run(
        tmp_path,
        f'''import {{ headPlace }} from "./framing.js";
        console.log(JSON.stringify(headPlace("{kind}", "{size}")));''',
    )


def shown() -> list[float]:
    """What the head shot shows of the picture that all sizes are cut from: left, top, right, bottom."""
    full = next(cut for cut in CUTS if (cut.width, cut.height) == preview.SIZE)
    return [full.box[k % 2] + edge / full.scale[k % 2] for k, edge in enumerate(preview.CUT)]


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.plate)
def test_the_head_shot_of_a_presenter_lies_where_the_live_head_will_be(cut: Cut, tmp_path: Path) -> None:
    found = place(tmp_path, "rig", f"{cut.width}x{cut.height}")
    left, top, right, bottom = shown()
    assert found == pytest.approx(
        {
            "left": (left - cut.box[0]) * cut.scale[0] / cut.width,
            "top": (top - cut.box[1]) * cut.scale[1] / cut.height,
            "width": (right - left) * cut.scale[0] / cut.width,
            "height": (bottom - top) * cut.scale[1] / cut.height,
        }
    )


def test_the_page_knows_every_size_of_the_presenters() -> None:
    made = {(cut.width, cut.height) for cut in CUTS}
    for name in presenters():
        assert set(find_avatar(name).sizes) <= made


@pytest.mark.parametrize("size", ["630x620", "500x900", "1280x720", "720x1280"])
def test_another_head_shot_is_as_large_as_fits_and_stays_square(size: str, tmp_path: Path) -> None:
    width, height = map(int, size.split("x"))
    found = place(tmp_path, "ditto", size)
    assert found["width"] * width == pytest.approx(found["height"] * height)
    assert max(found["width"], found["height"]) == pytest.approx(1)
    assert found["left"] == pytest.approx((1 - found["width"]) / 2)
    assert 0 <= found["top"] <= 1 - found["height"]


def test_the_page_takes_no_segment_of_another_client_for_its_own() -> None:
    assert "segment-" not in (STATIC / "speech.js").read_text()
