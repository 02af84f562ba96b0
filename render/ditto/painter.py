"""Rows of motion into crops: motion stitch, easing, limits, warp and decoder, many slots a call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from . import keypoints
from .controls import Controls, Following, FrameControls
from .decoder import ENLARGED
from .limiter import LimiterState, limited
from .motion import WIDTH, Motion, Source
from .motion_stitch import Driven, MotionStitch, StitchState
from .networks import Networks
from .past import Past


@dataclass(frozen=True, slots=True)
class Appearance:
    """What of an avatar is moved: the `volumes` (N, C, D, H, W) and the `source` of its N frames."""

    volumes: Tensor
    source: Source


@dataclass(frozen=True, slots=True)
class Stroke:
    """Frame `frame` of `slot`: frame `shown` of its avatar, moved by the `row` (265,), with what it
    `brings`."""

    slot: int
    frame: int
    shown: int
    row: Tensor
    brings: FrameControls


@dataclass(frozen=True, slots=True)
class _Face:
    """An avatar's frames on the device: `volumes` (N, C, D, H, W), `rows` (N, 265), `canonical` (N, 63) and
    `points` (N, 21, 3)."""

    volumes: Tensor
    rows: Tensor
    canonical: Tensor
    points: Tensor


class Painter:
    """The stage, with the state of its slots. What is drawn of a slot never depends on the others."""

    def __init__(self, networks: Networks, slots: int) -> None:
        self._networks = networks
        self._device = device = networks.device
        self._stitch = MotionStitch(networks.stitch, device)
        self._state = StitchState.init(slots, device)
        self._limiter = LimiterState.init(slots, device)
        self._past = Past.init(slots, device)
        self._brought = Controls.init(slots)
        """In the host's memory; copied as a whole."""
        self._controls = Controls.init(slots, device)
        self._still = torch.zeros(slots, WIDTH, device=device)
        self._canonical = torch.zeros(slots, 63, device=device)
        self._points = torch.zeros(slots, 21, 3, device=device)
        self._driving = torch.zeros(slots, WIDTH, device=device)
        self._active = torch.zeros(slots, dtype=torch.bool, device=device)
        self._share = torch.ones(slots, device=device)
        self._places = torch.zeros(slots, dtype=torch.int64, device=device)
        self._faces: dict[int, _Face] = {}

    @torch.no_grad()
    def open(self, slot: int, appearance: Appearance, following: Following) -> None:
        """Bind `slot` to a face at rest."""
        source = appearance.source
        self._faces[slot] = _Face(
            appearance.volumes.to(self._device, self._networks.warp.fourth.weight.dtype),
            source.motion.to_rows().to(self._device),
            source.canonical.to(self._device),
            keypoints.transform(source.motion, source.canonical).to(self._device),
        )
        self._turn_to(slot, 0)
        self._state.reset([slot])
        self._limiter.reset(slot)
        self._past.reset(slot)
        self._brought.follow_as(slot, following)

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
        self._prepare(strokes)
        slots = [stroke.slot for stroke in strokes]
        at = torch.tensor(slots, device=self._device)
        driven = self._placed(self._moved())[at]
        volume = torch.cat([self._faces[stroke.slot].volumes[stroke.shown, None] for stroke in strokes])
        features = self._networks.warp(volume, self._points[at], driven)
        picture = self._networks.decoder(features)
        return (picture.float() * 255).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous().cpu().numpy()

    def face(self, slot: int, frame: int) -> Driven:
        """What was shown in `frame` of `slot`, one of the last, as one row; its eyes not yet aimed."""
        return self._past.face(slot, frame, self._canonical[slot])

    def side(self, slot: int) -> int:
        """Of the crops of `slot`, in pixels."""
        return ENLARGED * self._faces[slot].volumes.shape[-1]

    def close(self, slot: int) -> None:
        """Release what `slot` holds."""
        del self._faces[slot]

    def _prepare(self, strokes: Sequence[Stroke]) -> None:
        """Bring all that the host knows to the device, and every slot to its frame."""
        active, share, places = (torch.zeros(len(self._share)) for _ in range(3))
        for stroke in strokes:
            slot = stroke.slot
            self._brought.touch(slot, stroke.brings)
            active[slot] = 1
            share[slot] = self._past.share(slot, stroke.frame)
            places[slot] = self._past.place(slot, stroke.frame)
            self._driving[slot] = stroke.row
            if len(self._faces[slot].rows) > 1:
                self._turn_to(slot, stroke.shown)
        self._controls.copy_(self._brought)
        for kept, new in ((self._active, active), (self._share, share), (self._places, places)):
            kept.copy_(new)

    def _moved(self) -> Driven:
        """The faces of all slots, moved on by a frame where they are active, before the eyes are aimed."""
        driven = self._stitch.move(
            Source(Motion.from_rows(self._still), self._canonical),
            Motion.from_rows(self._driving),
            controls=self._controls,
            state=self._state,
            active=self._active,
        )
        driven = self._past.eased(driven, self._share)
        driven = replace(driven, angles=limited(self._limiter, driven.angles, self._active))
        self._past.keep(driven, self._limiter.speed, self._places, self._active)
        return driven

    def _placed(self, driven: Driven) -> Tensor:
        """Their keypoints (B, 21, 3)."""
        aimed = self._stitch.aim(driven, self._controls, self._state)
        return self._stitch.points(self._points, aimed, self._controls)

    def _turn_to(self, slot: int, shown: int) -> None:
        face = self._faces[slot]
        self._still[slot] = face.rows[shown]
        self._canonical[slot] = face.canonical[shown]
        self._points[slot] = face.points[shown]
