"""How much one viewer's way can carry, from what its receiver reports."""

from dataclasses import dataclass

FLOOR_BPS = 400_000
"""Below this a face is not worth showing: the viewer loses pictures instead."""
_LOSS_HIGH = 0.10
_LOSS_LOW = 0.02
_RISE = 1.05
_STEP = 0.10


@dataclass(slots=True)
class Estimate:
    """Falls with loss and with the receiver's own ceiling; rises slowly to `nominal_bps` without them."""

    nominal_bps: int
    bps: int = 0

    def __post_init__(self) -> None:
        self.bps = self.nominal_bps

    def lost(self, fraction: float) -> None:
        """A receiver report: `fraction` of the packets since the last one did not arrive."""
        if fraction > _LOSS_HIGH:
            self._set(self.bps * (1 - fraction / 2))
        elif fraction < _LOSS_LOW:
            self._set(self.bps * _RISE)

    def ceiling(self, receiver_bps: int, sent_bps: int) -> None:
        """The receiver's estimate. It says nothing while it lies above what is sent: a calm picture needs few
        bits, and the receiver can only judge what it sees.
        """
        if receiver_bps < sent_bps:
            self._set(min(self.bps, receiver_bps))

    def _set(self, bps: float) -> None:
        self.bps = max(min(FLOOR_BPS, self.nominal_bps), min(self.nominal_bps, int(bps)))


def nominal_bps(width: int, height: int) -> int:
    """What a talking head of this size looks right at."""
    return 1_000_000 + width * height * 33 // 20


def worth_changing(current_bps: int, wanted_bps: int) -> bool:
    """Small steps are not worth an encoder's attention."""
    return abs(wanted_bps - current_bps) > current_bps * _STEP
