"""Numbers of 8 bits: what tests of them share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from visavis.render.ditto.core.conv_twins import largest, saturated
from visavis.render.ditto.core.low_bits import FORMATS, Format

EACH_FORMAT = pytest.mark.parametrize("format", FORMATS)


def unwritten_eight(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Two outputs, filled with what is never written: a NaN, or the one whole number beyond the range."""
    mark = torch.full(shape, 0x7F if dtype.is_floating_point else 0x80, dtype=torch.uint8)
    return mark.clone().view(dtype), mark.clone().view(dtype)


def eight_bits(value: Tensor, format: Format) -> tuple[Tensor, float]:
    """`value` in 8 bits, and the factor that undoes how it was made to fit."""
    dtype = FORMATS[format]
    fit = largest(dtype) / float(value.abs().max())
    return saturated(value * fit, dtype), 1 / fit


def alike_eight(got: Tensor, expected: Tensor, *, rare: float = 0.0) -> None:
    """The same, but for a share `rare` that fell to the other side of a step."""
    assert torch.isfinite(got.float()).all()
    assert float(got.float().abs().max()) <= (448 if got.dtype.is_floating_point else 127)
    off = (got.float() - expected.float()).abs()
    step = expected.float().abs().clamp(min=2**-6) / 7 if got.dtype.is_floating_point else 1.0
    assert bool((off <= step).all())
    assert float((off > 0).float().mean()) <= rare


def exact_casts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton's interpreter casts to floats of 8 bits as the chip does. By itself it drops the carry of what
    is rounded up, and rounds halves up."""
    import triton.language as tl
    from triton.runtime import interpreter

    plain: Callable[..., Any] = interpreter._convert_float

    def convert(given: np.ndarray, source: Any, target: Any, rounding: Any) -> np.ndarray:
        if target is tl.float8e4nv and source is tl.float32:
            values = torch.from_numpy(np.ascontiguousarray(given).view(np.float32))
            return values.to(torch.float8_e4m3fn).view(torch.uint8).numpy()
        return plain(given, source, target, rounding)

    monkeypatch.setattr(interpreter, "_convert_float", convert)
