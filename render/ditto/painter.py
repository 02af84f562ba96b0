"""Rows of motion into crops: motion stitch, easing, limits, warp and decoder, many slots a call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..surface import Surface
from . import keypoints
from .controls import Controls, Desk, Following, FrameControls
from .core.choice import ops_for
from .core.composite import Column, weight_lane
from .core.mirror import Mirror, gathered, named, sent
from .core.pictures import Pictures, Showing
from .core.replay import Replay
from .core.transfers import transfers_for
from .core.warp import Volumes
from .decoder import ENLARGED
from .limiter import LimiterState, limited
from .motion import WIDTH, Motion, Source
from .motion_stitch import Driven, MotionStitch, StitchState
from .networks import Networks
from .past import Past
from .putback import feather

BUCKETS: Final = (1, 2, 3, 4, 8)
"""Frames a call of the networks. Sixteen take twice as long as eight, and twice their memory."""
BATCH: Final = BUCKETS[-1]
AHEAD: Final = 1
"""Batches that wait while one is drawn. With more the most urgent would wait for all of them, and what comes
meanwhile could not join them."""
_CONTROLS: Final = "controls."


@dataclass(frozen=True, slots=True)
class Appearance:
    """What of an avatar is moved: the `volumes` (N, C, D, H, W) and the `source` of its N frames."""

    volumes: Tensor
    source: Source


@dataclass(frozen=True, slots=True)
class Stroke:
    """Frame `frame` of `slot`: frame `shown` of its avatar, moved by the row of motion that lies at `place`,
    with what it `brings`."""

    slot: int
    frame: int
    shown: int
    place: int
    brings: FrameControls


@dataclass(frozen=True, slots=True)
class _Face:
    """An avatar's frames on the device: `volumes` of N, `rows` (N, 265), `canonical` (N, 63) and `points`
    (N, 21, 3)."""

    volumes: Volumes
    rows: Tensor
    canonical: Tensor
    points: Tensor


class Painter:
    """The stage, with the state of its slots. What is drawn of a slot never depends on the others."""

    def __init__(
        self,
        networks: Networks,
        motion: Tensor,
        *,
        low: Tensor,
        high: Tensor,
        pictures: Pictures | None = None,
    ) -> None:
        """`motion` (B, R, 265) holds the rows of motion of B slots, which are drawn within `low` and `high`
        (265,). Faces become `pictures`, or, without those, crops."""
        slots = len(motion)
        self._networks, self._device = networks, networks.device
        self._motion, self._low, self._high = motion, low, high
        self._stitch = MotionStitch(networks.stitch, self._device)
        self._state = StitchState.init(slots, self._device)
        self._limiter = LimiterState.init(slots, self._device)
        self._past = Past.init(slots, self._device)
        self._told = Mirror(_layout(slots), self._device, ahead=AHEAD)
        self._desk = Desk(gathered(Controls, self._told.host, _CONTROLS))
        self._brings = {name: tensor.numpy() for name, tensor in self._told.host.items()}
        """What the host tells, as numpy writes it: in a fifth of the time."""
        self._controls = gathered(Controls, self._told.device, _CONTROLS)
        self._shown = _Face(
            networks.warp.room(slots, networks.side),
            torch.zeros(slots, WIDTH, device=self._device),
            torch.zeros(slots, 63, device=self._device),
            torch.zeros(slots, 21, 3, device=self._device),
        )
        """The frame of each slot's avatar that is moved now."""
        side, dtype = self.side, networks.decoder.dtype
        self._mask = weight_lane(feather(side, side), dtype).to(self._device)
        self._faces_drawn = torch.zeros(BATCH, side, side, 4, device=self._device, dtype=dtype)
        self._crops = torch.zeros(BATCH, side, side, 3, device=self._device, dtype=torch.uint8)
        self._pictures = pictures
        self._every = torch.arange(slots, device=self._device)
        self._faces: dict[int, _Face] = {}
        most = min(slots, BATCH)
        buckets = [one for one in BUCKETS if one <= most]
        self._replay = Replay(
            self._draw,
            self._device,
            buckets=buckets,
            pool=networks.memory.scratch(),
            eager=networks.eager,
        )

    def warm(self) -> None:
        """Compile and capture all that `paint` runs, so that it only replays. Slots must be closed."""
        self._replay.capture()

    @torch.no_grad()
    def open(self, slot: int, appearance: Appearance, following: Following) -> None:
        """Bind `slot` to a face at rest."""
        source = appearance.source
        self._faces[slot] = _Face(
            self._networks.warp.volumes(sent(appearance.volumes, self._device)),
            sent(source.motion.to_rows(), self._device),
            sent(source.canonical, self._device),
            sent(keypoints.transform(source.motion, source.canonical), self._device),
        )
        self._turn_to(slot, 0)
        self._state.reset(slot)
        self._limiter.reset(slot)
        self._past.reset(slot)
        self._desk.follow_as(slot, following)

    @torch.no_grad()
    def start_from(self, slot: int, row: Tensor) -> None:
        """`slot` moves by how far its rows of motion are from `row` (265,)."""
        self._state.start_from(slot, Motion.from_rows(row))

    def has_drawn(self, slot: int) -> bool:
        """True when a face of `slot` was drawn that still counts."""
        return self._past.has_shown(slot)

    @torch.no_grad()
    def resume(self, slot: int, sent: int) -> None:
        """Frames of `slot` after `sent` were drawn in vain; the next one eases away from that one."""
        face = self._past.resume(slot, sent)
        if face is None:
            self._limiter.reset(slot)
        else:
            self._limiter.resume(slot, *face)

    @torch.no_grad()
    def paint(self, strokes: Sequence[Stroke]) -> NDArray[np.uint8]:
        """The crops (k, H, W, 3) uint8 RGB of k slots."""
        crops = np.empty((len(strokes), self.side, self.side, 3), np.uint8)
        for part in self._replay.parts(len(strokes)):
            some = strokes[part]
            self._prepare(some)
            self._told.send()
            self._replay(len(some))
            crops[part] = self._crops[: len(some)].cpu().numpy()
        return crops

    @torch.no_grad()
    def show(self, strokes: Sequence[Stroke], surfaces: Sequence[Surface]) -> None:
        """The pictures of k slots, on their way to `surfaces`."""
        for part in self._replay.parts(len(strokes)):
            self._show(strokes[part], surfaces[part])

    def _show(self, strokes: Sequence[Stroke], surfaces: Sequence[Surface]) -> None:
        assert self._pictures is not None, "this painter makes crops"
        showings = [
            Showing(stroke.slot, stroke.shown, surface)
            for stroke, surface in zip(strokes, surfaces, strict=True)
        ]
        try:
            self._brings["table"][: len(showings)] = self._pictures.rows(showings)
            self._prepare(strokes)
            self._told.send()
            self._replay(len(strokes))
        except BaseException:
            self._pictures.abandon(showings)
            raise
        self._pictures.send(showings)

    def face(self, slot: int, frame: int) -> Driven:
        """What was shown in `frame` of `slot`, one of the last, as one row; its eyes not yet aimed."""
        return self._past.face(slot, frame, self._shown.canonical[slot])

    @property
    def side(self) -> int:
        """Of crops, in pixels."""
        return ENLARGED * self._networks.side

    def close(self, slot: int) -> None:
        """Release what `slot` holds."""
        del self._faces[slot]

    def _prepare(self, strokes: Sequence[Stroke]) -> None:
        """Bring all that the host knows to the device, and every slot to its frame."""
        told = self._brings
        told["active"][:] = False
        told["share"][:] = 1
        for at, stroke in enumerate(strokes):
            slot = stroke.slot
            self._desk.touch(slot, stroke.brings)
            told["active"][slot] = True
            told["share"][slot] = self._past.share(slot, stroke.frame)
            told["kept"][slot] = self._past.place(slot, stroke.frame)
            told["place"][slot] = stroke.place
            told["drawn"][at] = slot
            if len(self._faces[slot].rows) > 1:
                self._turn_to(slot, stroke.shown)

    @torch.no_grad()
    def _draw(self, count: int) -> None:
        """Move the slots that are active, and draw `count` of those that are drawn."""
        told, shown = self._told.device, self._shown
        points = self._placed(self._moved())
        drawn = told["drawn"][:count]
        features = self._networks.warp(shown.volumes, drawn, shown.points[drawn], points[drawn])
        faces = self._faces_drawn[:count]
        self._networks.decoder(features, self._mask, out=faces)
        if self._pictures is None:
            self._crops[:count] = (faces[..., :3].float() * 255).round().to(torch.uint8)
        else:
            self._pictures.composite(faces, told["table"][:count], self._pictures.whole)

    def _moved(self) -> Driven:
        """The faces of all slots, moved on by a frame where they are active, before the eyes are aimed."""
        told, shown = self._told.device, self._shown
        active = told["active"]
        driving = self._motion[self._every, told["place"]].clamp(self._low, self._high)
        driven = self._stitch.move(
            Source(Motion.from_rows(shown.rows), shown.canonical),
            Motion.from_rows(driving),
            controls=self._controls,
            state=self._state,
            active=active,
        )
        driven = self._past.eased(driven, told["share"])
        driven = replace(driven, angles=limited(self._limiter, driven.angles, active))
        self._past.keep(driven, self._limiter.speed, told["kept"], active)
        return driven

    def _placed(self, driven: Driven) -> Tensor:
        """Their keypoints (B, 21, 3)."""
        aimed = self._stitch.aim(driven, self._controls, self._state)
        return self._stitch.points(self._shown.points, aimed, self._controls)

    def _turn_to(self, slot: int, shown: int) -> None:
        face, now = self._faces[slot], self._shown
        now.volumes.full[slot] = face.volumes.full[shown]
        now.volumes.small[slot] = face.volumes.small[shown]
        now.rows[slot] = face.rows[shown]
        now.canonical[slot] = face.canonical[shown]
        now.points[slot] = face.points[shown]


def pictures_for(networks: Networks, slots: int, largest: tuple[int, int]) -> Pictures:
    """On the device of `networks`, for faces that they draw."""
    return Pictures(
        ops_for(networks.device).composite,
        transfers_for(networks.device),
        slots=slots,
        largest=largest,
        side=ENLARGED * networks.side,
        dtype=networks.decoder.dtype,
    )


def _layout(slots: int) -> dict[str, Tensor]:
    """What the host tells: the controls of each slot; whether it is `active`, the `share` of its own motion,
    where its face is `kept` and the `place` of its row; the slots that are `drawn`, in order, and the
    `table` of their pictures."""
    return {
        **named(Controls.init(slots), _CONTROLS),
        "active": torch.zeros(slots, dtype=torch.bool),
        "share": torch.ones(slots),
        "kept": torch.zeros(slots, dtype=torch.int64),
        "place": torch.zeros(slots, dtype=torch.int64),
        "drawn": torch.zeros(BATCH, dtype=torch.int64),
        "table": torch.zeros(BATCH, len(Column), dtype=torch.int64),
    }
