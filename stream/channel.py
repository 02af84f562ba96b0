"""A bounded hand-over that counts what it loses."""

from collections import deque
from typing import Generic, Literal, TypeVar

ItemT = TypeVar("ItemT")


class Channel(Generic[ItemT]):
    """First in, first out, at most `limit` items. When full, `loser` says who is dropped: the oldest or the
    newest.
    """

    def __init__(self, limit: int, *, loser: Literal["oldest", "newest"]) -> None:
        if limit < 1:
            raise ValueError(f"a channel needs room for at least one item, not {limit}")
        self._items: deque[ItemT] = deque()
        self._limit = limit
        self._loser = loser
        self.put_count = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: ItemT) -> bool:
        """Add `item`. False when something was dropped to keep the bound."""
        self.put_count += 1
        if len(self._items) < self._limit:
            self._items.append(item)
            return True
        self.dropped += 1
        if self._loser == "oldest":
            self._items.popleft()
            self._items.append(item)
        return False

    def get(self) -> ItemT | None:
        """The oldest item, or None when there is none."""
        return self._items.popleft() if self._items else None

    def clear(self) -> int:
        """Drop everything, counted; says how many."""
        lost = len(self._items)
        self.dropped += lost
        self._items.clear()
        return lost
