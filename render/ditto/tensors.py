"""What the folder of a ditto avatar holds beside its pictures: what the networks saw in the face."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import AvatarError

Tensor = NDArray[np.generic]

APPEARANCE, MOTION, CANONICAL = "appearance", "motion", "canonical"
MATRIX, EYE_OPEN, EYE_BALL = "matrix", "eye_open", "eye_ball"
TEXTURES: Final[tuple[str, ...]] = ()
_SHAPES: Final[Mapping[str, tuple[type[np.floating], tuple[int, ...]]]] = MappingProxyType(
    {
        APPEARANCE: (np.float16, (1, 32, 16, 64, 64)),
        MOTION: (np.float32, (1, 265)),
        CANONICAL: (np.float32, (1, 63)),
        MATRIX: (np.float32, (1, 3, 3)),
        EYE_OPEN: (np.float32, (1, 2)),
        EYE_BALL: (np.float32, (1, 6)),
    }
)
"""A row for each frame: the feature volume, the row of motion and the canonical keypoints of the face as
filmed, where the pixels of the 512 crop lie on the plate, how open the eyes are and where they look."""
_LEAST_AREA = 1e-6


def check(name: str, units: tuple[str, ...], tensors: Mapping[str, Tensor]) -> None:
    """Raise AvatarError unless avatar `name` has exactly these tensors, finite, of their types and shapes,
    and its crop lies somewhere."""
    if units:
        raise AvatarError(f"avatar {name} has face units, which a ditto avatar has not; register it again")
    if strange := tensors.keys() ^ _SHAPES.keys():
        raise AvatarError(
            f"avatar {name} has other tensors than a ditto avatar: {', '.join(sorted(strange))}; "
            "register it again"
        )
    for key, (kind, shape) in _SHAPES.items():
        tensor = tensors[key]
        if tensor.dtype != kind or tensor.shape != shape:
            raise AvatarError(
                f"tensor {key} of avatar {name} is {tensor.dtype} {tensor.shape}, not {kind.__name__} "
                f"{shape}; register it again"
            )
        if not np.isfinite(tensor.astype(np.float32, copy=False)).all():
            raise AvatarError(f"tensor {key} of avatar {name} is not all numbers; register it again")
    matrix = tensors[MATRIX][0].astype(np.float64)
    if abs(np.linalg.det(matrix[:2, :2])) < _LEAST_AREA or matrix[2].tolist() != [0, 0, 1]:
        raise AvatarError(f"the crop of avatar {name} lies nowhere on its plate; register it again")
