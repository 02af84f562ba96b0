"""Draw the small set of presenters' pictures that the tests compare with.

    python scripts/face_pictures.py [NAME ...]

Look at the pictures before they are committed: what they show becomes what is right.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from visavis.render.avatar import Avatar, find_avatar, presenters
from visavis.render.rig.expression import EMOTIONS
from visavis.render.rig.face import Face
from visavis.render.rig.lips import SHAPES
from visavis.render.rig.motion import Motion, still
from visavis.render.rig.units import unit_vector

U8 = NDArray[np.uint8]

FOLDER: Final = Path(__file__).parents[1] / "tests" / "assets" / "faces"
SIZE, SIDE = (512, 512), 256
LOSSLESS: Final = 101
"""WebP beyond its best quality."""
HEAD_PX = 384
"""Side of the square about the head that a picture shows, in pixels of SIZE."""


def poses() -> dict[str, Motion]:
    """What the pictures show: rest, an open vowel, teeth, half a blink and a look aside, turned heads."""
    return {
        "rest": still(),
        "aa": _said("aa", _moved(SHAPES["aa"].units)),
        "ss": _said("ss", _moved(SHAPES["ss"].units, head=(4, 2, 1), hair=(2, 1))),
        "blink": replace(_moved({"eyeBlink": 0.5}), gaze=np.array([0.7, 0.2], np.float32)),
        "left": replace(_moved({}, head=(-18, 6, -3)), units=EMOTIONS["happy"]),
        "right": replace(_moved({}, head=(16, -8, 3)), units=EMOTIONS["surprised"]),
    }


def strip(avatar: Avatar) -> U8:
    """All poses side by side, (SIDE, 6 SIDE, 3) RGB."""
    face = Face(avatar, SIZE)
    left, top = _corner(avatar, face)
    cells: list[U8] = []
    for motion in poses().values():
        pixels = face.draw(motion, face.canvas())[top : top + HEAD_PX, left : left + HEAD_PX]
        cells.append(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.uint8))
    return np.hstack(cells)


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.webp"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or presenters():
        path = path_of(name)
        cv2.imwrite(str(path), strip(find_avatar(name))[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, LOSSLESS])
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def _corner(avatar: Avatar, face: Face) -> tuple[int, int]:
    """Where the square about the head begins in the crop: the mouth lies in its middle, low."""
    camera, mouth = (avatar.tensors[key].astype(np.float32) for key in ("camera", "mouth"))
    focal, *center = avatar.tensors["lens"].astype(np.float32)[:3]
    ray = mouth - camera[0]
    master = np.array(center) + np.array([ray @ camera[1], -(ray @ camera[2])]) / (ray @ camera[3]) * focal
    x, y = (master - face.view.origin) * face.view.scale - face.view.crop[:2]
    _, _, width, height = face.view.crop
    left = int(np.clip(round(float(x)) - HEAD_PX // 2, 0, width - HEAD_PX))
    return left, int(np.clip(round(float(y)) - HEAD_PX * 2 // 3, 0, height - HEAD_PX))


def _said(sound: str, motion: Motion) -> Motion:
    return replace(motion, tongue=np.array(SHAPES[sound].tongue, np.float32))


def _moved(
    units: dict[str, float],
    *,
    head: tuple[float, float, float] = (0, 0, 0),
    hair: tuple[float, float] = (0, 0),
) -> Motion:
    turned, trailing = np.array(head, np.float32), np.array(hair, np.float32)
    return replace(still(), units=unit_vector(units), head=turned, hair=trailing)


if __name__ == "__main__":
    main()
