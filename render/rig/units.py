"""The 52 face units of a rig, in the order that every unit vector keeps, and how to write weights for
them."""

import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite

UNITS = (
    "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight",
    "cheekPuff", "cheekSquintLeft", "cheekSquintRight",
    "eyeBlinkLeft", "eyeBlinkRight", "eyeLookDownLeft", "eyeLookDownRight", "eyeLookInLeft", "eyeLookInRight",
    "eyeLookOutLeft", "eyeLookOutRight", "eyeLookUpLeft", "eyeLookUpRight", "eyeSquintLeft", "eyeSquintRight",
    "eyeWideLeft", "eyeWideRight",
    "jawForward", "jawLeft", "jawOpen", "jawRight",
    "mouthClose", "mouthDimpleLeft", "mouthDimpleRight", "mouthFrownLeft", "mouthFrownRight", "mouthFunnel",
    "mouthLeft", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthPressLeft", "mouthPressRight",
    "mouthPucker", "mouthRight", "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
    "mouthSmileLeft", "mouthSmileRight", "mouthStretchLeft", "mouthStretchRight",
    "mouthUpperUpLeft", "mouthUpperUpRight",
    "noseSneerLeft", "noseSneerRight", "tongueOut",
)  # fmt: skip
UNIT_COUNT = len(UNITS)
BLINK_LEFT = UNITS.index("eyeBlinkLeft")
BLINK_RIGHT = UNITS.index("eyeBlinkRight")

_PARTING = np.zeros(UNIT_COUNT, np.float32)
_PARTING[UNITS.index("jawOpen")] = 6.0
for _unit in ("mouthLowerDownLeft", "mouthLowerDownRight", "mouthUpperUpLeft", "mouthUpperUpRight"):
    _PARTING[UNITS.index(_unit)] = 1.5
"""How much of each unit parts the lips for good."""


def parting(units: NDArray[np.float32]) -> float:
    """How far `units` (52,) have parted the lips on their way from shut, 0, to surely open, 1."""
    return hermite(float(_PARTING @ units))


def unit_vector(weights: dict[str, float]) -> NDArray[np.float32]:
    """(52,) float32 with `weights` by unit name; a name without its side sets both sides."""
    vector = np.zeros(UNIT_COUNT, np.float32)
    for name, weight in weights.items():
        names = (name,) if name in UNITS else (f"{name}Left", f"{name}Right")
        if not set(names) <= set(UNITS):
            raise ValueError(f"there is no face unit {name!r}; see UNITS")
        for each in names:
            vector[UNITS.index(each)] = weight
    return vector
