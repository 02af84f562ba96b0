import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.motion import normal, options, same_conditions, stand_in
from torch import Tensor
from visavis.render.ditto.drivers import (
    Cadence,
    LiveDriver,
    ReferenceDriver,
    joined,
    reference_clip,
    smoothed,
)
from visavis.render.ditto.seams import LENGTH
from visavis.render.ditto.windows import WindowShape

FEATURES = 300
few = settings(deadline=None, max_examples=25)


def features(rows: int) -> Tensor:
    return normal(30, 1, rows, FEATURES)


def before(shape: WindowShape) -> Tensor:
    return normal(31, 1, shape.overlap, FEATURES)


def live(shape: WindowShape) -> LiveDriver:
    return LiveDriver(shape, stand_in, same_conditions, options(1), before=before(shape))


def reference(shape: WindowShape) -> ReferenceDriver:
    return ReferenceDriver(shape, stand_in, same_conditions, options(1), before=before(shape))


@st.composite
def hops(draw: st.DrawFn) -> WindowShape:
    hop = draw(st.integers(1, 40))
    return WindowShape(hop, draw(st.integers(0, hop)))


def whole(shape: WindowShape, heard: Tensor) -> Tensor:
    """The frames of `heard` features, made at once."""
    rows, count = heard.shape[1], Cadence(shape).total(heard.shape[1])
    missing = count * shape.hop - rows
    filled = torch.cat((before(shape), heard, heard[:, -1:].expand(-1, max(0, missing), -1)), dim=1)
    conditions = same_conditions(filled, -shape.overlap)
    made, _ = joined(shape, stand_in, conditions, options(1), count=count)
    return options(1).bounded(made[:, shape.overlap : shape.overlap + rows])


@given(hops(), st.lists(st.integers(0, 50), max_size=8))
@few
def test_each_row_makes_one_frame_however_rows_are_split(shape: WindowShape, blocks: list[int]) -> None:
    rows = sum(blocks)
    heard, driver, out = features(rows), live(shape), list[Tensor]()
    begin = 0
    for size in blocks:
        out.append(driver.put(heard[:, begin : begin + size]))
        begin += size
    out.append(driver.close())
    got = torch.cat(out, dim=1)
    assert got.shape == (1, rows, 265)
    if rows:
        torch.testing.assert_close(got, whole(shape, heard), atol=1e-5, rtol=0)


@pytest.mark.parametrize("hop", range(1, 41))
@pytest.mark.parametrize("rows", [1, 83])
def test_every_hop_gives_all_frames_and_the_first_one_is_the_first(hop: int, rows: int) -> None:
    shape = WindowShape(hop, hop)
    driver = live(shape)
    got = torch.cat((driver.put(features(rows)), driver.close()), dim=1)
    torch.testing.assert_close(got, whole(shape, features(rows)), atol=1e-5, rtol=0)


@given(hops(), st.integers(1, 150))
@few
def test_frames_leave_after_the_stated_delay(shape: WindowShape, rows: int) -> None:
    """The first frame of a hop leaves as soon as `delay` rows from its own on are there, and no later."""
    driver, out = live(shape), 0
    for count in range(1, rows + 1):
        out += driver.put(features(rows)[:, count - 1 : count]).shape[1]
        assert out == max(0, count // shape.hop * shape.hop - shape.fuse)
        assert count - out < shape.delay


@given(hops(), st.integers(0, 500))
def test_a_cadence_ends_when_all_frames_have_left(shape: WindowShape, rows: int) -> None:
    cadence = Cadence(shape)
    total = cadence.total(rows)
    assert cadence.ready(rows) <= total
    left = [frame for window in range(total) for frame in cadence.leaving(window) if frame >= 0]
    assert left[:rows] == list(range(rows))
    assert total == 0 or cadence.leaving(total - 1).start < rows
    for window in range(total):
        heard = cadence.heard(window)
        assert len(heard) == LENGTH
        assert cadence.ready(heard.stop) == window + 1
        assert cadence.leaving(window).stop == heard.stop - shape.fuse


def test_silence_alone_makes_no_frame() -> None:
    driver = live(WindowShape(2, 2))
    assert driver.put(features(0)).shape[1] == 0
    assert driver.close().shape[1] == 0


@pytest.mark.parametrize(
    ("overlap", "rows", "frames"),
    [(70, 5, 0), (70, 10, 20), (70, 125, 130), (68, 100, 108), (75, 65, 70), (30, 215, 195), (40, 100, 100)],
)
def test_the_reference_has_frames_too_many_or_too_few(overlap: int, rows: int, frames: int) -> None:
    hop = LENGTH - overlap
    driver, out = reference(WindowShape(hop, min(hop, overlap))), 0
    for begin in range(0, rows, 5):
        out += driver.put(features(rows)[:, begin : begin + 5]).shape[1]
    assert out + driver.close().shape[1] == frames


@given(st.integers(1, 40), st.integers(1, 150))
@few
def test_live_frames_are_those_of_the_reference_while_it_has_heard_as_much(hop: int, rows: int) -> None:
    shape = WindowShape(hop, hop)
    mine, theirs = live(shape), reference(shape)
    expected = theirs.put(features(rows))
    assert torch.equal(mine.put(features(rows))[:, : expected.shape[1]], expected)
    assert expected.shape[1] == max(0, rows // hop - 1) * hop


def test_the_reference_waits_for_a_hop_before_it_takes_anything() -> None:
    """A block that is not yet a hop waits, and then all goes at once."""
    driver = reference(WindowShape(10, 10))
    sizes = [driver.put(features(7)).shape[1] for _ in range(6)]
    assert sizes == [0, 0, 0, 10, 0, 20]


@pytest.mark.parametrize("rows", [1, 33, 70, 71, 190])
def test_a_clip_is_smoothed_once_more(rows: int) -> None:
    shape, heard = WindowShape(70, 10), same_conditions(features(rows), 0)
    made, _ = joined(shape, stand_in, heard, options(1), count=-(-rows // 70))
    got = reference_clip(shape, stand_in, heard, options(1))
    torch.testing.assert_close(got, options(1).bounded(smoothed(made[:, :rows], 3)))
    assert not torch.equal(got[..., :202], options(1).bounded(made[:, :rows])[..., :202]) or rows == 1
    assert torch.equal(got[..., 202:], options(1).bounded(made[:, :rows])[..., 202:])


def test_clips_of_several_slots_are_made_together() -> None:
    shape, heard = WindowShape(30, 20), same_conditions(normal(32, 3, 140, FEATURES), 0)
    together = reference_clip(shape, stand_in, heard, options(3))
    alone = reference_clip(shape, stand_in, heard[:1], options(1))
    assert together.shape == (3, 140, 265)
    torch.testing.assert_close(together[:1], alone)


def test_the_reference_ends_at_once_when_no_row_is_left() -> None:
    driver = reference(WindowShape(LENGTH, 0))
    assert driver.put(features(2 * LENGTH)).shape[1] == LENGTH
    assert driver.close().shape[1] == 0
