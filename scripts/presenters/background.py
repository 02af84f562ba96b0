"""The room behind a presenter, out of focus: painted in linear light, no photograph."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
Color = tuple[int, int, int]

AREA: Final = (-400, 0, 2000, 1920)
"""Left, top, right and bottom of what is painted, in master pixels."""
GAMMA = 2.2


@dataclass(frozen=True, slots=True)
class Mood:
    """Colours (sRGB) of one room: wall from `dark` to `light`, the `window` and what glows beyond it, the
    warm `lamp`, `books` on a shelf, `leaves` of a plant, small `lights`; `window_left` says where the window
    is."""

    dark: Color
    light: Color
    window: Color
    lamp: Color
    books: tuple[Color, ...]
    leaves: Color
    lights: tuple[Color, ...]
    window_left: bool
    seed: int


MOODS: Final[Mapping[str, Mood]] = MappingProxyType(
    {
        "ruby": Mood(
            dark=(28, 44, 68),
            light=(112, 96, 108),
            window=(108, 146, 196),
            lamp=(255, 204, 150),
            books=((150, 110, 96), (58, 88, 128), (176, 152, 130), (84, 66, 84), (120, 132, 150)),
            leaves=(44, 70, 66),
            lights=((255, 214, 168), (150, 196, 238), (255, 236, 214)),
            window_left=True,
            seed=4,
        ),
        "marcus": Mood(
            dark=(24, 40, 42),
            light=(58, 96, 92),
            window=(92, 150, 146),
            lamp=(255, 190, 120),
            books=((124, 86, 58), (40, 84, 84), (150, 126, 92), (60, 52, 46), (88, 116, 108)),
            leaves=(30, 62, 46),
            lights=((255, 196, 130), (126, 208, 194), (255, 228, 194)),
            window_left=False,
            seed=9,
        ),
    }
)


def paint(name: str) -> F32:
    """The room of presenter `name` over `AREA`, (H, W, 3) RGB in 0..255, without a trace of steps."""
    mood = MOODS[name]
    chance = np.random.default_rng(mood.seed)
    left, top, right, bottom = AREA
    size = (right - left, bottom - top)
    room = _wall(mood, size)
    room = _over(room, _shelves(mood, size, chance), 17)
    room += _blurred(_window(mood, size, chance), 26)
    room = _over(room, _plant(mood, size, chance), 20)
    room += _lamp(mood, size)
    room += _bokeh(mood, size, chance)
    room *= _vignette(size)
    return (np.clip(room, 0, 1) ** (1 / GAMMA) * 255).astype(np.float32)


def _linear(color: Color) -> F32:
    return ((np.array(color, np.float32) / 255) ** GAMMA).astype(np.float32)


def _grid(size: tuple[int, int]) -> tuple[F32, F32]:
    """Columns and rows (1, W) and (H, 1) as shares of the picture."""
    width, height = size
    return (
        np.linspace(0, 1, width, dtype=np.float32)[None],
        np.linspace(0, 1, height, dtype=np.float32)[:, None],
    )


def _blurred(layer: F32, sigma: float) -> F32:
    """A Gaussian blur; wide ones are made on a smaller picture."""
    step = max(1, int(sigma // 6))
    small = cv2.resize(layer, None, fx=1 / step, fy=1 / step, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return cv2.resize(small, layer.shape[1::-1], interpolation=cv2.INTER_CUBIC).astype(np.float32)


def _over(room: F32, layer: F32, sigma: float) -> F32:
    """`layer` (H, W, 4), colour times alpha and alpha, laid over the room out of focus."""
    soft = _blurred(layer, sigma)
    return (room * (1 - np.clip(soft[..., 3:], 0, 1)) + soft[..., :3]).astype(np.float32)


def _wall(mood: Mood, size: tuple[int, int]) -> F32:
    u, v = _grid(size)
    side = u if mood.window_left else 1 - u
    share = np.clip(0.75 * side + 0.20 - 0.35 * np.abs(v - 0.30), 0, 1)
    share = (share * share * (3 - 2 * share))[..., None]
    wall = _linear(mood.dark) * (1 - share) + _linear(mood.light) * share
    floor = np.clip((v - 0.46) / 0.25, 0, 1)[..., None]
    return (wall * (1 - 0.5 * floor)).astype(np.float32)


def _shelves(mood: Mood, size: tuple[int, int], chance: np.random.Generator) -> F32:
    """Three boards with books and boxes on the side away from the window."""
    width, height = size
    layer = np.zeros((height, width, 4), np.float32)
    first, last = (0.60, 1.02) if mood.window_left else (-0.02, 0.40)
    for board in (0.175, 0.315, 0.455):
        y = int(board * height)
        wood = (*(_linear(mood.lamp) * 0.10 + _linear(mood.dark) * 0.5).tolist(), 1.0)
        cv2.rectangle(layer, (int(first * width), y), (int(last * width), y + 15), wood, -1)
        x = first * width + 12
        while x < last * width - 60:
            wide, tall = chance.uniform(18, 62), chance.uniform(70, 165)
            if chance.random() < 0.72:
                tone = _linear(mood.books[chance.integers(len(mood.books))]) * chance.uniform(0.35, 0.8)
                cv2.rectangle(layer, (int(x), int(y - tall)), (int(x + wide), y), (*tone.tolist(), 0.92), -1)
            x += wide + chance.uniform(0, 16)
    return layer


def _window(mood: Mood, size: tuple[int, int], chance: np.random.Generator) -> F32:
    """Tall panes, brighter below the sky line, with blurred lit windows of a far street."""
    width, height = size
    layer = np.zeros((height, width, 3), np.float32)
    start = 0.02 if mood.window_left else 0.58
    for pane in range(3):
        x0 = int((start + pane * 0.135) * width)
        x1, y0, y1 = x0 + int(0.118 * width), int(0.03 * height), int(0.50 * height)
        rows = np.linspace(0, 1, y1 - y0, dtype=np.float32)[:, None, None]
        glow = _linear(mood.window) * (0.30 + 0.42 * np.exp(-(((rows - 0.62) / 0.30) ** 2)))
        layer[y0:y1, x0:x1] = glow
        for _ in range(26):
            x, y = (
                chance.integers(x0, x1 - 10),
                int(y0 + (y1 - y0) * np.clip(chance.normal(0.68, 0.12), 0, 0.96)),
            )
            tone = _linear(mood.lights[chance.integers(3)]) * chance.uniform(0.5, 2.4)
            cv2.rectangle(layer, (int(x), y), (int(x + chance.integers(5, 14)), y + 16), tone.tolist(), -1)
    return layer


def _plant(mood: Mood, size: tuple[int, int], chance: np.random.Generator) -> F32:
    """Long leaves that rise from a pot beside the window."""
    width, height = size
    layer = np.zeros((height, width, 4), np.float32)
    x0, y0 = (0.44 if mood.window_left else 0.53) * width, 0.56 * height
    x0 += (-0.24 if mood.window_left else 0.24) * width
    for _ in range(46):
        angle, long = chance.normal(0, 0.55), chance.uniform(170, 470)
        t = np.linspace(0, 1, 12)
        x = x0 + long * (np.sin(angle) * t + 0.35 * np.sin(angle) * t**2)
        y = y0 - long * (np.cos(angle) * t - 0.30 * abs(angle) * t**2)
        tone = (*(_linear(mood.leaves) * chance.uniform(0.5, 1.9)).tolist(), 0.9)
        wide = chance.uniform(10, 26)
        for k in range(11):
            thick = max(1, int(wide * np.sin(np.pi * (0.12 + 0.85 * t[k]))))
            cv2.line(layer, (int(x[k]), int(y[k])), (int(x[k + 1]), int(y[k + 1])), tone, thick)
    return layer


def _lamp(mood: Mood, size: tuple[int, int]) -> F32:
    """A standing lamp's shade, the light that it throws on the wall, and two spots in the ceiling."""
    u, v = _grid(size)
    width, height = size
    x = 0.80 if mood.window_left else 0.20
    warm = _linear(mood.lamp)
    halo = 0.34 * np.exp(-(((u - x) / 0.17) ** 2) - ((v - 0.27) / 0.20) ** 2)
    shade = np.zeros((height, width), np.float32)
    cx, cy = x * width, 0.245 * height
    outline = np.array([(cx - 62, cy - 58), (cx + 62, cy - 58), (cx + 96, cy + 62), (cx - 96, cy + 62)])
    cv2.fillConvexPoly(shade, np.round(outline).astype(np.int32), 0.95)
    for spot in (0.30, 0.50, 0.70):
        cv2.ellipse(shade, (int(spot * width), int(0.035 * height)), (64, 11), 0, 0, 360, 0.30, -1)
    light = halo + _blurred(shade, 22)
    return (light[..., None] * warm).astype(np.float32)


