"""The `rig` engine: hears 40 ms a tick and draws the head 120 ms later, on any CPU."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stream.chance import seed_for
from ...stream.controls import Controls
from ...stream.errors import AvatarError
from ..avatar import Avatar
from ..engine import Crop, Due
from . import viseme
from .delay import SPEC
from .face import Canvas, Face
from .performer import DELAY_TICKS, Performer

_FACES_KEPT = 8


@dataclass(frozen=True, slots=True)
class _Slot:
    face: Face
    canvas: Canvas
    matrix: NDArray[np.float32]
    performer: Performer


class RigEngine:
    """Draws rigged avatars, one slot a call; different slots may step on different threads at once."""

    kind = "rig"
    max_batch = 1
    cadence = 1
    most_slots = None
    pictures = None
    parks = False
    spec = SPEC

    def __init__(self) -> None:
        self._stage = viseme.VisemeStage()
        self._slots: dict[int, _Slot] = {}
        self._faces: OrderedDict[tuple[str, str, tuple[int, int]], Face] = OrderedDict()
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Load and touch everything a step needs; the drawing loops were compiled when they were imported."""
        self._stage.warm()

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        """Bind `slot` to `avatar` at rest. The first tick heard will be `index`. `size` is (width,
        height)."""
        if avatar.kind != self.kind:
            raise AvatarError(
                f"avatar {avatar.name} is of kind {avatar.kind}, which engine rig cannot draw; "
                f"choose a presenter, or start with --engine {avatar.kind}"
            )
        face = self._face(avatar, size)
        x, y, _, _ = face.view.crop
        matrix = np.array([[1, 0, x], [0, 1, y]], np.float32)
        performer = Performer(self._stage, seed=seed_for(seed, avatar.name), index=index)
        self._slots[slot] = _Slot(face, face.canvas(), matrix, performer)

    def mask(self, slot: int) -> NDArray[np.float32]:
        """Feathered weight (H, W) float32 in 0..1 of the slot's crop against the plate."""
        return self._slots[slot].face.mask

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        """Hear the ticks of each slot; a picture for each `draw`, else None."""
        return [self._hear(each) for each in due]

    def control(self, slot: int, controls: Controls) -> None:
        """Take new live controls from the next frame on."""
        self._slots[slot].performer.control(controls)

    def interrupt(self, slot: int, sent: int) -> None:
        """Forget everything after frame `sent`. The next tick heard is `sent + 1`, and the face eases to
        rest."""
        self._slots[slot].performer.interrupt(sent)

    def close(self, slot: int) -> None:
        """Release the slot."""
        del self._slots[slot]

    def offload(self) -> None:
        pass

    def park(self) -> bool:
        """There is no card whose memory could be given back."""
        return False

    def counts(self) -> None:
        """It has no motion cache, and sound that is out of range does it no harm."""

    def _hear(self, due: Due) -> Crop | None:
        slot = self._slots[due.slot]
        due.check(slot.performer.next_tick)
        *_, motion = (slot.performer.hear(tick) for tick in due.ticks)
        if not due.draw:
            return None
        return Crop(due.audio.index - DELAY_TICKS, slot.face.draw(motion, slot.canvas), slot.matrix)

    def _face(self, avatar: Avatar, size: tuple[int, int]) -> Face:
        key = (str(avatar.folder), repr(sorted(avatar.manifest.files.items())), size)
        with self._lock:
            face = self._faces.get(key) or Face(avatar, size)
            self._faces[key] = face
            self._faces.move_to_end(key)
            while len(self._faces) > _FACES_KEPT:
                self._faces.popitem(last=False)
        return face
