"""Sound to rows of motion for many slots: features, windows of diffusion, and the rows that have settled.

A hop of sound makes one window, and with it as many rows settle as the hop has frames. Sound is heard 80
samples early, as the reference takes it from a file, so that whole ticks are all that a window waits for.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.clock import FEATURE_HOP
from . import conditions, features
from .conditions import Character, ConditionState
from .core.lane import lane_for
from .core.mirror import sent
from .core.motion_sampler import WindowSampler
from .delay import WindowShape, ticks_after
from .features import TAIL_SAMPLES, Chunk, FeatureStage
from .hop_replay import HopReplay
from .hops import HopStage, Made, Turn
from .motion_cache import CACHE_BYTES, MotionCache, chained
from .networks import Networks
from .noise import NOISES
from .schedule import Schedule

F32 = NDArray[np.float32]
Columns = tuple[int, int]
"""Of rows of motion: the first, and the first that is not one of them."""
STEPS: Final = 10
DTYPES: Final = {"cuda": torch.float16}
"""What the motion model computes in where that is not float32; what is diffused always is."""
HORIZON: Final = 8
"""Frames that are drawn before they are sent, at most: so far an interrupt goes back."""
EYE_FRAMES: Final = 1500
"""Of an avatar's own eyes there is room for a minute."""


@dataclass(slots=True)
class _Run:
    """A slot's run of frames: how many `windows` it has had since it came out of silence at frame `origin`.

    `samples` have come since then; it can go back to when it had `oldest` windows. `keys` are those
    of the motion cache by the number of windows; `told` is what they also depend on. `restarts` are as
    `Mover.open` takes them.
    """

    seed: int
    character: Character
    restarts: tuple[int, Columns] = (0, (0, 0))
    origin: int = 0
    windows: int = 0
    samples: int = 0
    oldest: int = 0
    keys: dict[int, bytes] = field(default_factory=dict[int, bytes])
    told: bytes = b""

    def turn(self, slot: int) -> tuple[int, int, int]:
        """For `Turn.of`."""
        return slot, self.windows, self.origin


