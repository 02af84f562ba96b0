"""An engine for measurements: its picture tells the frame's number and whether its sound was loud.

The top half of the crop is white when the tick's sound is loud and black otherwise. The bottom half carries
the low 16 bits of the frame number, most significant first, as white and black bars.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from visavis.render.avatar import Avatar
from visavis.render.engine import Crop, DrawsPictures, Due
from visavis.render.surface import Layout, Surface, surface_over
from visavis.stream.clock import FEATURE_HOP, FEATURE_HZ, Rate
from visavis.stream.controls import Controls
from visavis.stream.errors import DeviceError
from visavis.stream.link import EngineCounts
from visavis.stream.stage import StageSpec

CROP = (64, 256)
"""Height and width."""
PLACE = (40, 16)
"""Top and left on the plate."""
BITS = 16
DELAY = 3
LOUD = 0.05
LAST_INDEX = 10


class PatternEngine:
    """Implements the engine seam without a face."""

    kind = "pattern"
    max_batch = 1
    cadence = 1
    most_slots = None
    pictures: DrawsPictures | None = None
    parks = True
    gives_back = True

    def __init__(self) -> None:
        from fractions import Fraction

        rate = Rate(Fraction(FEATURE_HZ))
        self.spec = StageSpec(rate, window=FEATURE_HOP, hop=FEATURE_HOP, lookahead=DELAY * FEATURE_HOP)
        self.loud: dict[int, dict[int, bool]] = {}
        self.log: list[tuple[object, ...]] = []
        self.counted: EngineCounts | None = None

    def warm(self) -> None:
        pass

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        self.loud[slot] = {}
        self.log.append(("open", slot, avatar.name, size, index))

    def mask(self, slot: int) -> NDArray[np.float32]:
        return np.ones(CROP, np.float32)

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        return [self._hear(one) for one in due]

    def control(self, slot: int, controls: Controls) -> None:
        self.log.append(("control", slot, controls))

    def interrupt(self, slot: int, sent: int) -> None:
        self.log.append(("interrupt", slot, sent))
        self.loud[slot] = {}

    def close(self, slot: int) -> None:
        self.log.append(("close", slot))
        del self.loud[slot]

    def offload(self) -> None:
        self.log.append(("offload",))

    def park(self) -> bool:
        self.log.append(("park",))
        return self.gives_back

    def counts(self) -> EngineCounts | None:
        return self.counted

    def _hear(self, due: Due) -> Crop | None:
        loud = self.loud[due.slot]
        for tick in due.ticks:
            loud[tick.index] = bool(np.sqrt(np.mean(np.square(tick.heard))) > LOUD)
        index = due.audio.index - DELAY
        flash = loud.pop(index, False)
        return Crop(index, picture(index, flash), matrix()) if due.draw else None


@dataclass
class Later:
    """Of a surface: its picture comes when somebody waits for it."""

    picture: NDArray[np.uint8] | None = None
    surface: Surface | None = None
    waits: int = 0

    def wait(self) -> None:
        self.waits += 1
        if self.picture is not None and self.surface is not None:
            top, left = PLACE
            height, width = CROP
            self.surface.y[top : top + height, left : left + width] = np.clip(self.picture[..., 0], 16, 235)
            self.picture = None


class PictureEngine(PatternEngine):
    """The same as whole pictures, grey round the pattern, which come late."""

    layout: Layout = "nv12"

    def __init__(self) -> None:
        super().__init__()
        self.pictures = self
        self.given: dict[int, list[Surface]] = {}
        self._sizes: dict[int, tuple[int, int]] = {}

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        super().open(slot, avatar, size=size, seed=seed, index=index)
        self._sizes[slot] = size

    def mask(self, slot: int) -> NDArray[np.float32]:
        raise AssertionError("an engine of pictures needs no mask")

    def surfaces(self, slot: int, count: int) -> list[Surface]:
        width, height = self._sizes[slot]
        assert slot not in self.given
        self.given[slot] = [
            surface_over(np.full((height * 3 // 2, width), 128, np.uint8), self.layout, ready=Later())
            for _ in range(count)
        ]
        return self.given[slot]

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        for one, crop in zip(due, super().step(due), strict=True):
            assert (one.surface is not None) == (crop is not None) == one.draw
            if crop is not None and one.surface is not None:
                assert any(one.surface is own for own in self.given[one.slot])
                later = one.surface.ready
                assert isinstance(later, Later)
                later.surface, later.picture = one.surface, crop.pixels
        return [None] * len(due)

    def close(self, slot: int) -> None:
        super().close(slot)
        self.given.pop(slot, None)


class BrokenEngine(PatternEngine):
    """Fails to draw once it hears something loud."""

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        crops = super().step(due)
        if any(flag for one in due for flag in self.loud[one.slot].values()):
            raise RuntimeError("the pattern broke")
        return crops


class LostEngine(PatternEngine):
    """What it draws on is lost after a few frames."""

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        if max(one.audio.index for one in due) > LAST_INDEX:
            raise DeviceError("the GPU failed: an illegal memory access was encountered")
        return super().step(due)


class CrashingEngine(PatternEngine):
    """Fails where no engine may: while the worker asks what could be done, after it was ready."""

    asked = 0

    @property
    def max_batch(self) -> int:
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("the seam broke")
        return 1


def matrix() -> NDArray[np.float32]:
    top, left = PLACE
    return np.array([[1, 0, left], [0, 1, top]], np.float32)


def picture(index: int, flash: bool) -> NDArray[np.uint8]:
    """The crop (64, 256, 3) uint8 of frame `index`."""
    height, width = CROP
    crop = np.zeros((height, width, 3), np.uint8)
    crop[: height // 2] = 255 * flash
    for bit in range(BITS):
        if index >> (BITS - 1 - bit) & 1:
            crop[height // 2 :, bit * width // BITS : (bit + 1) * width // BITS] = 255
    return crop


def read_luma(luma: NDArray[np.uint8]) -> tuple[int, bool]:
    """Frame number and flash from the decoded plate's Y plane (H, W)."""
    top, left = PLACE
    height, width = CROP
    crop = luma[top : top + height, left : left + width].astype(np.float64)
    bars = crop[height // 2 + 4 : height - 4].reshape(-1, BITS, width // BITS).mean(axis=(0, 2))
    index = sum(1 << (BITS - 1 - bit) for bit, level in enumerate(bars) if level > 128)
    return index, bool(crop[4 : height // 2 - 4].mean() > 128)
