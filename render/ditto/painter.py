"""Rows of motion into crops: motion stitch, warp and decoder, many slots a call."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from . import keypoints
from .controls import Controls, Following, FrameControls
from .decoder import ENLARGED
from .motion import WIDTH, Motion, Source
from .motion_stitch import MotionStitch, StitchState
from .networks import Networks


@dataclass(frozen=True, slots=True)
class Appearance:
    """What of an avatar is moved: the `volume` (1, C, D, H, W) and the `source` of its picture, one row."""

    volume: Tensor
    source: Source


class Painter:
    """The stage, with the state of its slots. What is drawn of a slot never depends on the others."""

    def __init__(self, networks: Networks, slots: int) -> None:
        self._networks = networks
        self._device = device = networks.device
        self._stitch = MotionStitch(networks.stitch, device)
        self._state = StitchState.init(slots, device)
        self.controls = Controls.init(slots, device)
        self._still = torch.zeros(slots, WIDTH, device=device)
        self._canonical = torch.zeros(slots, 63, device=device)
        self._points = torch.zeros(slots, 21, 3, device=device)
        self._driving = torch.zeros(slots, WIDTH, device=device)
        self._volumes: dict[int, Tensor] = {}

    @torch.no_grad()
    def open(self, slot: int, appearance: Appearance, following: Following) -> None:
        """Bind `slot` to a face at rest."""
        source = appearance.source
        self._volumes[slot] = appearance.volume.to(self._device, self._networks.warp.fourth.weight.dtype)
        self._still[slot] = source.motion.to_rows()[0]
        self._canonical[slot] = source.canonical[0]
        self._points[slot] = keypoints.transform(source.motion, source.canonical)[0]
        self._state.reset([slot])
        self.controls.follow_as(slot, following)
        self.controls.touch(slot, FrameControls())

    @torch.no_grad()
    def start_from(self, slot: int, row: Tensor) -> None:
        """`slot` moves by how far its rows of motion are from `row` (265,)."""
        self._state.start_from(slot, Motion.from_rows(row))

    @torch.no_grad()
    def paint(self, slots: Sequence[int], rows: Tensor) -> NDArray[np.uint8]:
        """The crops (k, H, W, 3) uint8 RGB of `slots`, moved by `rows` (k, 265)."""
        at = torch.tensor(slots, device=self._device)
        active = torch.zeros(len(self._driving), dtype=torch.bool, device=self._device)
        active[at] = True
        self._driving[at] = rows
        driven = self._stitch.step(
            Source(Motion.from_rows(self._still), self._canonical),
            self._points,
            Motion.from_rows(self._driving),
            controls=self.controls,
            state=self._state,
            active=active,
        )
        volume = torch.cat([self._volumes[slot] for slot in slots])
        features = self._networks.warp(volume, self._points[at], driven[at])
        picture = self._networks.decoder(features)
        return (picture.float() * 255).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous().cpu().numpy()

    def side(self, slot: int) -> int:
        """Of the crops of `slot`, in pixels."""
        return ENLARGED * self._volumes[slot].shape[-1]

    def close(self, slot: int) -> None:
        """Release what `slot` holds."""
        del self._volumes[slot]
