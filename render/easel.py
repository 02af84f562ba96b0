"""Where one session's pictures come about: an engine's crops on their plate, or an engine's own pictures."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .composite import Compositor
from .engine import Crop, Engine
from .surface import Surface


@dataclass(frozen=True, slots=True)
class Backdrop:
    """What crops are put on, and the `mask` (H, W) float32 by which."""

    compositor: Compositor
    mask: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Easel:
    """The `surfaces` of a session. Without a `backdrop` the engine finishes them itself."""

    surfaces: tuple[Surface, ...]
    backdrop: Backdrop | None

    @classmethod
    def of(cls, engine: Engine, slot: int, compositor: Compositor | None, *, surfaces: int) -> Self:
        """Of an open slot, with so many `surfaces`. Only an engine of crops needs the `compositor`: that of
        its plate."""
        if engine.pictures is not None:
            return cls(tuple(engine.pictures.surfaces(slot, surfaces)), None)
        assert compositor is not None, "an engine of crops needs a plate to put them on"
        made = tuple(compositor.surface() for _ in range(surfaces))
        return cls(made, Backdrop(compositor, engine.mask(slot)))

    def show(self, crop: Crop, surface: Surface) -> None:
        """Make `surface` show `crop` on its plate."""
        assert self.backdrop is not None, "an engine of pictures draws no crops"
        self.backdrop.compositor.composite(crop, self.backdrop.mask, surface)
