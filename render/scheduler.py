"""Which session's work comes next: the most urgent of what may begin now."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .live import EVERY, Kind, Live, Offer


@dataclass(frozen=True, slots=True)
class Choice:
    """Either `picked` work of the same kind (several draws make one batch), or the time to look again."""

    picked: tuple[tuple[Live, Offer], ...]
    wake_ns: int | None


def choose(lives: Iterable[Live], now_ns: int, *, max_batch: int, kinds: Collection[Kind] = EVERY) -> Choice:
    """Encodes before draws, since they are short and something is about to leave; then the earliest deadline.

    Draws of further sessions that are ready join the first, up to `max_batch`. Only work of these `kinds`.
    """
    encodes: list[tuple[Live, Offer]] = []
    draws: list[tuple[Live, Offer]] = []
    wake_ns: int | None = None
    for live in lives:
        for offer in live.offers(now_ns, kinds):
            if offer.ready_ns <= now_ns:
                (encodes if offer.kind == "encode" else draws).append((live, offer))
            elif wake_ns is None or offer.ready_ns < wake_ns:
                wake_ns = offer.ready_ns
    if encodes:
        return Choice((min(encodes, key=_urgency),), None)
    if draws:
        return Choice(tuple(sorted(draws, key=_urgency)[:max_batch]), None)
    return Choice((), wake_ns)


def _urgency(pair: tuple[Live, Offer]) -> int:
    return pair[1].due_ns
