"""The demo page in a real browser, from the first click to the last frame."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page
from support.artifacts import keep
from support.browser import Recording, chromium, record, shot
from support.server import ROOT, Server, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SPEECH = ROOT / "tests" / "assets" / "jfk.wav"
SENTENCE = (
    "Good evening. Here is the weather for tomorrow. It will be sunny in the east, with some rain near the "
    "mountains in the late afternoon. Please take a jacket if you plan to be out after dark. "
    "And now, back to the studio."
)
WATCH_MS = 10_000
FACE_SURE = 0.6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "log") as server:
        yield server


def start(page: Page, server: Server) -> None:
    """Open the page, choose the small picture, press Start and wait until ruby has greeted."""
    page.goto(server.url)
    page.locator("#size").select_option("512x512")
    page.locator("#start").click()
    page.wait_for_function(
        "() => visavis.state === 'live' && visavis.stats().framesDecoded > 25", timeout=30_000
    )
    quiet(page)


def quiet(page: Page) -> None:
    """Wait until nothing is said any more."""
    page.wait_for_timeout(1_500)
    page.wait_for_function("() => !visavis.speaking", timeout=30_000)
    page.wait_for_timeout(600)


def speaks(name: str, recorded: Recording, rest: Recording) -> None:
    """What must hold of a recording with speech in it, against one of silence."""
    assert rest.score.min() > FACE_SURE
    assert recorded.score.min() > FACE_SURE
    assert recorded.energy.max() > 0.05, "no sound was heard"
    correlation, lag_ms = recorded.correlation(reach_ms=60)
    figures = {
        "decoded fps": recorded.fps,
        "lips with sound": correlation,
        "lag ms": lag_ms,
        "lips' variance at rest to speech": rest.lips.var() / recorded.lips.var(),
    }
    keep(name, figures)
    assert correlation >= 0.5, (correlation, lag_ms)
    assert rest.lips.var() < recorded.lips.var() / 20


def test_typed_text_is_spoken_by_a_living_face_at_25_frames_a_second(server: Server) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start(page, server)
        rest = record(page, ms=3_000)
        shot(page, "page-rest")
        page.locator("#text").fill(SENTENCE)
        page.locator("#text").press("Enter")
        page.wait_for_function("() => visavis.speaking", timeout=10_000)
        before = page.evaluate("() => ({ at: performance.now(), ...visavis.stats() })")
        recorded = record(page, ms=WATCH_MS)
        shot(page, "page-speaking")
        after = page.evaluate("() => ({ at: performance.now(), ...visavis.stats() })")
    assert after["codec"] == "H264"
    assert 24.5 <= recorded.fps <= 25.5
    assert after["freezeCount"] == before["freezeCount"]
    speaks("page-text", recorded, rest)


def test_a_voice_in_the_microphone_moves_the_lips(server: Server) -> None:
    fake = (
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={SPEECH}",
    )
    with chromium(*fake) as browser:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, permissions=["microphone"])
        page = context.new_page()
        start(page, server)
        rest = record(page, ms=3_000)
        page.locator("#mic").click()
        page.wait_for_function("() => visavis.speaking", timeout=15_000)
        recorded = record(page, ms=WATCH_MS)
        shot(page, "page-microphone")
    speaks("page-microphone", recorded, rest)


def test_interrupt_on_the_page_quiets_the_face_at_once(server: Server) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        start(page, server)
        page.locator("#text").fill(SENTENCE)
        page.locator("#text").press("Enter")
        page.wait_for_function("() => visavis.speaking", timeout=10_000)
        page.wait_for_timeout(1_200)
        page.locator("#interrupt").click()
        page.wait_for_function("() => !visavis.speaking", timeout=2_000)
        page.wait_for_timeout(400)
        still = record(page, ms=1_500)
        shot(page, "page-phone")
    assert np.median(still.energy) < 0.01
    assert still.lips.std() < 0.01
