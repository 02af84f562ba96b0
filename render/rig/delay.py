"""The delay of engine `rig`. Needs none of what draws: whoever asks must not wait for a compiler."""

from fractions import Fraction
from typing import Final

from ...stream.clock import FEATURE_HOP, FEATURE_HZ, Rate
from ...stream.stage import StageSpec
from . import viseme
from .performer import DELAY_TICKS

SPEC: Final = StageSpec(
    rate=Rate(Fraction(FEATURE_HZ)),
    window=viseme.NET_ROWS * viseme.HOP_SAMPLES,
    hop=FEATURE_HOP,
    lookahead=DELAY_TICKS * FEATURE_HOP,
)
"""In samples at 16 kHz; a tick's sound is heard whole."""
