from io import StringIO

import pytest
from visavis.stream.clock import NS_PER_MS
from visavis.web.meter import Meter, level_bar


def test_the_line_tells_what_plays_how_far_and_what_waits() -> None:
    meter = Meter(StringIO())
    meter.expect(12.34)
    meter.started("say-1", 0)
    meter.queued(3_000)
    assert meter.line(1_500 * NS_PER_MS).endswith("say-1 1.5 of 12.3 s  3 s wait")


def test_the_line_of_a_text_has_no_total_and_ends_with_the_segment() -> None:
    meter = Meter(StringIO())
    meter.started("say-1", 0)
    assert meter.line(500 * NS_PER_MS).endswith("say-1 0.5 s")
    meter.finished()
    assert "say-1" not in meter.line(600 * NS_PER_MS)


@pytest.mark.parametrize(
    ("level", "filled"), [(0.0, 0), (0.0001, 0), (0.001, 0), (0.0316, 12), (1.0, 24), (2.0, 24)]
)
def test_loudness_fills_a_bar_of_fixed_width(level: float, filled: int) -> None:
    bar = level_bar(level)
    assert len(bar) == 24
    assert bar.count("█") == filled


def test_outside_a_terminal_only_notes_are_printed() -> None:
    out = StringIO()
    with Meter(out) as meter:
        meter.note("watch at http://127.0.0.1:8080/?session=a")
        meter.level(0.5)
        meter.draw(0)
    assert out.getvalue() == "watch at http://127.0.0.1:8080/?session=a\n"
