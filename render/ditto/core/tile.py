"""How much of its work a program of a kernel owns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """At most so many `cells` of a picture and `channels` of each, by so many `warps` of threads."""

    cells: int
    channels: int = 0
    warps: int = 4
