"""Finished pictures in memory, as encoders take them."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Layout: TypeAlias = Literal["i420", "nv12"]
"""How chroma lies behind luma: two planes, or one of pairs."""


class Ready(Protocol):
    """Something under way that a picture is the end of."""

    def wait(self) -> None:
        """Return once it is over."""
        ...


@dataclass(frozen=True, slots=True)
class Surface:
    """A picture in one contiguous buffer, ready for the encoder.

    `buffer` (H * 3 / 2, W) uint8 holds `y` (H, W), then `u` and `v` (H / 2, W / 2), one after the other in
    layout i420 and one beside the other in nv12; all three are views of it. `box` (4,) int64 is (left, top,
    right, bottom) of what may differ from the plate. With `ready`, the picture may still be on its way.
    """

    buffer: NDArray[np.uint8]
    y: NDArray[np.uint8]
    u: NDArray[np.uint8]
    v: NDArray[np.uint8]
    box: NDArray[np.int64]
    layout: Layout = "i420"
    ready: Ready | None = None

    @property
    def width(self) -> int:
        return self.y.shape[1]

    @property
    def height(self) -> int:
        return self.y.shape[0]

    def wait(self) -> None:
        """Return once the picture is there: whoever reads it calls this first."""
        if self.ready is not None:
            self.ready.wait()


def surface_over(
    buffer: NDArray[np.uint8], layout: Layout = "i420", *, ready: Ready | None = None
) -> Surface:
    """The planes of `buffer` (H * 3 / 2, W) uint8, C-contiguous, H and W even. Nothing is copied."""
    width = buffer.shape[1]
    height = buffer.shape[0] * 2 // 3
    half = (height // 2, width // 2)
    chroma = buffer[height:].reshape(-1)
    if layout == "nv12":
        pairs = chroma.reshape(*half, 2)
        u, v = pairs[..., 0], pairs[..., 1]
    else:
        u, v = (plane.reshape(half) for plane in np.split(chroma, 2))
    return Surface(
        buffer=buffer,
        y=buffer[:height],
        u=u,
        v=v,
        box=np.zeros(4, np.int64),
        layout=layout,
        ready=ready,
    )
