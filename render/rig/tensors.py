"""What the folder of a rigged avatar holds beside its pictures of the whole: parts, textures and tensors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import AvatarError
from .units import UNITS

Tensor = NDArray[np.generic]

(
    SKIN,
    LEFT_EYE,
    RIGHT_EYE,
    UPPER_TEETH,
    LOWER_TEETH,
    TONGUE,
    CAVITY,
    LASH,
    HAIR_FRONT,
    HAIR_LEFT,
    HAIR_RIGHT,
    BACK_FRONT,
    BACK_LEFT,
    BACK_RIGHT,
) = range(14)
"""Parts of a rig's mesh, as its `parts` tensor numbers them."""
PART_COUNT = 14
INTERIOR = (UPPER_TEETH, LOWER_TEETH, TONGUE, CAVITY)
"""What is seen through an open mouth, coloured by its vertices."""
HAIR = (HAIR_FRONT, HAIR_LEFT, HAIR_RIGHT)
BACK = (BACK_FRONT, BACK_LEFT, BACK_RIGHT)

TEXTURE: Final[Mapping[int, str]] = MappingProxyType(
    {
        SKIN: "skin.webp",
        LEFT_EYE: "eye.webp",
        RIGHT_EYE: "eye.webp",
        LASH: "lash.webp",
        HAIR_FRONT: "hair_front.webp",
        HAIR_LEFT: "hair_left.webp",
        HAIR_RIGHT: "hair_right.webp",
        BACK_FRONT: "back_front.webp",
        BACK_LEFT: "back_left.webp",
        BACK_RIGHT: "back_right.webp",
    }
)
"""The file of each part that is painted with a picture."""
TEXTURES: Final = tuple(dict.fromkeys(TEXTURE.values()))

_SHAPES: Final[Mapping[str, tuple[type[np.generic], tuple[str | int, ...]]]] = MappingProxyType(
    {
        "vertices": (np.float32, ("V", 3)),
        "uv": (np.float32, ("V", 2)),
        "triangles": (np.uint16, ("T", 3)),
        "parts": (np.uint8, ("T",)),
        "color": (np.uint8, ("V", 3)),
        "shade": (np.uint8, ("V",)),
        "head_weight": (np.uint8, ("V",)),
        "shape_start": (np.int32, (len(UNITS) + 1,)),
        "shape_vertex": (np.uint16, ("N",)),
        "shape_delta": (np.int16, ("N", 3)),
        "camera": (np.float32, (4, 3)),
        "lens": (np.float32, (4,)),
        "pivot": (np.float32, (3,)),
        "mouth": (np.float32, (3,)),
        "eyes": (np.float32, (2, 3)),
        "eye_radius": (np.float32, (1,)),
        "view_yaw": (np.float32, (3,)),
        "release": (np.float32, (len(UNITS),)),
    }
)


def check(name: str, units: tuple[str, ...], tensors: Mapping[str, Tensor]) -> None:
    """Raise AvatarError unless avatar `name` moves by our units and every tensor is there, finite, with its
    type and shape, and every index points inside its table."""
    if units != UNITS:
        raise AvatarError(f"avatar {name} has other face units than this version; pack the avatar again")
    sizes = _checked_sizes(name, tensors)
    start = tensors["shape_start"].astype(np.int64)
    inside = (
        int(tensors["triangles"].astype(np.int64).max(initial=0)) < sizes["V"]
        and int(tensors["shape_vertex"].astype(np.int64).max(initial=0)) < sizes["V"]
        and int(tensors["parts"].astype(np.int64).max(initial=0)) < PART_COUNT
        and start[0] == 0
        and start[-1] == sizes["N"]
        and bool((np.diff(start) >= 0).all())
    )
    if not inside:
        raise AvatarError(f"the mesh of avatar {name} points outside itself; pack the avatar again")
    missing = {SKIN, LEFT_EYE, RIGHT_EYE} - set(np.unique(tensors["parts"]).tolist())
    if missing:
        raise AvatarError(f"the mesh of avatar {name} has no skin or no eyes; pack the avatar again")


def _checked_sizes(name: str, tensors: Mapping[str, Tensor]) -> dict[str, int]:
    """The lengths of the free axes, which agree between all tensors."""
    sizes: dict[str, int] = {}
    for key, (kind, shape) in _SHAPES.items():
        tensor = tensors.get(key)
        if tensor is None or tensor.dtype != kind or tensor.ndim != len(shape):
            raise AvatarError(
                f"avatar {name} lacks tensor {key} {shape} {kind.__name__}; pack the avatar again"
            )
        wanted = tuple(
            side if isinstance(side, int) else sizes.setdefault(side, length)
            for side, length in zip(shape, tensor.shape, strict=True)
        )
        if tensor.shape != wanted:
            raise AvatarError(
                f"tensor {key} of avatar {name} is {tensor.shape}, not {wanted}; pack the avatar again"
            )
        if kind is np.float32 and not np.isfinite(tensor.astype(np.float32)).all():
            raise AvatarError(f"tensor {key} of avatar {name} is not all numbers; pack the avatar again")
    return sizes
