"""Which session's work comes next: the most urgent of what may begin now."""

from collections.abc import Iterable
from dataclasses import dataclass

from .live import Live, Offer


@dataclass(frozen=True, slots=True)
class Choice:
    """Either `picked` work of the same kind (several draws make one batch), or the time to look again."""

    picked: tuple[tuple[Live, Offer], ...]
    wake_ns: int | None


def choose(lives: Iterable[Live], now_ns: int, *, max_batch: int) -> Choice:
    """Earliest deadline first. Draws of further sessions that are ready join the first, up to `max_batch`."""
    ready: list[tuple[Live, Offer]] = []
    wake_ns: int | None = None
    for live in lives:
        for offer in live.offers(now_ns):
            if offer.ready_ns <= now_ns:
                ready.append((live, offer))
            elif wake_ns is None or offer.ready_ns < wake_ns:
                wake_ns = offer.ready_ns
    if not ready:
        return Choice((), wake_ns)
    ready.sort(key=lambda pair: pair[1].due_ns)
    first = ready[0]
    if first[1].kind == "encode":
        return Choice((first,), None)
    batch = [pair for pair in ready if pair[1].kind == "draw"]
    return Choice(tuple(batch[:max_batch]), None)
