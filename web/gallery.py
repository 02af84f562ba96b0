"""The avatars that sessions may show."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..render.avatar import find_avatar, presenters
from ..stream.errors import AvatarError


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
    """Cards by name."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self._cards = {card.name: card for card in cards}

    def __iter__(self) -> Iterator[Card]:
        return iter(self._cards.values())

    def find(self, name: str) -> Card | None:
        return self._cards.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._cards)


def size_text(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


async def open_gallery() -> Gallery:
    """The presenters that ship with the project, read in a thread."""
    return Gallery(await asyncio.to_thread(lambda: [_card(name) for name in presenters()]))


def _card(name: str) -> Card:
    avatar = find_avatar(name)
    return Card(avatar.name, avatar.title, avatar.kind, avatar.sizes, avatar.preview)