class Mover:
    """The stage, with the state of its slots. A slot's motion never depends on the others, save for rounding
    in the networks. For one thread.

    What is heard is worked on beside what is drawn: `join` before its motion is read.
    """

    def __init__(
        self,
        networks: Networks,
        shape: WindowShape,
        *,
        slots: int,
        steps: int = STEPS,
        noise: Literal["frame", "upstream"] = "frame",
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        device = networks.device
        self.shape = shape
        self.delay = ticks_after(shape)
        """Ticks of sound that must follow a frame's own before it has settled."""
        self.cache = MotionCache(cache_bytes)
        self.mended_samples = 0
        """Samples that were no number, or beyond full scale."""
        self._history = -(-(HORIZON + self.delay) // shape.hop) + 2
        self._networks = networks
        self._lane = lane_for(device)
        self._features = FeatureStage(networks.audio, features.Cadence(shape.hop), history=self._history)
        self._stage = HopStage(
            shape,
            conditions.Parts().width,
            history=self._history,
            leads_on=noise == "frame",
            device=device,
        )
        dtype = DTYPES.get(device.type, torch.float32)
        self._hops = HopReplay(
            self._stage,
            WindowSampler(networks.lmdm, Schedule.of(steps), dtype=dtype, device=device),
            NOISES[noise](self._stage, slots=slots + 1, draws=steps),
            slots=slots,
            eager=networks.eager,
        )
        self._sort = repr((shape, steps, noise)).encode()
        self._sound = self._features.init(slots)
        self._told = ConditionState.init(slots, eye_frames=EYE_FRAMES)
        self._state, self._options = self._hops.state, self._hops.options
        self.motion = self._hops.motion
        """The rows of each slot that have settled, each at its `place`."""
        self._runs: dict[int, _Run] = {}
        self._silence: Tensor | None = None

    def warm(self) -> Tensor:
        """Hear the silence that comes before every session. Its features (overlap, 1024)."""
        with self._beside():
            if self._silence is None:
                self._hops.warm()
                chunk, overlap = Chunk(), self.shape.overlap
                once = features.offline(self._networks.audio, _silence(chunk.payload * FEATURE_HOP), chunk)
                self._silence = once.repeat(-(-overlap // len(once)), 1)[:overlap]
            return self._silence

    def open(
        self,
        slot: int,
        character: Character,
        *,
        seed: int,
        restart_every: int = 0,
        keeps: Columns = (0, 0),
    ) -> None:
        """Begin a run of `slot` in silence, from the character's own motion; its eyes are those of its first
        frame.

        After each `restart_every`-th window, 0 for never, the character's own motion leads the next one
        again, save in the columns `keeps`, in which the motion so far leads all windows.
        """
        with self._beside():
            run = self._runs[slot] = _Run(seed, character, (restart_every, keeps))
            self._told.set_character(slot, character)
            self._options.anchor[slot] = sent(character.start.float(), self._options.anchor.device)
            self._options.fix_every[slot].fill_(restart_every)
            self._options.follow[slot].zero_()
            self._options.follow[slot, slice(*keeps)].fill_(True)
            self.eyes(slot, character.eye_open[0], character.eye_ball[0])
            self.tell(slot, conditions.emotion_vectors(conditions.NEUTRAL)[0])
            self._begin(slot, run, 0)

    def tell(self, slot: int, emotion: Tensor) -> None:
        """Frames whose sound is yet to come feel `emotion` (8,) float32."""
        self._told.emotion[slot] = emotion
        self._note(slot)

    def eyes(self, slot: int, eye_open: Tensor | None, eye_ball: Tensor | None) -> None:
        """For frames whose sound is yet to come: how open eyes are (2,) and where they look (6,), in the
        terms of `Character`; None for as the avatar was filmed, to and fro."""
        own, count = self._runs[slot].character, len(self._runs[slot].character.eye_open)
        self._told.eye_open[slot, :count] = own.eye_open if eye_open is None else eye_open
        self._told.eye_ball[slot, :count] = own.eye_ball if eye_ball is None else eye_ball
        self._note(slot)

    @torch.no_grad()
    def rewind(self, slot: int, frame: int) -> None:
        """Forget all sound from frame `frame` of the run on; the next tick heard is that of `frame`.

        The run is then what it would be had that sound never come. Where that is more than the horizon and
        the delay ago, or sound is missing before it, the run comes out of silence anew at `frame`. Take what
        has `settled` and is still of use before.
        """
        with self._beside():
            run = self._runs[slot]
            ticks = frame - run.origin
            samples, windows = ticks * FEATURE_HOP, max(0, (ticks - Chunk().lookahead) // self.shape.hop)
            if not 0 <= samples <= run.samples or windows < run.oldest:
                self._begin(slot, run, frame)
                return
            given = windows * self.shape.hop
            self._features.rewind(self._sound, slot, heard=TAIL_SAMPLES + samples, given=given)
            run.samples, run.windows = samples, windows

    @torch.no_grad()
    def hear(self, sound: Sequence[tuple[int, F32]]) -> list[int]:
        """Take the next samples (n,) of each slot, a tick (640,) or any other number. The slots whose first
        window has just been made."""
        for slot, samples in sound:
            self._runs[slot].samples += len(samples)
        begun: list[int] = []
        waiting = [(slot, self._mended(samples)) for slot, samples in sound]
        # It reads nothing that is drawn, and writes rows that have not been asked for yet.
        with self._lane(after=False):
            while waiting:
                taken = [self._features.push(self._sound, slot, samples) for slot, samples in waiting]
                rest = zip(waiting, taken, strict=True)
                waiting = [(slot, samples[count:]) for (slot, samples), count in rest if count < len(samples)]
                while due := self._features.due(self._sound):
                    begun += [slot for slot in due if not self._runs[slot].windows]
                    self._hop(due)
        return begun

    def join(self) -> None:
        """What is drawn from here on sees the motion of all that was heard."""
        self._lane.join()

    def has_settled(self, slot: int, frame: int) -> bool:
        """Whether the row of `frame` of this run is there, whatever is still worked on."""
        run = self._runs[slot]
        return run.windows > 0 and frame < run.origin + run.windows * self.shape.hop - self.shape.fuse

    def settled(self, slot: int, frame: int) -> Tensor:
        """The row of motion (265,) of `frame` of this run, `delay` ticks old or a little more."""
        return self.motion[slot, self.place(frame)]

    def place(self, frame: int) -> int:
        """Where in `motion` the row of `frame` of a run is."""
        return frame % self._stage.frames

    def rest(self, slot: int) -> Tensor:
        """The row of motion (265,) of the character itself."""
        return self._options.anchor[slot]

    def first(self, slot: int) -> Tensor:
        """The row of motion (265,) that the first window of this run begins with."""
        with self._beside():
            turn = Turn.of([self._runs[slot].turn(slot)])
            now = self._stage.latest(self._state, turn)
            row = self._options.at(sent(turn.slots, self._stage.device)).bounded(now.first[:, None])[0, 0]
        return self._lane.lend(row)

    def close(self, slot: int) -> None:
        """Forget `slot`."""
        del self._runs[slot]
        self._features.reset(self._sound, [slot])

    @contextmanager
    def _beside(self) -> Generator[None]:
        """In the order of what is heard, and before what comes."""
        try:
            with self._lane():
                yield
        finally:
            self._lane.join()

    def _begin(self, slot: int, run: _Run, frame: int) -> None:
        """Have `slot` come out of silence at `frame`."""
        run.origin, run.windows, run.samples, run.oldest = frame, 0, 0, 0
        self._features.reset(self._sound, [slot])
        self._features.push(self._sound, slot, _silence(TAIL_SAMPLES))
        self._hops.noise.begin(slot, run.seed)
        turn, before = Turn.of([run.turn(slot)]), np.arange(-self.shape.overlap, 0)
        beside, device = self._beside_sound(turn, frame + before[None]), self._stage.device
        rows = torch.cat((sent(self.warm()[None], device), sent(beside, device)), -1)
        self._stage.begin(self._state, turn, self._options, rows)
        if self.cache.is_on:
            face = b"".join(_bytes(getattr(run.character, part.name)) for part in fields(run.character))
            run.keys = {
                0: chained(self._sort, repr((run.seed, frame, run.restarts)).encode(), face, run.told)
            }

    def _hop(self, slots: list[int]) -> None:
        """One window of each of `slots`."""
        turn = Turn.of([self._runs[slot].turn(slot) for slot in slots])
        made = [self._recalled(slot) for slot in slots]
        missed = [at for at, one in enumerate(made) if one is None]
        if missed:
            self._make(turn.at(missed))
        for is_first in (True, False):
            found = [(at, one) for at, one in enumerate(made) if one and (not turn.windows[at]) == is_first]
            if found:
                self._repeat(turn.at([at for at, _ in found]), [one for _, one in found])
        for slot in slots:
            run = self._runs[slot]
            run.windows += 1
            run.oldest = max(run.oldest, run.windows - self._history)
            run.keys.pop(run.oldest - 1, None)

    def _make(self, turn: Turn) -> None:
        heard, _ = self._features.step(self._sound, turn.slots.tolist())
        self._hops(turn, heard, self._beside_sound(turn, self._stage.new_frames(turn)))
        if self.cache.is_on:
            after = self._stage.latest(self._state, turn.next)
            made = self._stage.made(self._state, turn, after)
            for slot, one in zip(turn.slots.tolist(), made, strict=True):
                run = self._runs[slot]
                self.cache.keep(run.keys[run.windows + 1], one)

    def _repeat(self, turn: Turn, made: list[Made]) -> None:
        self._features.skip(self._sound, turn.slots.tolist())
        after = self._stage.repeat(self._state, turn, made)
        leaving = self._stage.leaving(turn) % self._stage.frames
        slots, places = (sent(part, self._stage.device) for part in (turn.slots, leaving))
        self._hops.settle(slots, places, self._stage.windows.finished(after))

    def _recalled(self, slot: int) -> Made | None:
        """What the next hop of `slot` made when it was heard before."""
        if not self.cache.is_on:
            return None
        run = self._runs[slot]
        news = self._features.news(self._sound, slot)
        key = run.keys[run.windows + 1] = chained(run.keys[run.windows], news, run.told)
        return self.cache.find(key)

    def _beside_sound(self, turn: Turn, frames: NDArray[np.int64]) -> Tensor:
        """What condition rows of `frames` (k, T) tell beside the sound: (k, T, 79)."""
        told = self._told.at(torch.from_numpy(turn.slots))
        return conditions.rows(told, torch.empty(*frames.shape, 0), torch.from_numpy(frames))

    def _note(self, slot: int) -> None:
        """Remember what `slot` is told, for the keys of its motion."""
        if self.cache.is_on:
            told, count = self._told, len(self._runs[slot].character.eye_open)
            parts = told.emotion[slot], told.eye_open[slot, :count], told.eye_ball[slot, :count]
            self._runs[slot].told = chained(b"", *(part.numpy() for part in parts))

    def _mended(self, samples: F32) -> F32:
        """`samples` as they can be heard: silence for what is no number, and none beyond full scale."""
        sane = np.abs(samples) <= 1
        if sane.all():
            return samples
        self.mended_samples += len(samples) - int(np.count_nonzero(sane))
        return np.clip(np.where(np.isnan(samples), 0, samples), -1, 1).astype(np.float32)


def _bytes(tensor: Tensor) -> bytes:
    return tensor.float().cpu().numpy().tobytes()


def _silence(samples: int) -> F32:
    return np.zeros(samples, np.float32)
