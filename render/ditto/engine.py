"""The `ditto` engine: hears 40 ms a tick; the networks draw each frame once its motion has settled."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ...stream.chance import seed_for
from ...stream.controls import Controls
from ...stream.errors import AvatarError, DeviceError, UsageError
from ...stream.link import EngineCounts
from ..avatar import Avatar
from ..engine import Crop, Due
from ..weights import file_named, locate
from . import tensors as table
from .checkpoints import Source as WeightsSource
from .configuration import load_configuration
from .decoder import DecoderSize
from .delay import WindowShape, spec_of
from .direction import Direction
from .live_options import LiveOptions
from .motion import Motion, Source
from .motion_cache import CACHE_BYTES
from .motion_stitch import Driven
from .mover import STEPS, Mover
from .networks import Networks
from .painter import BATCH, Appearance, Painter, Stroke, pictures_for
from .parking import parking_for
from .provenance import Provenance, digest_at
from .putback import SIDE, feather
from .schedule import check_steps
from .smoothing import VIDEO_FRAMES, moving_mean

_LOG = logging.getLogger(__name__)

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")

SLOTS: Final = 16
LARGEST: Final = (1920, 1080)
"""Pictures, upright or across, that a GPU keeps room for."""
CONFIGURATIONS: Final = ("configuration_online", "configuration")
"""Files with arrays that live sessions use; the first that is there is taken."""


@dataclass(slots=True)
class _Slot:
    """A session's place in time: it opened at tick `opened`, frame 0 of its run is tick `start`, `next_tick`
    is heard next. `matrices` (N, 2, 3) place the crop of each frame of the avatar."""

    direction: Direction
    matrices: NDArray[np.float32]
    opened: int
    start: int
    next_tick: int

    def shown(self, frame: int) -> int:
        """The frame of the avatar in `frame`: they play to and fro, and ends repeat."""
        count = len(self.matrices)
        turn, at = divmod(max(frame - self.opened, 0), count)
        return count - 1 - at if turn % 2 else at


@dataclass(frozen=True, slots=True)
class _Spoken:
    """Sound of ticks one after the other, and the `emotion` (8,) that they are spoken with where it is
    news."""

    emotion: NDArray[np.float64] | None
    sound: list[NDArray[np.float32]] = field(default_factory=list[NDArray[np.float32]])


def _on_the_device(method: Callable[ParametersT, ResultT]) -> Callable[ParametersT, ResultT]:
    """A GPU that fails meanwhile is a DeviceError: nothing of this process can use it again."""

    @wraps(method)
    def told(*arguments: ParametersT.args, **named: ParametersT.kwargs) -> ResultT:
        try:
            return method(*arguments, **named)
        except torch.AcceleratorError as error:
            raise DeviceError(f"the GPU failed: {str(error).splitlines()[0]}") from error

    return told


class DittoEngine:
    """Draws avatars of kind `ditto`, slots of different sessions and avatars in one batch."""

    kind = "ditto"
    max_batch = BATCH

    def __init__(
        self,
        networks: Networks,
        *,
        source: WeightsSource | None = None,
        shape: WindowShape | None = None,
        steps: int = STEPS,
        slots: int = SLOTS,
        options: LiveOptions | None = None,
        cache_bytes: int = CACHE_BYTES,
        largest: tuple[int, int] | None = None,
    ) -> None:
        """`source` is where the `networks` are from, where that is known: `options` are by default those of
        the official configuration there, if there is one, and avatars are compared with it.
        Motion of up to `cache_bytes` is kept for when it is wanted again. Pictures of up to `largest` (width,
        height) are made whole on the device, on a GPU unless told otherwise; else crops."""
        self._source = source
        self._provenance = Provenance()
        if options is None and source is not None:
            options = live_options(source)
        self.most_slots = slots
        self._parking = parking_for(networks.device, networks.memory)
        self._options = (options or LiveOptions.of()).on(networks.device)
        self._mover = Mover(
            networks, shape or WindowShape(), slots=slots, steps=check_steps(steps), cache_bytes=cache_bytes
        )
        if largest is None and networks.device.type == "cuda":
            largest = LARGEST
        self.pictures = pictures_for(networks, slots, largest) if largest else None
        self._painter = Painter(
            networks,
            self._mover.motion,
            low=self._options.low,
            high=self._options.high,
            pictures=self.pictures,
        )
        self._slots: dict[int, _Slot] = {}
        self._slow = networks.device.type == "cpu" and networks.decoder.size == DecoderSize()
        self.spec = spec_of(self._mover.shape)
        self.cadence = self._mover.shape.hop

    def warm(self) -> None:
        """Hear the silence that comes before every session."""
        if self._source is not None:
            self._provenance = Provenance(digest_at(self._source))
        if self._slow:
            _LOG.warning(
                "this machine has no GPU that torch can use: Ditto draws a frame in many seconds, and live "
                "pictures will stand still; make clips with visavis render, or serve a presenter"
            )
        self._mover.warm()
        self._painter.warm()

    @_on_the_device
    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        """Bind `slot` to `avatar` at rest. The first tick heard will be `index`. `size` is (width,
        height)."""
        if avatar.kind != self.kind:
            raise AvatarError(
                f"avatar {avatar.name} is of kind {avatar.kind}, which engine ditto cannot draw; "
                "register a picture with visavis avatar add"
            )
        self._provenance.check(avatar)
        self._parking.fetch()
        tensors = {name: torch.from_numpy(np.array(value)) for name, value in avatar.tensors.items()}
        canonical = tensors[table.CANONICAL].float()
        source = Source(
            Motion.from_rows(moving_mean(tensors[table.MOTION].float(), VIDEO_FRAMES)),
            moving_mean(canonical, VIDEO_FRAMES),
        )
        eyes = tensors[table.EYE_OPEN].float(), tensors[table.EYE_BALL].float()
        options, frames, own_seed = self._options, len(canonical), seed_for(seed, avatar.name)
        following = options.following(frames, float(source.motion.scale[0]))
        side = self._painter.side
        matrices = np.stack([_from_crop(matrix.numpy(), side) for matrix in tensors[table.MATRIX]])
        if self.pictures is not None:
            # Before anything else: there may be no room for its plate.
            self.pictures.open(slot, avatar.plate(size), matrices)
        self._painter.open(slot, Appearance(tensors[table.APPEARANCE], source), following)
        self._mover.open(
            slot,
            options.character(source, eyes, canonical[0]),
            seed=own_seed,
            restart_every=options.restart_every,
            keeps=options.restart_keeps,
        )
        if options.films_eyes(frames):
            self._mover.eyes(slot, None, None)
        direction = Direction(options.manner(frames), delay=self._mover.delay, seed=own_seed, index=index)
        self._slots[slot] = _Slot(direction, matrices, opened=index, start=index, next_tick=index)

    def mask(self, slot: int) -> NDArray[np.float32]:
        """Feathered weight (H, W) float32 in 0..1 of the slot's crop against the plate."""
        side = self._painter.side
        return feather(side, side)

    @_on_the_device
    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        """Hear the ticks of each slot; a picture for each `draw`, else None. Raises UsageError, with nothing
        heard, when a slot is not open, comes twice, or its ticks are not the next ones."""
        self._check(due)
        # What needs no more sound is drawn while the motion of the rest is made.
        spoken = {one.slot: self._spoken(one) for one in due}
        drawn = [one for one in due if one.draw]
        ready = {one.slot: one for one in drawn if self._is_settled(one)}
        crops = self._drawn(list(ready.values()))
        for turn in range(max(map(len, spoken.values()), default=0)):
            self._hear({slot: parts[turn] for slot, parts in spoken.items() if turn < len(parts)})
        self._mover.join()
        crops |= self._drawn([one for one in drawn if one.slot not in ready])
        return [crops.get(one.slot) if one.draw else None for one in due]

    @_on_the_device
    def control(self, slot: int, controls: Controls) -> None:
        """Take new live controls from the next frame on."""
        self._slots[slot].direction.control(controls)

    @_on_the_device
    def interrupt(self, slot: int, sent: int) -> None:
        """Forget everything after frame `sent`. The next tick heard is `sent + 1`, and the face eases to
        rest."""
        place = self._slots[slot]
        place.next_tick = sent + 1
        place.start = min(place.start, place.next_tick)
        self._mover.rewind(slot, place.next_tick - place.start)
        self._painter.resume(slot, sent)
        place.direction.interrupt(sent)

    def face(self, slot: int, frame: int) -> Driven:
        """What was shown in `frame` of `slot`, one of the last that were drawn, as one row."""
        return self._painter.face(slot, frame)

    @_on_the_device
    def close(self, slot: int) -> None:
        """Release the slot."""
        del self._slots[slot]
        self._mover.close(slot)
        self._painter.close(slot)
        if self.pictures is not None:
            self.pictures.close(slot)

    @property
    def parks(self) -> bool:
        """Whether this machine's driver can."""
        return self._parking.is_able

    @_on_the_device
    def offload(self) -> None:
        """Move weights to the host's memory, and drop what graphs need no more, until a slot is opened."""
        self._parking.offload()

    @_on_the_device
    def park(self) -> bool:
        """Give back all of the card's memory until a slot is opened, while none is. False where that cannot
        be."""
        return self._parking.park()

    def counts(self) -> EngineCounts:
        """What has been counted since the engine was made."""
        cache = self._mover.cache.counts
        return EngineCounts(
            cache_hits=cache.hits,
            cache_misses=cache.misses,
            cache_evictions=cache.evictions,
            cache_bytes=cache.used_bytes,
            mended_samples=self._mover.mended_samples,
        )

    def _drawn(self, due: Sequence[Due]) -> dict[int, Crop]:
        """By slot; none where pictures are on their way to the surfaces that are due."""
        strokes = [self._stroke(one) for one in due]
        if self.pictures is not None:
            surfaces = [one.surface for one in due if one.surface is not None]
            self._painter.show(strokes, surfaces)
            return {}
        return {
            stroke.slot: Crop(stroke.frame, pixels, self._slots[stroke.slot].matrices[stroke.shown])
            for stroke, pixels in zip(strokes, self._painter.paint(strokes), strict=True)
        }

    def _check(self, due: Sequence[Due]) -> None:
        seen: set[int] = set()
        for one in due:
            if one.slot not in self._slots or one.slot in seen:
                raise UsageError(f"slot {one.slot} is not open, or comes twice in a step")
            seen.add(one.slot)
            one.check(self._slots[one.slot].next_tick)

    def _spoken(self, due: Due) -> list[_Spoken]:
        """The ticks that are due, in parts of one emotion each."""
        place, parts = self._slots[due.slot], list[_Spoken]()
        for tick in due.ticks:
            place.next_tick += 1
            emotion = place.direction.hear(tick)
            if emotion is not None or not parts:
                parts.append(_Spoken(emotion))
            parts[-1].sound.append(tick.heard)
        return parts

    def _hear(self, spoken: Mapping[int, _Spoken]) -> None:
        """By slot."""
        for slot, part in spoken.items():
            if part.emotion is not None:
                self._mover.tell(slot, torch.from_numpy(part.emotion).float())
        sound = [(slot, np.concatenate(part.sound)) for slot, part in spoken.items()]
        for slot in self._mover.hear(sound):
            if not self._painter.has_drawn(slot):
                self._painter.start_from(slot, self._options.bounded(self._mover.first(slot)))

    def _is_settled(self, due: Due) -> bool:
        """Whether the motion of the frame that is due is there already."""
        frame = due.audio.index - self._mover.delay - self._slots[due.slot].start
        return self._mover.has_settled(due.slot, frame)

    def _stroke(self, due: Due) -> Stroke:
        """The frame that is now known."""
        place = self._slots[due.slot]
        frame = due.audio.index - self._mover.delay
        row = self._mover.place(frame - place.start)
        return Stroke(due.slot, frame, place.shown(frame), row, place.direction.at(frame))


def live_options(source: WeightsSource) -> LiveOptions:
    """Of the official configuration in the folder `source`, else of none. Raises SetupError for one that is
    damaged."""
    if isinstance(source, Path):
        for name in CONFIGURATIONS:
            if (path := locate(file_named(name), source)) is not None:
                return LiveOptions.of(load_configuration(path).options)
    return LiveOptions.of()


def _from_crop(matrix: NDArray[np.float64], side: int) -> NDArray[np.float32]:
    """`matrix` (3, 3) of a crop of official size, for one of `side` pixels that shows the same: (2, 3)."""
    scale = SIDE / side
    shift = (scale - 1) / 2
    return (matrix @ np.array([[scale, 0, shift], [0, scale, shift], [0, 0, 1]]))[:2].astype(np.float32)
