"""What a rigged face does in one frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .units import UNIT_COUNT

F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Motion:
    """`units` (52,) float32 face unit weights; `head` (3,) yaw, pitch, roll in degrees, positive to the
    viewer's right, down and clockwise; `gaze` (2,) in -1..1 of the eye's range, positive right and up;
    `body` (2,) breath 0..1 and lean -1..1 to the viewer's right; `hair` (2,) yaw and roll in degrees by
    which the ends of the hair trail the head; `torso` (2,) yaw and roll in degrees of the shoulders;
    `tongue` (3,) 0..1 tip up, back up and low."""

    units: F32
    head: F32
    gaze: F32
    body: F32
    hair: F32
    torso: F32
    tongue: F32

    def plus(self, other: "Motion", share: float) -> "Motion":
        """This motion with `share` of `other` added."""
        weight = np.float32(share)
        return Motion(
            (self.units + weight * other.units).astype(np.float32),
            (self.head + weight * other.head).astype(np.float32),
            (self.gaze + weight * other.gaze).astype(np.float32),
            (self.body + weight * other.body).astype(np.float32),
            (self.hair + weight * other.hair).astype(np.float32),
            (self.torso + weight * other.torso).astype(np.float32),
            (self.tongue + weight * other.tongue).astype(np.float32),
        )


def still() -> Motion:
    """The face at rest, straight ahead."""
    units, head = np.zeros(UNIT_COUNT, np.float32), np.zeros(3, np.float32)
    gaze, body, hair, torso = np.zeros((4, 2), np.float32)
    return Motion(units, head, gaze, body, hair, torso, np.zeros(3, np.float32))