def _bokeh(mood: Mood, size: tuple[int, int], chance: np.random.Generator) -> F32:
    """Discs of far lights, gathered along the window's sky line."""
    width, height = size
    layer = np.zeros((height, width, 3), np.float32)
    side = -1 if mood.window_left else 1
    for k in range(44):
        x = chance.normal(0.5 + side * 0.25, 0.12) * width
        y = chance.normal(0.335, 0.05) * height
        radius = float(chance.choice([12, 17, 23, 30])) * chance.uniform(0.85, 1.15)
        power = chance.uniform(0.05, 0.24) * (18 / radius) ** 0.7
        tone = _linear(mood.lights[k % 3]) * power
        box = int(radius + 6)
        x0, y0 = int(x) - box, int(y) - box
        if x0 < 0 or y0 < 0 or x0 + 2 * box >= width or y0 + 2 * box >= height:
            continue
        spot_y, spot_x = np.mgrid[y0 : y0 + 2 * box, x0 : x0 + 2 * box]
        distance = np.hypot(spot_x - x, spot_y - y)
        disc = np.clip((radius - distance) / 3.5 + 0.5, 0, 1)
        disc = disc * (0.8 + 0.3 * np.clip(distance / radius, 0, 1) ** 4)
        layer[y0 : y0 + 2 * box, x0 : x0 + 2 * box] += disc[..., None].astype(np.float32) * tone
    return cv2.GaussianBlur(layer, (0, 0), 1.8).astype(np.float32)


def _vignette(size: tuple[int, int]) -> F32:
    u, v = _grid(size)
    far = np.clip(((u - 0.5) / 0.72) ** 2 + ((v - 0.36) / 0.80) ** 2, 0, 1)
    return (1 - 0.45 * far)[..., None].astype(np.float32)
