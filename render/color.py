"""Colour, declared once: the matrix that makes the picture and the codes that the stream carries about it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_HD_SIDE_PX = 720

_BT709 = 1
_SMPTE170M = 6
_LIMITED = 1

_LUMA_STEPS = 219
_CHROMA_STEPS = 224
_FULL_STEPS = 255


@dataclass(frozen=True, slots=True)
class ColorSpace:
    """How R'G'B' in 0..255 becomes limited-range Y'CbCr, and how a stream says so.

    `kr` and `kb` are the luma shares of red and blue. `primaries`, `transfer` and `matrix` are the codes of
    ITU-T H.273, as written into the VUI; `range` is FFmpeg's code, 1 for limited.
    """

    name: str
    kr: Fraction
    kb: Fraction
    primaries: int
    transfer: int
    matrix: int
    range: int = _LIMITED

    def coefficients(self) -> NDArray[np.float64]:
        """(3, 4) float64: rows Y, Cb, Cr; columns R, G, B and the offset, in 8-bit steps."""
        kr, kb = self.kr, self.kb
        kg = 1 - kr - kb
        luma = Fraction(_LUMA_STEPS, _FULL_STEPS)
        cb = Fraction(_CHROMA_STEPS, _FULL_STEPS) / (2 * (1 - kb))
        cr = Fraction(_CHROMA_STEPS, _FULL_STEPS) / (2 * (1 - kr))
        rows = (
            (kr * luma, kg * luma, kb * luma, 16),
            (-kr * cb, -kg * cb, (1 - kb) * cb, 128),
            ((1 - kr) * cr, -kg * cr, -kb * cr, 128),
        )
        return np.array([[float(value) for value in row] for row in rows])


BT709 = ColorSpace("bt709", Fraction(2126, 10_000), Fraction(722, 10_000), _BT709, _BT709, _BT709)
"""Matrix of HD pictures."""
BT601 = ColorSpace("bt601", Fraction(299, 1000), Fraction(114, 1000), _BT709, _BT709, _SMPTE170M)
"""Matrix of smaller pictures. Primaries and transfer stay those of sRGB plates: only the matrix differs."""


def color_space(width: int, height: int) -> ColorSpace:
    """BT.709 when the shorter side has at least 720 pixels, else BT.601: what players assume without tags."""
    return BT709 if min(width, height) >= _HD_SIDE_PX else BT601


def to_yuv(rgb: NDArray[np.float64], color: ColorSpace) -> NDArray[np.float64]:
    """Exact Y'CbCr (..., 3) of `rgb` (..., 3) in 0..255, not rounded: the reference for every kernel."""
    table = color.coefficients()
    return rgb @ table[:, :3].T + table[:, 3]


def to_rgb(yuv: NDArray[np.float64], color: ColorSpace) -> NDArray[np.float64]:
    """The inverse of `to_yuv`, neither rounded nor clipped."""
    table = color.coefficients()
    return (yuv - table[:, 3]) @ np.linalg.inv(table[:, :3]).T
