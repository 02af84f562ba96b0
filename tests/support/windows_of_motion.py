"""Inputs for the core's sampling of motion, and the same in the terms of `MotionSampler`."""

from dataclasses import fields, replace

import torch
from support.motion import CONDITION, normal
from torch import Tensor
from visavis.render.ditto.core import motion_twins
from visavis.render.ditto.core.motion import MotionOps, MotionWindow
from visavis.render.ditto.core.motion_plan import MotionPlan
from visavis.render.ditto.core.motion_room import MotionInputs, MotionRoom, plain_zeros
from visavis.render.ditto.lmdm import MotionDecoder
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, LedOn

HOP, FUSE = 5, 5


def inputs(batch: int, steps: int, *, follows: tuple[bool, ...] = (True, False)) -> MotionInputs:
    """Those of slots that follow what has left as `follows` says, by turns."""
    window = (batch, LENGTH, WIDTH)
    return MotionInputs(
        lead=normal(1, batch, WIDTH, scale=0.5),
        conditions=normal(2, batch, LENGTH, CONDITION, scale=0.5),
        start=normal(3, *window),
        noise=normal(4, steps - 1, *window),
        held=LedOn(HOP, FUSE).hold(
            normal(5, *window), torch.tensor([follows[slot % len(follows)] for slot in range(batch)])
        ),
    )


def at(given: MotionInputs, slots: list[int]) -> MotionInputs:
    """Those of `slots`, in that order."""
    rows = {field.name: getattr(given, field.name) for field in fields(given)}
    held = replace(given.held, old=given.held.old[slots], follows=given.held.follows[slots])
    moved = {name: rows[name][slots].clone() for name in ("lead", "conditions", "start")}
    return MotionInputs(**moved, noise=given.noise[:, slots].clone(), held=held)


def window(plan: MotionPlan, batch: int, ops: MotionOps = motion_twins) -> MotionWindow:
    room = MotionRoom.of(plan, batch, plain_zeros(plan.device))
    return MotionWindow(plan, room, ops)


def sampled(sampling: MotionWindow, given: MotionInputs) -> Tensor:
    out = torch.full_like(given.start, torch.nan)
    sampling(given, out)
    return out


def expected(model: MotionDecoder, steps: int, given: MotionInputs) -> Tensor:
    """What `MotionSampler` gives."""
    sampler = MotionSampler(model, Schedule.of(steps))
    return sampler(given.lead, given.conditions, given.start, given.noise, hold=given.held)


def error(found: Tensor, wanted: Tensor) -> float:
    """Relative, in the mean square."""
    return float((found - wanted).norm() / wanted.norm())
