"""What noise that belongs to the frame is for: the face does not jump where windows are joined.

A network of random weights cannot show it: with the tiny one over 60 windows, and with the official one over
16, steps are as large with each kind of noise, within a fifth. So windows are drawn here from a motion that
is known, smooth and random in time (Gaussian, correlated over 8 frames), whose ideal denoiser is a matrix:
what a trained model comes near to.

Measured over 200 windows of 10 steps: the mean step where windows are blended as a share of that within
windows, of expression (of pose in degrees), the same for acceleration, and the spread of a motion of spread
1.

    hop, fuse   noise      step          acceleration   spread
    2, 2        of frame   2.76 (1.92)   11.6 (5.2)     0.78
                fresh      5.84 (2.51)   29.0 (9.4)     0.70
                re-seeded  0.08 (0.05)    0.9 (0.5)     0.00   nothing moves
    5, 5        of frame   1.46 (1.31)    3.2 (2.2)     0.77
                fresh      2.39 (1.80)    6.1 (4.3)     0.65
                re-seeded  0.26 (0.15)    1.6 (0.9)     0.02   nothing moves
    10, 2       of frame   3.23 (2.22)   11.2 (3.7)     0.77
                fresh      5.61 (3.37)   20.4 (6.7)     0.77
                re-seeded  3.56 (2.13)   16.1 (5.3)     0.20
    10, 10      of frame   1.11 (1.06)    1.5 (1.3)     0.75
                fresh      1.36 (1.18)    2.3 (1.8)     0.64
                re-seeded  0.57 (0.47)    1.9 (1.4)     0.08   hardly anything moves

That is motion of which sound says nothing. Where sound says half, at 10, 10: 1.05 (1.01) and 1.23 (1.07),
with fresh noise 1.16 (1.04) and 1.70 (1.27). What is left of a step comes from the end of a window, whose
rows do not know what follows; the shorter the blend, the more of it is seen. Noise that starts over with each
window, as that of upstream's steps does, repeats itself every hop: the less the hop, the less is left of any
motion.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pytest
import torch
from torch import Tensor
from visavis.render.ditto import keypoints
from visavis.render.ditto.hops import HopStage, Turn
from visavis.render.ditto.motion import EXPRESSION, PITCH, ROLL, WIDTH, YAW
from visavis.render.ditto.noise import FrameNoise, draw, draw_reference
from visavis.render.ditto.sampler import sample
from visavis.render.ditto.schedule import Schedule, tables
from visavis.render.ditto.windows import LENGTH, WindowOptions, WindowShape

STEPS, WINDOWS, CORRELATED = 10, 200, 8.0
SCHEDULE: Final = Schedule.of(STEPS)
SHAPES = [WindowShape(2, 2), WindowShape(5, 5), WindowShape(10, 2), WindowShape(10, 10)]
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.hop}-{shape.fuse}")
Drawn = Callable[[HopStage, Turn], Tensor]
"""Noise (steps, 1, 80, 265) of the next window."""


@cache
def of_frame(stage: HopStage) -> FrameNoise:
    noise = FrameNoise(stage, slots=1, draws=STEPS)
    noise.begin(0, 1)
    return noise


KINDS: dict[str, Drawn] = {
    "of frame": lambda stage, turn: of_frame(stage).of(turn),
    "fresh": lambda _, turn: draw(100 + int(turn.windows[0]), 0, LENGTH, STEPS)[:, None],
    "re-seeded": lambda _, turn: draw(100, 0, LENGTH, STEPS)[:, None],
    "upstream": lambda _, turn: draw_reference(1, int(turn.windows[0]), STEPS)[:, None],
}


@cache
def denoisers() -> list[Tensor]:
    """For each step the matrix (80, 80) from noisy rows to the likeliest ones."""
    rows = torch.arange(LENGTH, dtype=torch.float64)
    alike = torch.exp(-((rows[:, None] - rows) ** 2) / (2 * CORRELATED**2)) + 1e-6 * torch.eye(LENGTH)
    kept = [float(tables().kept[step.time]) for step in SCHEDULE.steps]
    own = torch.eye(LENGTH, dtype=torch.float64)
    return [(of**0.5 * alike @ torch.linalg.inv(of * alike + (1 - of) * own)).float() for of in kept]


@dataclass(frozen=True, slots=True)
class Steps:
    """Mean size of steps at joints as a share of those within windows: `velocity` and `acceleration` of
    expression and of pose in degrees; and the `spread` of the expression."""

    velocity: tuple[float, float]
    acceleration: tuple[float, float]
    spread: float


@cache
def measured(shape: WindowShape, kind: str, heard: float = 0.0) -> Steps:
    """`heard` is how much of the motion sound says."""
    stage, options = HopStage(shape, WIDTH), WindowOptions.plain(torch.zeros(1, WIDTH))
    state = stage.init(1)
    told = heard * smooth(WINDOWS * shape.hop + LENGTH)[None]
    stage.begin(state, Turn.alone(0), options, told[:, : shape.overlap])
    inside: list[Tensor] = []
    joined: list[Tensor] = []
    for window in range(WINDOWS):
        turn = Turn.alone(window)
        drawn = KINDS[kind](stage, turn)

        def diffused(lead: Tensor, rows: Tensor, drawn: Tensor = drawn) -> Tensor:
            motion = sample(lambda noisy, index: denoisers()[index] @ noisy, SCHEDULE, drawn[0], drawn[1:])
            inside.append(rows + motion)
            return inside[-1]

        fresh = told[:, shape.overlap + window * shape.hop :][:, : shape.hop]
        after = stage.step(state, turn, fresh, options, sample=diffused)
        joined.append(stage.windows.finished(after).clone())
    rows = torch.cat(joined, 1)[0, 2 * shape.hop :]
    frames = torch.arange(len(rows)) - shape.fuse
    ends = torch.cat(inside[2:])[:, -shape.hop - shape.fuse - 2 :]
    sizes: list[tuple[float, float]] = []
    for order in (1, 2):
        at = (frames[order:] - (order - 1)) % shape.hop
        is_joint = torch.isin(at, torch.arange(-shape.fuse + 2 - order, 1) % shape.hop)
        each = [
            float(changes(part(rows), order)[is_joint].mean() / changes(part(ends), order).mean())
            for part in (expression, pose)
        ]
        sizes.append((each[0], each[1]))
    return Steps(sizes[0], sizes[1], float(expression(rows).std(0).mean()))


def smooth(rows: int) -> Tensor:
    """(rows, 265) that change as slowly as the motion."""
    drawn = np.random.default_rng(3).standard_normal((rows + 60, WIDTH))
    weights = np.exp(-(np.arange(-30, 31) ** 2) / CORRELATED**2)
    weights /= np.sqrt((weights**2).sum())
    found = np.stack([np.convolve(drawn[:, column], weights, "valid") for column in range(WIDTH)], 1)
    return torch.from_numpy(found[:rows].astype(np.float32))


def expression(rows: Tensor) -> Tensor:
    return rows[..., EXPRESSION]


def pose(rows: Tensor) -> Tensor:
    return torch.stack([keypoints.degrees(rows[..., part]) for part in (PITCH, YAW, ROLL)], -1)


def changes(rows: Tensor, order: int) -> Tensor:
    """(..., T - order) sizes of the differences of rows (..., T, D)."""
    return torch.diff(rows, n=order, dim=-2).norm(dim=-1)


@EACH_SHAPE
def test_joints_are_smoother_than_with_fresh_noise(shape: WindowShape) -> None:
    mine, fresh = measured(shape, "of frame"), measured(shape, "fresh")
    for part in (0, 1):
        assert mine.velocity[part] < 0.95 * fresh.velocity[part]
        assert mine.acceleration[part] < 0.8 * fresh.acceleration[part]


@EACH_SHAPE
@pytest.mark.parametrize("kind", ["re-seeded", "upstream"])
def test_joints_are_smoother_than_with_noise_that_starts_over_for_how_much_moves(
    shape: WindowShape, kind: str
) -> None:
    mine, other = measured(shape, "of frame"), measured(shape, kind)
    assert other.spread < 0.4 * mine.spread
    for part in (0, 1):
        assert mine.velocity[part] / mine.spread < other.velocity[part] / other.spread
        assert mine.acceleration[part] / mine.spread < other.acceleration[part] / other.spread


def test_motion_is_as_lively_as_it_was_learned() -> None:
    for shape in SHAPES:
        assert measured(shape, "of frame").spread > measured(shape, "fresh").spread - 0.01
        assert measured(shape, "of frame").spread == pytest.approx(
            measured(SHAPES[0], "of frame").spread, abs=0.05
        )


def test_where_sound_says_half_of_the_motion_joints_are_as_steps_within_windows() -> None:
    steps = measured(WindowShape(10, 10), "of frame", heard=1.0)
    assert max(steps.velocity) < 1.1
    assert max(steps.acceleration) < 1.25
