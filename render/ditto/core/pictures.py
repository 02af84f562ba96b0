"""The plates and pictures of all slots of an engine: what of a session lies on the device beside its face."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....stream.errors import CapacityError
from ...color import color_space
from ...surface import Layout, Surface
from .composite import CompositeOps, Extent, Placing, colors, packed_plate
from .mirror import sent
from .surfaces import SurfaceRing, Transfers, first_byte, memory_bytes, send


@dataclass(frozen=True, slots=True)
class Showing:
    """A face that is to be drawn: frame `frame` of the avatar of `slot`, into `surface`."""

    slot: int
    frame: int
    surface: Surface


@dataclass(frozen=True, slots=True)
class _Slot:
    """An open slot; its plate begins at pixel `plate` of the plates."""

    placing: Placing
    plate: int
    ring: SurfaceRing


class Pictures:
    """Takes all its memory on the device at once, and pinned memory of the host with each slot's surfaces.

    A tick is `rows`, which become the table on the device, `composite`, which may be captured, and `send`.
    """

    layout: Layout = "nv12"

    def __init__(
        self,
        ops: CompositeOps,
        transfers: Transfers,
        *,
        slots: int,
        largest: tuple[int, int],
        side: int,
        dtype: torch.dtype,
    ) -> None:
        """For plates of at most `largest` (width, height) and faces of `side` pixels in `dtype`."""
        device = transfers.device
        self._ops, self._transfers, self._largest, self._side = ops, transfers, largest, side
        self.plates = torch.zeros(slots * largest[0] * largest[1], dtype=torch.int32, device=device)
        self.memory = torch.zeros(memory_bytes(slots, largest), dtype=torch.uint8, device=device)
        self.colors = colors(device)
        self._nothing = torch.zeros(1, side, side, 4, dtype=dtype, device=device)
        self._slots: dict[int, _Slot] = {}

    @property
    def device_bytes(self) -> int:
        """What is taken on the device, whoever is open."""
        parts = self.plates, self.memory, self.colors, self._nothing
        return sum(part.numel() * part.element_size() for part in parts)

    @property
    def host_bytes(self) -> int:
        """What the surfaces of all open slots take."""
        return sum(slot.ring.host_bytes for slot in self._slots.values())

    @property
    def whole(self) -> Extent:
        """That holds whatever may be opened, upright or across."""
        side = max(self._largest)
        return Extent(side, side)

    @property
    def extent(self) -> Extent:
        """That holds the boxes of all open slots."""
        return Extent.of(slot.placing for slot in self._slots.values())

    def open(self, slot: int, plate: NDArray[np.uint8], matrices: NDArray[np.float32]) -> None:
        """Give `slot` its `plate` (H, W, 3) uint8 RGB of even size, on which `matrices` (N, 2, 3) put the
        faces of its N frames. Raises CapacityError for one that is too large, AvatarError for a placement
        without area."""
        size = plate.shape[1], plate.shape[0]
        room = self._largest[0] * self._largest[1]
        if size[0] * size[1] > room:
            raise CapacityError(
                f"a picture of {size[0]}x{size[1]} has no room on the device, which is prepared for "
                f"{self._largest[0]}x{self._largest[1]}; ask for a smaller one"
            )
        placing = Placing.of(matrices, self._side, size, color_space(*size))
        first = slot * room
        packed = packed_plate(plate)
        self.plates[first : first + len(packed)] = sent(packed, self.plates.device)
        rows = placing.box[1], placing.box[3]
        ring = SurfaceRing(self.memory, first_byte(slot, self._largest), size, rows, self._transfers)
        self._slots[slot] = _Slot(placing, first, ring)

    def surfaces(self, slot: int, count: int) -> list[Surface]:
        """The slot's own, which show the bare plate. Raises CapacityError."""
        one = self._slots[slot]
        row = torch.tensor([one.placing.bare(one.plate, one.ring.pictures[0])])
        self.composite(self._nothing, sent(row, self.plates.device), Extent(*one.placing.size))
        return one.ring.fill(count)

    def rows(self, showings: Sequence[Showing]) -> list[list[int]]:
        """Of the table, for faces in this order. Each goes to its surface by `send`."""
        found: list[list[int]] = []
        for showing in showings:
            one = self._slots[showing.slot]
            found.append(one.placing.row(showing.frame, one.plate, one.ring.begin(showing.surface)))
        return found

    def composite(self, faces: Tensor, table: Tensor, extent: Extent) -> None:
        """Draw the pictures of `table` (B, 16) int64 with `faces` (B, S, S, 4)."""
        self._ops.composite(faces, table, self.colors, self.plates, out=self.memory, extent=extent)

    def send(self, showings: Sequence[Showing]) -> None:
        """Let what was drawn go its way."""
        send([self._slots[showing.slot].ring for showing in showings], self._transfers)

    def abandon(self, showings: Sequence[Showing]) -> None:
        """Drawing these failed."""
        for showing in showings:
            self._slots[showing.slot].ring.abandon()

    def close(self, slot: int) -> None:
        """Release the slot. What is under way to its surfaces keeps their memory until it is there."""
        del self._slots[slot]
