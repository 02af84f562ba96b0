"""The avatars that sessions may show."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..render.avatar import find_avatar, own_avatars, presenters
from ..stream.errors import AvatarError

_LOG = logging.getLogger(__name__)
_KINDS: Mapping[str, str] = {"auto": "rig", "rig": "rig", "ditto": "ditto"}
"""What our engines draw. Another's kind is known only when it runs, and it refuses what it cannot draw."""


@dataclass(frozen=True, slots=True)
class Card:
    """An avatar from outside; the first of `sizes`, (width, height), is its preferred one."""

    name: str
    title: str
    kind: str
    sizes: tuple[tuple[int, int], ...]
    preview: Path

    def size_of(self, text: str | None) -> tuple[int, int]:
        """The size that a client asks for as "720x1280". Raises AvatarError when it cannot be had."""
        if text is None:
            return self.sizes[0]
        for size in self.sizes:
            if text == size_text(size):
                return size
        known = ", ".join(map(size_text, self.sizes))
        raise AvatarError(f"{self.name} has no size {text[:20]!r}; choose one of {known}")


class Gallery:
    """Cards by name. `others` are avatars that this server's engine cannot draw."""

    def __init__(self, cards: Iterable[Card], others: Iterable[Card] = ()) -> None:
        self._cards = {card.name: card for card in cards}
        self._others = {card.name: card for card in others}

    def __iter__(self) -> Iterator[Card]:
        return iter(self._cards.values())

    def find(self, name: str) -> Card | None:
        return self._cards.get(name)

    def why_not(self, name: str) -> str:
        """Why there is no card `name`, and what to do about it."""
        if (other := self._others.get(name)) is not None:
            return (
                f"{name} is drawn by engine {other.kind}, which this server does not run; start one with: "
                f"visavis serve --avatar {name}"
            )
        if not self._cards:
            return "there is none that this server can draw; register a picture first: visavis avatar add"
        return f"choose one of {', '.join(self._cards)}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._cards)


def size_text(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


async def engine_for(engine: str, avatar: str) -> str:
    """What `auto` stands for where `avatar` is shown by default: the engine that draws it, else `rig`. Others
    stand for themselves."""
    if engine != "auto":
        return engine
    with contextlib.suppress(AvatarError):
        return (await asyncio.to_thread(find_avatar, avatar)).kind
    return "rig"


async def open_gallery(engine: str = "auto") -> Gallery:
    """What `engine` can draw of the presenters and the user's own avatars, read in a thread."""
    cards, kind = await asyncio.to_thread(lambda: list(_cards())), _KINDS.get(engine)
    drawn = [card for card in cards if kind in (None, card.kind)]
    return Gallery(drawn, [card for card in cards if card not in drawn])


def _cards() -> Iterator[Card]:
    """One of the user's that is damaged is left out, and logged."""
    shipped = presenters()
    for name in (*shipped, *(own for own in own_avatars() if own not in shipped)):
        try:
            avatar = find_avatar(name)
        except AvatarError as error:
            if name in shipped:
                raise
            _LOG.warning("avatar %s is left out: %s", name, error)
            continue
        yield Card(avatar.name, avatar.title, avatar.kind, avatar.sizes, avatar.preview)
