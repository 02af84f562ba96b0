"""The preview of a packed presenter: what a viewer sees at rest. Needs visavis on the path."""

from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from visavis.render.avatar import load_avatar
from visavis.render.rig.face import Face
from visavis.render.rig.motion import still

U8 = NDArray[np.uint8]

SIZE: Final = (1080, 1920)
CUT: Final = (134, 174, 946, 986)
"""The view that is drawn, and the square of it that is shown: left, top, right, bottom in pixels."""
SIDE = 360


def drawn(folder: Path) -> U8:
    """A square head shot (360, 360, 3) RGB of the presenter in `folder`."""
    avatar = load_avatar(folder)
    face = Face(avatar, SIZE)
    shot = avatar.plate(SIZE).copy()
    x, y, wide, high = face.view.crop
    shot[y : y + high, x : x + wide] = face.draw(still(), face.canvas())
    left, top, right, bottom = CUT
    small = cv2.resize(shot[top:bottom, left:right], (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return small.astype(np.uint8, copy=False)


def write_preview(path: Path, shot: U8) -> None:
    """Write an RGB picture as PNG."""
    cv2.imwrite(str(path), shot[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
