"""How much noise is in a window at each step, and what a step does to it."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import UsageError

F32 = NDArray[np.float32]
TRAINED_STEPS: Final = 1000
FEWEST_STEPS: Final = 4
MOST_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class Tables:
    """By step number, each (1000,) float32.

    `kept` is the share of the clean signal's power; the noise in x is `of_noisy` x - clean / `of_clean`.
    """

    kept: F32
    of_noisy: F32
    of_clean: F32


@dataclass(frozen=True, slots=True)
class Step:
    """One step: at number `time`, from x and the clean estimate to `clean` x0 + `noise` e + `fresh` z.

    e = `of_noisy` x - x0 / `of_clean` is the noise estimate, z new noise. The last step ends with x0 itself.
    """

    time: int
    of_noisy: float
    of_clean: float
    clean: float = 1.0
    noise: float = 0.0
    fresh: float = 0.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps from pure noise to a sample, the noisiest first."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, count: int) -> Self:
        """`count` steps, 1 to 1000."""
        times = step_times(count)
        return cls(tuple(_step(now, then) for now, then in pairwise(times)))

    @property
    def times(self) -> tuple[int, ...]:
        """The step numbers."""
        return tuple(step.time for step in self.steps)


def check_steps(count: int) -> int:
    """`count` where a user may ask for it, else a `UsageError`."""
    if not FEWEST_STEPS <= count <= MOST_STEPS:
        raise UsageError(
            f"sampling takes {FEWEST_STEPS} to {MOST_STEPS} steps, not {count}; 10 is a good choice"
        )
    return count


@cache
def tables() -> Tables:
    """The cosine schedule: betas in float64, all that follows in float32, as the model was trained."""
    share = np.cos((np.arange(TRAINED_STEPS + 1) / TRAINED_STEPS + 0.008) / 1.008 * np.pi / 2) ** 2
    beta = np.clip(1 - share[1:] / share[:-1], 0, 0.999).astype(np.float32)
    one = np.float32(1)
    kept = np.cumprod((one - beta).astype(np.float64)).astype(np.float32)
    return Tables(kept, np.sqrt(one / (one - kept)), np.sqrt(one / kept - one))


def step_times(count: int) -> tuple[int, ...]:
    """`count` + 1 step numbers from 999 down to -1, which stands for the end.

    Evenly spaced in float32 and cut to whole numbers. The spacing is counted from the nearer end, which for
    some counts puts a number one off from exact arithmetic; the reference has them like that.
    """
    if not 1 <= count <= TRAINED_STEPS:
        raise ValueError(f"1 to {TRAINED_STEPS} steps, not {count}")
    first, last = np.float32(-1), np.float32(TRAINED_STEPS - 1)
    gap = (last - first) / np.float32(count)
    index = np.arange(count + 1, dtype=np.float32)
    half = (count + 1) // 2
    rising = np.where(index < half, first + gap * index, last - gap * (np.float32(count) - index))
    return tuple(int(time) for time in reversed(rising.tolist()))


def _step(time: int, following: int) -> Step:
    """The coefficient of the noise estimate is in closed form.

    As the root of 1 - A' - sigma^2 it cancels at the first step, where 5 steps even have a negative radicand.
    """
    table = tables()
    of_noisy, of_clean = float(table.of_noisy[time]), float(table.of_clean[time])
    if following < 0:
        return Step(time, of_noisy, of_clean)
    now, then = float(table.kept[time]), float(table.kept[following])
    return Step(
        time,
        of_noisy,
        of_clean,
        clean=then**0.5,
        noise=(1 - then) * (now / (then * (1 - now))) ** 0.5,
        fresh=((1 - now / then) * (1 - then) / (1 - now)) ** 0.5,
    )
