from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from visavis.render.ditto.core.composite import SPARE_BYTES
from visavis.render.ditto.core.surfaces import (
    ALLOWED,
    DEPTH,
    Mark,
    State,
    SurfaceRing,
    aligned_bytes,
    first_byte,
    memory_bytes,
    picture_bytes,
    send,
)
from visavis.render.ditto.core.transfers import PlainTransfers
from visavis.stream.errors import CapacityError, IllegalTransition

SIZE = (12, 10)
ROWS = (4, 8)
LARGEST = (20, 16)


class Place:
    def __init__(self, transfers: "Stepwise", name: int) -> None:
        self.transfers, self.name, self.after = transfers, name, 0

    def wait(self) -> None:
        done = self.transfers.under_way
        for index in range(self.after):
            source, out = done[index]
            out.copy_(source.clone())
            done[index] = (out, out)


class Stepwise(PlainTransfers):
    """Copies only when somebody waits for them, and then all up to there; tells what it was asked."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.under_way: list[tuple[Tensor, Tensor]] = []
        self.marks: list[Place] = []

    def mark(self) -> Mark:
        self.marks.append(Place(self, len(self.marks)))
        return self.marks[-1]

    @contextmanager
    def beside(self) -> Iterator[None]:
        self.log.append("beside")
        yield

    def copy(self, source: Tensor, out: Tensor) -> None:
        self.under_way.append((source, out))
        self.log.append(f"copy {source.numel()}")

    def set(self, mark: Mark) -> None:
        assert isinstance(mark, Place)
        mark.after = len(self.under_way)
        self.log.append(f"set {mark.name}")

    def keep(self, mark: Mark) -> None:
        """As a device does: what is drawn later finds the copies before `mark` done."""
        assert isinstance(mark, Place)
        self.log.append(f"keep {mark.name}")
        mark.wait()


def a_ring(transfers: PlainTransfers, slot: int = 0, memory: Tensor | None = None) -> SurfaceRing:
    if memory is None:
        memory = torch.zeros(memory_bytes(3, LARGEST), dtype=torch.uint8)
    return SurfaceRing(memory, first_byte(slot, LARGEST), SIZE, ROWS, transfers)


def draw(memory: Tensor, ring: SurfaceRing, surface: object, level: int) -> None:
    """A picture of one level, where all may change."""
    picture = ring.begin(surface)  # type: ignore[arg-type]
    luma = memory[picture.offset : picture.offset + picture.chroma].view(SIZE[1], SIZE[0])
    chroma = memory[picture.offset + picture.chroma : picture.offset + picture_bytes(SIZE)]
    luma[ROWS[0] : ROWS[1]] = level
    chroma.view(-1, SIZE[0])[ROWS[0] // 2 : ROWS[1] // 2] = level + 1


@pytest.fixture
def memory() -> Tensor:
    return torch.zeros(memory_bytes(3, LARGEST), dtype=torch.uint8)


def test_all_pictures_of_all_slots_lie_apart_and_none_at_the_beginning() -> None:
    spans = [
        (picture.offset, picture.offset + picture_bytes(SIZE))
        for slot in range(3)
        for picture in a_ring(PlainTransfers(), slot).pictures
    ]
    assert len(spans) == 3 * DEPTH
    assert spans == sorted(spans)
    assert spans[0][0] >= SPARE_BYTES
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert spans[-1][1] <= memory_bytes(3, LARGEST)
    assert all(start % 16 == 0 for start, _ in spans)
    assert aligned_bytes(LARGEST) >= picture_bytes(LARGEST) == 480


def test_at_first_every_surface_shows_what_was_drawn_first(memory: Tensor) -> None:
    ring = a_ring(PlainTransfers(), memory=memory)
    first = ring.pictures[0]
    memory[first.offset : first.offset + 180] = torch.arange(180, dtype=torch.uint8)
    surfaces = ring.fill(3)
    assert ring.host_bytes == 3 * 180
    for surface in surfaces:
        assert (surface.layout, surface.width, surface.height) == ("nv12", *SIZE)
        assert (surface.buffer.ravel() == range(180)).all()
    for picture in ring.pictures:
        assert torch.equal(
            memory[picture.offset : picture.offset + 180], torch.arange(180, dtype=torch.uint8)
        )


def test_a_picture_goes_to_its_surface_and_only_in_the_rows_that_change(memory: Tensor) -> None:
    ring = a_ring(PlainTransfers(), memory=memory)
    first, second, third = ring.fill(3)
    memory[SPARE_BYTES:] = 99
    for level, surface in ((10, second), (20, first), (30, second)):
        draw(memory, ring, surface, level)
        ring.send()
    for surface, level in ((first, 20), (second, 30)):
        assert (surface.y[4:8] == level).all()
        assert (surface.u[2:4] == level + 1).all()
        assert not surface.y[:4].any()
        assert not surface.y[8:].any()
        assert not surface.v[:2].any()
        assert not surface.v[4:].any()
    assert not third.buffer.any()


def test_nothing_waits_until_a_surface_is_read(memory: Tensor) -> None:
    transfers = Stepwise()
    ring = a_ring(transfers, memory=memory)
    surfaces = ring.fill(2)
    draw(memory, ring, surfaces[0], 10)
    send([ring], transfers)
    assert not surfaces[0].y.any()
    surfaces[0].wait()
    assert (surfaces[0].y[4:8] == 10).all()


def test_a_picture_is_drawn_again_only_after_it_has_left(memory: Tensor) -> None:
    transfers = Stepwise()
    ring = a_ring(transfers, memory=memory)
    surfaces = ring.fill(DEPTH + 1)
    for surface in surfaces:
        surface.wait()
    for index, surface in enumerate(surfaces):
        draw(memory, ring, surface, 10 * index + 10)
        send([ring], transfers)
    # The last took the place of the first, which had left before.
    assert (surfaces[0].y[4:8] == 10).all()
    assert not surfaces[1].y.any()
    for index, surface in enumerate(surfaces):
        surface.wait()
        assert (surface.y[4:8] == 10 * index + 10).all()


def test_what_is_drawn_first_spoils_no_surface_that_has_not_got_its_plate_yet(memory: Tensor) -> None:
    transfers = Stepwise()
    ring = a_ring(transfers, memory=memory)
    first, second = ring.fill(2)
    draw(memory, ring, first, 10)
    send([ring], transfers)
    second.wait()
    assert not second.buffer.any()


def test_a_surface_drawn_twice_shows_the_later_picture(memory: Tensor) -> None:
    transfers = Stepwise()
    ring = a_ring(transfers, memory=memory)
    (surface,) = ring.fill(1)
    for level in (10, 20):
        draw(memory, ring, surface, level)
        send([ring], transfers)
    surface.wait()
    assert (surface.y[4:8] == 20).all()


def test_copies_of_a_batch_follow_what_is_drawn_once(memory: Tensor) -> None:
    transfers = Stepwise()
    rings = [a_ring(transfers, slot, memory) for slot in (0, 2)]
    surfaces = [ring.fill(1)[0] for ring in rings]
    transfers.log.clear()
    for ring, surface in zip(rings, surfaces, strict=True):
        draw(memory, ring, surface, 50)
    send(rings, transfers)
    kinds = [entry.split()[0] for entry in transfers.log]
    assert kinds == ["keep", "keep", "beside", *["copy", "copy", "set"] * 2]


def test_states_change_only_as_the_table_allows(memory: Tensor) -> None:
    assert {after for states in ALLOWED.values() for after in states} == set(State)
    ring = a_ring(PlainTransfers(), memory=memory)
    (surface,) = ring.fill(1)
    with pytest.raises(IllegalTransition, match="free cannot become leaving"):
        ring.send()
    ring.begin(surface)
    with pytest.raises(IllegalTransition, match="drawn cannot become drawn"):
        ring.begin(surface)


def test_a_picture_that_could_not_be_drawn_is_drawn_again_in_its_place(memory: Tensor) -> None:
    ring = a_ring(PlainTransfers(), memory=memory)
    (surface,) = ring.fill(1)
    failed = ring.begin(surface)
    ring.abandon()
    ring.abandon()
    assert ring.begin(surface) == failed
    ring.send()
    assert ring.begin(surface) != failed


def test_a_surface_of_another_slot_is_refused(memory: Tensor) -> None:
    mine, other = (a_ring(PlainTransfers(), slot, memory) for slot in (0, 1))
    mine.fill(1)
    (surface,) = other.fill(1)
    with pytest.raises(IllegalTransition, match="another slot"):
        mine.begin(surface)


def test_a_host_without_memory_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(count: int) -> Tensor:
        raise RuntimeError("CUDA error: out of memory")

    transfers = PlainTransfers()
    monkeypatch.setattr(transfers, "host", none)
    with pytest.raises(CapacityError, match="3 pictures of 12x10"):
        a_ring(transfers).fill(3)
