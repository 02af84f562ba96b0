"""Motion stitch: the face of a picture follows the motion that the model made, and stays joined to its neck.

The order of the steps is the reference's. Each slot has its own options, so that sessions share a call.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final, Self

import torch
from torch import Tensor

from . import keypoints
from .controls import POSE, Controls, Fade, Item
from .motion import BINS, KEYPOINTS, Motion, Source

Stitch = Callable[[Tensor, Tensor], Tensor]
"""Source and driven keypoints (B, 21, 3) to the driven ones as they should be."""
_WIDTHS: Final = (1, BINS, BINS, BINS, 3, 3 * KEYPOINTS, 3 * KEYPOINTS)
"""Columns of each `Item` in a row that holds all of a face."""
ROW_WIDTH: Final = sum(_WIDTHS)
_POSE: Final = slice(1, 1 + 3 * BINS)
_TRANSLATION: Final = slice(_POSE.stop, _POSE.stop + 3)
_EXPRESSION: Final = slice(_TRANSLATION.stop, _TRANSLATION.stop + 3 * KEYPOINTS)
_CANONICAL: Final = slice(_EXPRESSION.stop, ROW_WIDTH)
_GAZE_YAW, _GAZE_PITCH = 0.26, 0.28
"""Share of a turn of the head that the eyes make up for."""


@dataclass(frozen=True, slots=True)
class StitchState:
    """What B slots remember of their runs, written in place.

    `frames` (B,) int64 done. `first` (B, 328) is the driver's first frame where `has_first` (B,) bool,
    `target` (B, 328) the first driven one where `has_target`, its angles in degrees where `target_degrees`
    (B, 3) bool.
    `gaze` (B, 3) degrees: pitch, yaw and roll of the first source frame.
    """

    frames: Tensor
    first: Tensor
    has_first: Tensor
    target: Tensor
    has_target: Tensor
    target_degrees: Tensor
    gaze: Tensor

    @classmethod
    def init(cls, slots: int, device: torch.device | str = "cpu") -> Self:
        return cls(
            torch.zeros(slots, dtype=torch.int64, device=device),
            torch.zeros(slots, ROW_WIDTH, device=device),
            torch.zeros(slots, dtype=torch.bool, device=device),
            torch.zeros(slots, ROW_WIDTH, device=device),
            torch.zeros(slots, dtype=torch.bool, device=device),
            torch.zeros(slots, len(POSE), dtype=torch.bool, device=device),
            torch.zeros(slots, len(POSE), device=device),
        )

    def reset(self, slot: int) -> None:
        """`slot` begins a run."""
        for each in fields(self):
            getattr(self, each.name)[slot].zero_()

    def start_from(self, slot: int, first: Motion) -> None:
        """`slot` follows its driver relative to `first`, one row with no or one leading dimension."""
        row = _row(first, torch.zeros_like(first.expression)).reshape(ROW_WIDTH)
        self.first[slot] = row.to(self.first)
        self.has_first[slot].fill_(True)


@dataclass(frozen=True, slots=True)
class Driven:
    """A face that was moved: `angles` (B, 3) degrees of pitch, yaw and roll; `scale` (B, 1), `translation`
    (B, 3), `expression` (B, 63) and `canonical` (B, 63)."""

    angles: Tensor
    scale: Tensor
    translation: Tensor
    expression: Tensor
    canonical: Tensor


class MotionStitch:
    """The stage: constants, and the network that joins a moved head to its shoulders."""

    def __init__(self, network: Stitch, device: torch.device | str = "cpu") -> None:
        self._network = network
        self._lips = keypoints.columns(keypoints.LIPS).to(device)
        self._eyes = keypoints.columns(keypoints.EYES).to(device)
        widths = torch.tensor(_WIDTHS)
        self._item = torch.repeat_interleave(torch.arange(len(_WIDTHS)), widths).to(device)
        """(328,) the item of each column."""

    def step(
        self,
        source: Source,
        source_points: Tensor,
        driving: Motion,
        *,
        controls: Controls,
        state: StitchState,
        active: Tensor,
    ) -> Tensor:
        """Driven keypoints (B, 21, 3) float32 of one frame.

        `source` and `driving` hold B rows; `source_points` (B, 21, 3) is `keypoints.transform` of the source.
        Slots that are not `active` (B,) bool keep their state, and what comes back for them means nothing.
        """
        driven = self.move(source, driving, controls=controls, state=state, active=active)
        return self.points(source_points, self.aim(driven, controls, state), controls)

    def move(
        self, source: Source, driving: Motion, *, controls: Controls, state: StitchState, active: Tensor
    ) -> Driven:
        """The face as its driver and controls have it, before the eyes are aimed."""
        still = _row(source.motion, source.canonical)
        driver = _row(driving, source.canonical)
        begins = active & (state.frames == 0)
        angles = keypoints.degrees(still[:, _POSE].unflatten(1, (len(POSE), BINS)))
        _write(state.gaze, angles, begins)
        _write(state.first, driver, active & controls.relative & ~state.has_first)
        state.has_first.logical_or_(active & controls.relative)
        driven = self._followed(still, driver, controls, state)
        expression = self._expressed(still[:, _EXPRESSION], driven[:, _EXPRESSION], controls)
        pose, in_degrees = _posed(driven[:, _POSE].unflatten(1, (len(POSE), BINS)), controls)
        driven = torch.cat(
            (driven[:, :1], pose.flatten(1), driven[:, _TRANSLATION], expression, driven[:, _CANONICAL]), 1
        )
        driven, in_degrees = self._faded(still, driven, in_degrees, controls, state, active)
        state.frames.add_(active)
        pose = driven[:, _POSE].unflatten(1, (len(POSE), BINS))
        return Driven(
            torch.where(in_degrees, pose[..., 0], keypoints.degrees(pose)),
            driven[:, :1],
            driven[:, _TRANSLATION],
            driven[:, _EXPRESSION],
            driven[:, _CANONICAL],
        )

    def aim(self, driven: Driven, controls: Controls, state: StitchState) -> Driven:
        """Eyes that are driven look where they looked before the head turned."""
        turned = driven.angles - state.gaze
        shift = keypoints.gaze_shift(_GAZE_YAW * turned[:, 1], _GAZE_PITCH * turned[:, 0])
        expression = driven.expression + shift * controls.drive_eyes[:, None]
        return Driven(driven.angles, driven.scale, driven.translation, expression, driven.canonical)

    def points(self, source_points: Tensor, driven: Driven, controls: Controls) -> Tensor:
        """Keypoints (B, 21, 3) float32, joined to the neck of `source_points` (B, 21, 3) where wanted."""
        loose = keypoints.place(
            keypoints.rotation(*driven.angles.unbind(1)),
            scale=driven.scale,
            translation=driven.translation,
            expression=driven.expression,
            canonical=driven.canonical,
        )
        return torch.where(controls.stitching[:, None, None], self._network(source_points, loose), loose)

    def _followed(self, still: Tensor, driver: Tensor, controls: Controls, state: StitchState) -> Tensor:
        """Rows (B, 328): items that follow come from the driver, the others from the source."""
        nothing = torch.zeros_like(controls.follow[:, :1])
        follow = torch.cat((controls.follow, nothing), 1)[:, self._item]
        factor = torch.cat((controls.factor, nothing.float()), 1)[:, self._item]
        change = still + factor * (driver - state.first)
        moved = torch.where(state.has_first[:, None], change, factor * driver)
        return torch.where(follow, moved, still)

    def _expressed(self, still: Tensor, driver: Tensor, controls: Controls) -> Tensor:
        """Expression (B, 63): lips and, if driven, eyes of the driver, blinks, damping, what is added."""
        follows = (controls.drive_eyes & ~controls.blinking)[:, None]
        blinks = (controls.drive_eyes & controls.blinking)[:, None]
        share = self._lips + self._eyes * follows
        found = driver * share + still * (1 - share) + controls.blink * (self._eyes * blinks)
        for damping in (
            controls.vad_alpha[:, None].clamp(max=1),
            1 - self._lips * (1 - controls.lip_alpha[:, None]),
        ):
            found = found * damping + still * (1 - damping)
        return found + controls.delta_expression

    def _faded(
        self,
        still: Tensor,
        driven: Tensor,
        in_degrees: Tensor,
        controls: Controls,
        state: StitchState,
        active: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Rows (B, 328) on their way to what the fade leads to, and which angles (B, 3) are degrees.

        Degrees mixed with scores count as scores, which a constant does not move: so the reference has it.
        """
        to_first = controls.fade == int(Fade.FIRST)
        begins = active & to_first & ~state.has_target
        _write(state.target, driven, begins)
        _write(state.target_degrees, in_degrees, begins)
        state.has_target.logical_or_(begins)
        target = torch.where(to_first[:, None], state.target, still)
        fades = controls.fading & (controls.fade != int(Fade.NONE))
        items = controls.fade_items & fades[:, None]
        alpha = controls.fade_alpha[:, None]
        mixed = torch.where(items[:, self._item], driven * alpha + target * (1 - alpha), driven)
        both = in_degrees & state.target_degrees & to_first[:, None]
        pose = items[:, Item.PITCH : Item.ROLL + 1]
        return mixed, torch.where(pose, both, in_degrees)


def _posed(pose: Tensor, controls: Controls) -> tuple[Tensor, Tensor]:
    """`pose` (B, 3, 66) with deltas and factors, and which angles (B, 3) are now degrees, 66 times over."""
    moved = (keypoints.degrees(pose) + controls.delta)[..., None]
    found = torch.where(controls.has_delta[..., None], moved, pose) * controls.alpha[..., None]
    return found, controls.has_delta


def _row(motion: Motion, canonical: Tensor) -> Tensor:
    """(..., 328) float32: scale, pitch, yaw, roll, translation, expression, canonical."""
    items = (motion.scale, motion.pitch, motion.yaw, motion.roll, motion.translation, motion.expression)
    return torch.cat([item.float() for item in (*items, canonical)], -1)


def _write(kept: Tensor, new: Tensor, where: Tensor) -> None:
    """In place, `new` (B, D) for the slots `where` (B,)."""
    kept.copy_(torch.where(where[:, None], new, kept))
