"""Which convolutions of the decoder read 8 bits instead of 16, and how what they read is scaled to fit.

Both formats run at the same rate. Floats of 8 bits hold three bits after the first, large and small numbers
alike; whole numbers have even steps, and their sums are exact. `calibration` makes plans.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias
from uuid import uuid4

import msgspec
import torch
from torch import Tensor

from .conv_twins import rounded
from .layers import Layer, channels_last

Format: TypeAlias = Literal["e4m3", "int8"]
FORMATS: Final[Mapping[Format, torch.dtype]] = MappingProxyType(
    {"e4m3": torch.float8_e4m3fn, "int8": torch.int8}
)
LayerMaker: TypeAlias = Callable[[str, Tensor, Tensor], Layer]
"""Of a name, a `weight` (O, I, h, w) float32 and a `bias`."""
_LAYOUT: Final = 1
"""Of the files that are kept: another one is not read."""


@dataclass(frozen=True, slots=True)
class LowBits:
    """`fits` by the official names of the convolutions that read 8 bits of `format`: what such a one reads is
    multiplied by its fit. All others read as many bits as they did."""

    format: Format = "e4m3"
    fits: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def maker(self, block: str, dtype: torch.dtype) -> LayerMaker:
        """Makes the layers of `block`, in `dtype` where the plan does not name them."""
        return partial(self._layer, block, dtype)

    def _layer(self, block: str, dtype: torch.dtype, name: str, weight: Tensor, bias: Tensor) -> Layer:
        fit = self.fits.get(f"{block}.{name}")
        if fit is None:
            return Layer(channels_last(weight, dtype), bias)
        fitted, factors = rounded(weight, FORMATS[self.format])
        return Layer(fitted, bias, fit=fit, undo=factors / fit)


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    """A plan's file. `weights` is the digest of those that it was made for."""

    layout: int
    weights: str
    format: Format
    fits: dict[str, Annotated[float, msgspec.Meta(gt=0)]]


def path_beside(weights: Path, format: Format) -> Path:
    """Where the plan for the file `weights` of the decoder is kept."""
    return weights.with_suffix(f".{format}.json")


def keep(plan: LowBits, path: Path, weights: str) -> None:
    """Write `path` whole or not at all. `weights` is the decoder's digest, as `provenance.digest_of` gives
    it. Raises OSError."""
    content = _Kept(_LAYOUT, weights, plan.format, dict(sorted(plan.fits.items())))
    draft = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def kept(path: Path, weights: str) -> LowBits | None:
    """The plan in `path`; None where there is none, or one for other weights, or a damaged one."""
    try:
        content = msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
    if (content.layout, content.weights) != (_LAYOUT, weights):
        return None
    return LowBits(content.format, MappingProxyType(content.fits))
