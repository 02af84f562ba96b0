"""How much of its work a program of a kernel owns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """At most so many `cells` of a picture and `channels` of each, by so many `warps` of threads."""

    cells: int
    channels: int = 0
    warps: int = 4


@dataclass(frozen=True, slots=True)
class ConvTile:
    """Of a convolution: `cells` by `channels` of what is written, summed over `inputs` channels at a time,
    `stages` of which are on their way."""

    cells: int
    channels: int
    inputs: int
    warps: int
    stages: int
