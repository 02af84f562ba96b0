"""Which session sits in which slot."""

from .errors import CapacityError


class Roster:
    """`slots` rows, given out lowest first."""

    def __init__(self, slots: int) -> None:
        if slots < 1:
            raise ValueError(f"a roster needs at least one slot, not {slots}")
        self._free = list(range(slots))
        self._slot_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._slot_of)

    def take(self, session: str) -> int:
        """A slot for `session`. Raises CapacityError when all are taken."""
        if session in self._slot_of:
            raise ValueError(f"session {session} has a slot already")
        if not self._free:
            raise CapacityError(f"all {len(self._slot_of)} slots are taken; end a session or try again later")
        slot = self._free.pop(0)
        self._slot_of[session] = slot
        return slot

    def release(self, session: str) -> int:
        """Give the slot of `session` back and say which it was."""
        slot = self._slot_of.pop(session)
        self._free.append(slot)
        self._free.sort()
        return slot
