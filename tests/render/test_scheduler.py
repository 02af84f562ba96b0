from collections.abc import Collection
from dataclasses import dataclass

from visavis.render.live import Kind, Offer
from visavis.render.scheduler import choose


@dataclass
class Stub:
    """Stands for a live session that offers fixed work."""

    name: str
    work: list[Offer]

    def offers(self, now_ns: int, kinds: Collection[Kind]) -> list[Offer]:
        return [offer for offer in self.work if offer.kind in kinds]


def names(lives: list[Stub], now_ns: int, *, max_batch: int = 1) -> list[str]:
    picked = choose(lives, now_ns, max_batch=max_batch).picked  # type: ignore[arg-type]
    return [f"{live.name} {offer.kind}" for live, offer in picked]


def test_the_earliest_deadline_that_is_ready_wins() -> None:
    lives = [
        Stub("late", [Offer("draw", 0, 30)]),
        Stub("soon", [Offer("draw", 0, 20)]),
        Stub("sooner, not ready", [Offer("draw", 11, 10)]),
    ]
    assert names(lives, 10) == ["soon draw"]


def test_an_encode_goes_before_an_older_draw_so_that_what_is_ready_leaves_on_time() -> None:
    lives = [Stub("a", [Offer("draw", 0, 10), Offer("encode", 0, 40)])]
    assert names(lives, 20) == ["a encode"]


def test_an_encode_goes_alone_however_many_draws_are_ready() -> None:
    lives = [Stub("a", [Offer("draw", 0, 50), Offer("encode", 0, 40)]), Stub("b", [Offer("draw", 0, 60)])]
    assert names(lives, 10, max_batch=8) == ["a encode"]


def test_draws_of_several_sessions_share_a_batch_up_to_its_size_most_urgent_first() -> None:
    lives = [Stub(name, [Offer("draw", 0, due)]) for name, due in (("a", 30), ("b", 10), ("c", 20))]
    assert names(lives, 10, max_batch=2) == ["b draw", "c draw"]


def test_with_nothing_ready_it_says_when_to_look_again() -> None:
    lives = [Stub("a", [Offer("draw", 300, 400)]), Stub("b", [Offer("encode", 200, 500)])]
    choice = choose(lives, 100, max_batch=1)  # type: ignore[arg-type]
    assert choice.picked == ()
    assert choice.wake_ns == 200


def test_without_sessions_there_is_nothing_to_wake_for() -> None:
    assert choose([], 0, max_batch=1).wake_ns is None
