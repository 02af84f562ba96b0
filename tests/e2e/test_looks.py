"""How the demo page is laid out, from phones to large screens: nothing overflows, nothing hides a face, and
the still is where the live picture will be."""

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from support.artifacts import keep
from support.browser import chromium, shot
from support.landmarks import landmarks
from support.server import Server, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SCREENS = ((320, 568), (390, 844), (768, 1024), (844, 390), (1280, 800), (1920, 1080))
SIZES = ("720x1280", "512x512", "1920x1080")
CHIN = 152
LEFT, RIGHT = 234, 454
"""Landmarks at the ears: their distance is the face's width."""
FACE_SURE = 0.6
MOST_MOVED, MOST_GROWN = 0.2, 0.1
"""Of the face's width: a living head sways."""
LAYOUT = """
() => {
  const outside = [];
  if (document.documentElement.scrollWidth > innerWidth) outside.push("the page");
  for (const element of document.querySelectorAll(".card *, .cover *, .dock *, .bar *")) {
    const box = element.getBoundingClientRect();
    if (box.width < 3 || element.closest(".sr, svg") || element.matches("input[type=radio]")) continue;
    const around = element.closest(".card, .frame, .bar").getBoundingClientRect();
    const inside = box.left >= around.left - 1 && box.right <= around.right + 1;
    if (!inside) outside.push(element.outerHTML.slice(0, 80));
  }
  const list = document.querySelector("#people").getBoundingClientRect();
  const whole = ({ left, top, right, bottom }) =>
    left >= list.left && right <= list.right && top >= list.top && bottom <= list.bottom;
  const people = [...document.querySelectorAll(".person")];
  const seen = people.filter((each) => whole(each.getBoundingClientRect()));
  const names = seen.map((each) => each.querySelector("b"));
  const start = document.querySelector("#cover-title").getBoundingClientRect().top;
  return { outside, names: names.map((each) => each.textContent), start };
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "log") as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def opened(browser: Browser, server: Server, screen: tuple[int, int]) -> Page:
    page = browser.new_page(viewport={"width": screen[0], "height": screen[1]})
    page.goto(server.url)
    ready(page)
    return page


def ready(page: Page) -> None:
    page.wait_for_function("() => visavis.state === 'idle' && document.querySelector('#poster').complete")
    page.wait_for_timeout(500)


def face(page: Page) -> np.ndarray:
    """Landmarks (468, 2) of the picture as it is seen, in pixels of the page."""
    box = page.locator(".screen").bounding_box()
    assert box is not None
    picture = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR_RGB)
    left, top, width, height = (round(box[key]) for key in ("x", "y", "width", "height"))
    score, points = landmarks(picture[top : top + height, left : left + width])
    assert score > FACE_SURE
    return points + np.array([left, top])


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_all_fits_and_nothing_hides_the_face_before_the_start(
    browser: Browser, server: Server, screen: tuple[int, int]
) -> None:
    page = opened(browser, server, screen)
    for size in SIZES:
        page.locator("#size").select_option(size)
        page.wait_for_timeout(300)
        layout = page.evaluate(LAYOUT)
        assert layout["outside"] == []
        assert sorted(layout["names"]) == ["Marcus", "Ruby"]
        assert face(page)[CHIN, 1] < layout["start"]
    page.close()


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_many_presenters_of_odd_sizes_fit_too(
    browser: Browser, server: Server, screen: tuple[int, int]
) -> None:
    page = browser.new_page(viewport={"width": screen[0], "height": screen[1]})
    odd = (("Ada", "630x620"), ("Wolfgang-Amadeus-the-second", "500x900"), ("Eve", "1280x720"))
    avatars = [_avatar(title, size) for title, size in odd]
    page.route("**/v1/avatars", lambda route: route.fulfill(json={"avatars": avatars}))
    page.goto(server.url)
    ready(page)
    for title, _ in odd:
        page.locator(".person", has_text=title).click()
        page.wait_for_timeout(300)
        assert page.evaluate(LAYOUT)["outside"] == []
        assert not page.locator("#size").is_visible()
    page.close()


def _avatar(title: str, size: str) -> dict[str, Any]:
    preview = "/v1/avatars/ruby/preview"
    return {"name": title.lower(), "title": title, "kind": "ditto", "sizes": [size], "preview": preview}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("screen", [(390, 844), (1280, 800)], ids=str)
def test_the_head_stays_where_it_is_when_the_picture_goes_live(
    browser: Browser, server: Server, screen: tuple[int, int], size: str
) -> None:
    page = opened(browser, server, screen)
    page.locator("#size").select_option(size)
    page.wait_for_timeout(300)
    still = face(page)
    page.locator("#start").click()
    page.wait_for_function("() => visavis.state === 'live'", timeout=60_000)
    page.wait_for_timeout(500)
    assert page.evaluate(LAYOUT)["outside"] == []
    live = face(page)
    page.locator("#end").click()
    ready(page)
    shot(page, f"page-{screen[0]}-{size}")
    again = face(page)
    page.close()
    moves = {"live": _moved(still, live), "ended": _moved(still, again)}
    keep(f"page-still-{screen[0]}-{size}", {name: list(move) for name, move in moves.items()})
    for shift, growth in moves.values():
        assert shift < MOST_MOVED
        assert abs(growth) < MOST_GROWN


def _moved(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """How far the middle of a face is from where it was, and how much wider it is, in widths of it."""
    width = float(np.linalg.norm(one[LEFT] - one[RIGHT]))
    wider = float(np.linalg.norm(other[LEFT] - other[RIGHT]))
    return float(np.linalg.norm(other.mean(0) - one.mean(0))) / width, wider / width - 1
