"""The seams between a session and what surrounds it."""

from typing import Protocol

from ..stream.link import Ready, Tick, ToWorker
from .wire import Event


class WorkerPort(Protocol):
    """A worker, as its sessions see it. What is sent while it is away is lost."""

    @property
    def ready(self) -> Ready | None:
        """What it said of itself, and None while it is away."""
        ...

    def send(self, message: ToWorker) -> None: ...

    async def drain(self) -> None:
        """Return when the worker has taken in most of what was sent."""
        ...


class Viewer(Protocol):
    """Where ticks go. `waiting` asks for a keyframe; `bitrate_bps` is what its way can carry, if known."""

    @property
    def waiting(self) -> bool: ...

    @property
    def bitrate_bps(self) -> int | None: ...

    def put(self, tick: Tick) -> None:
        """Never waits. A full viewer drops up to the next keyframe and counts."""
        ...

    def restart(self) -> None:
        """What follows comes from another encoder: go on at its first keyframe."""
        ...


class Listener(Protocol):
    """Who hears of a session's events."""

    def tell(self, event: Event) -> None:
        """Never waits."""
        ...
