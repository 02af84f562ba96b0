"""The picture of an eye: iris, pupil and white as they are without light."""

import cv2
import numpy as np
from numpy.typing import NDArray

from .cast import Cast
from .looks import LOOKS, EyeLook, Rgb

F64 = NDArray[np.float64]

SIDE = 512
"""Width and height of the picture in pixels; its half is 90 degrees about the eye's axis."""
FIBRES = (13, 23, 31, 43, 59, 83)
"""How many waves round the iris make up its fibres."""


def paint(cast: Cast) -> NDArray[np.uint8]:
    """Albedo of one eye, (512, 512, 4) RGBA without any light.

    The picture's centre is the pupil; a direction at an angle to the eye's axis lies at the radius
    0.5 * angle / 90 degrees of the width (equidistant).
    """
    look = LOOKS[cast.name].eye
    row, column = (np.mgrid[0:SIDE, 0:SIDE] + 0.5) / SIDE * 2 - 1
    degrees, turn = np.hypot(column, row) * 90, np.arctan2(-row, column)
    rng = np.random.default_rng(look.seed)
    share = _soft(look.iris + 2.2, look.iris - 2.6, degrees)[..., None]
    color = _white(look, degrees, rng) * (1 - share) + _iris(look, degrees, turn, rng) * share
    alpha = np.full((SIDE, SIDE, 1), 255.0)
    return np.concatenate([np.clip(color, 0, 255), alpha], -1).round().astype(np.uint8)


def _iris(look: EyeLook, degrees: F64, turn: F64, rng: np.random.Generator) -> F64:
    span = (degrees - look.pupil) / (look.iris - look.pupil)
    fibre = _fibres(turn, span, rng)
    color = _blend(look.outer, look.inner, _soft(0.62, 0.12, span) * (0.55 + 0.45 * fibre))
    color *= (0.48 + 0.86 * fibre)[..., None]
    collar = np.exp(-(((span - 0.30 - 0.05 * np.sin(turn * 9 + 2)) / 0.07) ** 2))
    color *= (1 + 0.22 * collar * fibre)[..., None]
    color = _fade(color, look.ring, 0.92 * _soft(0.66, 0.98, span + 0.05 * (fibre - 0.5)))
    color = _fade(color, look.ring, 0.45 * _soft(0.16, 0.0, span))
    pupil = _soft(look.pupil + 0.7, look.pupil - 0.5, degrees + 0.25 * np.sin(turn * 17))
    return _fade(color, (6, 5, 5), pupil)


def _fibres(turn: F64, span: F64, rng: np.random.Generator) -> F64:
    """Threads that run from the pupil outward, 0..1."""
    total = np.zeros_like(turn)
    for waves in FIBRES:
        phase, bend, twist = rng.random() * 6.28, rng.random() * 6.28, rng.normal(0, 1.2)
        total += np.sin(turn * waves + phase + 1.8 * np.sin(turn * (waves // 6) + bend) + twist * span)
    grain = cv2.GaussianBlur(rng.normal(0, 1, turn.shape).astype(np.float32), (0, 0), 1.4)
    return np.clip(0.5 + 0.17 * total + 0.9 * grain, 0, 1)


def _white(look: EyeLook, degrees: F64, rng: np.random.Generator) -> F64:
    """The white: a trace of blue near the iris, warmer and with thin vessels towards the corners."""
    far = _soft(33, 64, degrees)
    color = np.broadcast_to(np.asarray(look.white, float), (*degrees.shape, 3)).copy()
    color *= 1 - far[..., None] * np.array([0.08, 0.19, 0.18])
    noise = [cv2.GaussianBlur(rng.normal(0, 1, degrees.shape).astype(np.float32), (0, 0), s) for s in (7, 16)]
    vessel = np.zeros_like(degrees)
    for field in noise:
        vessel += np.exp(-((field / field.std() / 0.07) ** 2))
    vessel = cv2.GaussianBlur(vessel * _soft(34, 56, degrees), (0, 0), 1.2)
    return color * (1 - vessel[..., None] * np.array([0.03, 0.17, 0.16]))


def _blend(first: Rgb, second: Rgb, share: F64) -> F64:
    return (
        np.asarray(first, float) + (np.asarray(second, float) - np.asarray(first, float)) * share[..., None]
    )


def _fade(color: F64, target: Rgb, share: F64) -> F64:
    return color + (np.asarray(target, float) - color) * share[..., None]


def _soft(low: float, high: float, x: F64) -> F64:
    """0 at `low`, 1 at `high`, smoothly between."""
    share = np.clip((x - low) / (high - low), 0, 1)
    return share * share * (3 - 2 * share)
