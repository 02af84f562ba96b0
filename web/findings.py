"""What `visavis doctor` finds: one thing each, how it stands, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Something works less well, or is missing that is not needed as things are."""
    FAULT = "fault"
    """The server that was asked about cannot run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`about` is the thing, `said` how it is; `advice` is what to do, empty when there is nothing to do."""

    about: str
    level: Level
    said: str
    advice: str = ""


def ok(about: str, said: str) -> Finding:
    return Finding(about, Level.OK, said)


def note(about: str, said: str, advice: str = "") -> Finding:
    return Finding(about, Level.NOTE, said, advice)


def fault(about: str, said: str, advice: str) -> Finding:
    return Finding(about, Level.FAULT, said, advice)


def lacking(about: str, said: str, advice: str, *, needed: bool) -> Finding:
    """A fault where what is lacking is needed, else a note."""
    return fault(about, said, advice) if needed else note(about, said, advice)


def from_error(about: str, error: Exception, *, needed: bool) -> Finding:
    """Of one of our errors, whose message says what is wrong, and after a semicolon or the last colon what to
    do."""
    text = str(error)
    said, _, advice = text.partition("; ") if "; " in text else text.rpartition(": ")
    return lacking(about, said or advice, advice if said else "", needed=needed)
