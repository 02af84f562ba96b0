"""What live sessions take from an official configuration, and what they leave.

Taken: how lids shut (`delta_eye_arr`), the bounds of motion (`v_min_max_for_clip`), the face that the model
believes to move (`ch_info`) with the ratio of scales that goes with it, what follows the driver
(`use_d_keys`, `relative_d`, `drive_eye`, `flag_stitching`), whether the model is told of all eyes of a clip
or of its first frame's for good (`eye_f0_mode`), degrees to add to every frame (`overall_ctrl_info`), and
after how many windows the source's motion leads again (`fix_kp_cond`) and in which columns it does not
(`fix_kp_cond_dim`). Official online settings have the source's expression lead each window, which keeps runs
without end from drifting; there may be twelve windows a second, and each counts.

Left: when blinks come (`delta_eye_open_n`), since lists end and stream/blink.py does not; `emo`, since live
controls decide; fades, which belong to clips of known length; and windows and steps (`overlap_v2`,
`sampling_timesteps`, `online_mode`), which the latency preset sets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.errors import SetupError
from .conditions import Character
from .configuration import Options, Reference
from .controls import OFFICIAL, Following
from .direction import Manner
from .lids import Blink
from .motion import BINS, KEYPOINTS, WIDTH, Source
from .mover import EYE_FRAMES, Columns

_ITEMS: Final[Mapping[str, int]] = {
    "scale": 1,
    "pitch": BINS,
    "yaw": BINS,
    "roll": BINS,
    "t": 3,
    "exp": 3 * KEYPOINTS,
}
"""Values of each item, in the order of a row of motion."""


@dataclass(frozen=True, slots=True)
class Believed:
    """The face that the motion model is told of instead of the avatar's, and its `scale`."""

    character: Character
    scale: float


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """For all sessions of an engine. `picture` and `video` tell how avatars of one frame and of more follow;
    rows of motion stay within `low` and `high` (265,). `Mover.open` takes `restart_every` and
    `restart_keeps`."""

    blink: Blink
    bearing: tuple[float, float, float]
    picture: Following
    video: Following
    low: Tensor
    high: Tensor
    believed: Believed | None
    first_eyes: bool
    restart_every: int
    restart_keeps: Columns

    @classmethod
    def of(cls, options: Options | None = None) -> "LiveOptions":
        """Of an official configuration, or of none. Raises SetupError where its face is not whole."""
        given = options or Options()
        endless = torch.full((WIDTH,), torch.inf)
        low, high = (-endless, endless) if given.limits is None else _tensor(given.limits).unbind()
        pitch, yaw, roll = (given.controls.get(f"delta_{name}", 0.0) for name in ("pitch", "yaw", "roll"))
        return cls(
            Blink.plain() if given.blinks is None else Blink.of_frames(given.blinks),
            (pitch, yaw, roll),
            # Blinks come from their own process, and a face has them once.
            replace(_followed(Following(), given), blinking=True),
            _followed(Following.of_video(), given),
            low,
            high,
            None if given.reference is None else _believed(given.reference),
            given.eyes_of_first_frame,
            given.restart_every,
            given.restart_keeps or (0, 0),
        )

    def manner(self, frames: int) -> Manner:
        """How an avatar of `frames` frames is moved."""
        return Manner(self.blink, self.bearing, filmed=frames > 1)

    def following(self, frames: int, scale: float) -> Following:
        """How an avatar of `frames` frames, whose face has this `scale`, follows."""
        usual = self.picture if frames == 1 else self.video
        return usual if self.believed is None else usual.scaled(self.believed.scale / scale)

    def character(self, source: Source, eyes: tuple[Tensor, Tensor], canonical: Tensor) -> Character:
        """What the motion model is told of an avatar: `source` of its N frames, smoothed, `eyes` open (N, 2)
        and turned (N, 6), `canonical` (63,) keypoints from before. Only as many eyes as the mover has room
        for."""
        found = Character.from_source(source, *eyes, canonical=canonical)
        if self.believed is not None:
            found = self.believed.character
        return replace(found, eye_open=found.eye_open[:EYE_FRAMES], eye_ball=found.eye_ball[:EYE_FRAMES])

    def films_eyes(self, frames: int) -> bool:
        """True when the motion model is told of the eyes of each of an avatar's `frames`; else those of its
        first hold."""
        return 1 < frames <= EYE_FRAMES and self.believed is None and not self.first_eyes

    def on(self, device: torch.device) -> "LiveOptions":
        """The same, with the bounds on `device`."""
        return replace(self, low=self.low.to(device), high=self.high.to(device))

    def bounded(self, row: Tensor) -> Tensor:
        """A `row` of motion (265,) within the bounds."""
        return row.clamp(self.low, self.high)


def _followed(usual: Following, given: Options) -> Following:
    factors = usual.factors
    if given.follow is not None:
        factors = {OFFICIAL[name]: factor for name, factor in given.follow.items() if name in OFFICIAL}
    eyes = usual.drive_eyes if given.drive_eyes is None else given.drive_eyes
    return replace(usual, factors=factors, relative=given.relative, drive_eyes=eyes, stitching=given.stitch)


def _believed(reference: Reference) -> Believed:
    sizes = {name: reference.motion[name].size for name in _ITEMS if name in reference.motion}
    if sizes != _ITEMS or not float(reference.motion["scale"].item()) > 0:
        raise SetupError("the reference character of the configuration is not whole; fetch it again")
    items = [_tensor(reference.motion[name]).reshape(-1) for name in _ITEMS]
    character = Character(
        _tensor(reference.eye_open),
        _tensor(reference.eye_ball),
        _tensor(reference.canonical).reshape(-1),
        torch.cat((items[0] - 1, *items[1:])),
    )
    return Believed(character, float(items[0]))


def _tensor(values: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.array(values, np.float32))
