"""The motion model in a tiny size, what it gives, and a stand-in for it.

    PYTHONPATH=tests python -m support.motion tests/golden/tiny/motion.npz

writes what it gives for `SEED`. Only code that `scripts/parity.py` has found right at full size may do that.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from visavis.render.ditto import random_weights
from visavis.render.ditto.drivers import LiveDriver, ReferenceDriver, joined
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, Hold
from visavis.render.ditto.windows import WindowOptions, WindowShape

SEED = 7
CONDITION = LmdmSize().condition


def tiny_model() -> MotionDecoder:
    return random_weights.loaded(MotionDecoder(LmdmSize.tiny()), "lmdm", SEED)


def normal(name: int, *shape: int, scale: float = 1.0) -> Tensor:
    drawn = np.random.RandomState(name).standard_normal(shape)
    return torch.from_numpy((scale * drawn).astype(np.float32))


def model_inputs(batch: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Noisy windows, leads, condition rows and step numbers."""
    times = torch.arange(batch) * 271 % 1000
    return (
        normal(1, batch, LENGTH, WIDTH),
        normal(2, batch, WIDTH, scale=0.5),
        normal(3, batch, LENGTH, CONDITION, scale=0.5),
        times,
    )


def stand_in(lead: Tensor, conditions: Tensor, hold: Hold | None = None) -> Tensor:
    """Windows (B, 80, 265) that show what they follow and what they hear."""
    return 0.6 * lead[:, None] + 0.3 * conditions[..., :WIDTH] + 0.1 * conditions[..., -1:]


def same_conditions(features: Tensor, first: int) -> Tensor:
    """Condition rows (B, T, 300) of features as wide, which also tell the frame."""
    frames = first + torch.arange(features.shape[1], dtype=features.dtype)
    return torch.cat((features[..., :-1], frames.expand(len(features), -1)[..., None] % 17), dim=-1)


def options(slots: int) -> WindowOptions:
    """Slots that differ in all that can differ."""
    every = torch.arange(slots) % 3
    follow = torch.zeros(slots, WIDTH, dtype=torch.bool)
    follow[::2, :202] = True
    low = normal(5, slots, WIDTH).abs().neg() - 0.2
    return WindowOptions(normal(4, slots, WIDTH, scale=0.5), every, follow, low, low.neg())


def results() -> dict[str, np.ndarray]:
    """One step, whole samples, and windows joined in three ways; every 41st number."""
    model = tiny_model()
    noisy, lead, conditions, times = model_inputs(3)
    with torch.no_grad():
        found = {"step": model(noisy, lead, conditions, times)}
    for count in (1, 5, 10):
        noise = normal(SEED, count, LENGTH, WIDTH)[:, None].expand(-1, 3, -1, -1)
        found[f"sample{count}"] = MotionSampler(model, Schedule.of(count))(
            lead, conditions, noise[0], noise[1:]
        )
    sampler, drawn = MotionSampler(model, Schedule.of(4)), normal(SEED + 1, 4, 1, LENGTH, WIDTH)

    def sample(lead: Tensor, conditions: Tensor, hold: Hold) -> Tensor:
        return sampler(lead, conditions, drawn[0], drawn[1:], hold=hold)

    rows, one = normal(6, 1, 200, CONDITION, scale=0.5), options(1)
    found["joined"], found["lead"] = joined(WindowShape(70, 10), sample, rows, one, count=3)
    for name, kind in (("live", LiveDriver), ("reference", ReferenceDriver)):
        shape = WindowShape(10, 10)
        driver = kind(shape, sample, lambda features, _: features, one, before=rows[:, : shape.overlap])
        found[name] = torch.cat((driver.put(rows[:, 70:98]), driver.close()), dim=1)
    return {name: value.flatten(1)[:, ::41].numpy() for name, value in found.items()}


if __name__ == "__main__":
    np.savez_compressed(Path(sys.argv[1]), **results())  # type: ignore[arg-type]
