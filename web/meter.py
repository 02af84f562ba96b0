"""The progress line of `visavis say`: what plays, how far, how much waits, how loud it is."""

from math import log10
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..stream.clock import NS_PER_MS

_BAR = 24
_FULL_DB = 60.0


class Meter:
    """One line that is redrawn on a terminal; elsewhere only notes are printed. `now_ns` is monotonic."""

    def __init__(self, out: TextIO) -> None:
        self._console = Console(file=out, highlight=False)
        self._live = Live(console=self._console, refresh_per_second=10, transient=True)
        self._shows = self._console.is_terminal
        self._title = ""
        self._began_ns: int | None = None
        self._total_ms: int | None = None
        self._queued_ms = 0
        self._level = 0.0

    def __enter__(self) -> Self:
        if self._shows:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shows:
            self._live.stop()

    def note(self, text: str) -> None:
        """A line that stays."""
        self._console.print(Text(text), soft_wrap=True)

    def expect(self, seconds: float | None) -> None:
        self._total_ms = None if seconds is None else round(seconds * 1000)

    def started(self, title: str, now_ns: int) -> None:
        self._title = title
        self._began_ns = now_ns

    def finished(self) -> None:
        self._began_ns = None

    def queued(self, queued_ms: int) -> None:
        self._queued_ms = queued_ms

    def level(self, level: float) -> None:
        """Loudness of what is sent, 0 to 1."""
        self._level = level

    def draw(self, now_ns: int) -> None:
        if self._shows:
            self._live.update(Text(self.line(now_ns)))

    def line(self, now_ns: int) -> str:
        """What the line says now."""
        parts = [level_bar(self._level)]
        if self._began_ns is not None:
            played_ms = (now_ns - self._began_ns) // NS_PER_MS
            total = f" of {self._total_ms / 1000:.1f}" if self._total_ms else ""
            parts.append(f"{self._title} {played_ms / 1000:.1f}{total} s")
        if self._queued_ms:
            parts.append(f"{self._queued_ms / 1000:.0f} s wait")
        return "  ".join(parts)


def level_bar(level: float) -> str:
    """Loudness as a bar of fixed width, over 60 dB."""
    filled = 0
    if level > 0:
        from_bottom_db = _FULL_DB + 20 * log10(level)
        filled = max(0, min(_BAR, round(_BAR * from_bottom_db / _FULL_DB)))
    return "█" * filled + "·" * (_BAR - filled)
