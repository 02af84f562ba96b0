"""How a clip of known length fades in and out, as the reference does it. What a session does at the edges of
speech is another matter."""


def share(frame: int, frames: int, *, into: int = 0, out: int = 0) -> float | None:
    """The driver's share in `frame` of a clip of `frames`: it grows from 0 over the first `into` frames and
    falls to 0 over the last `out` and the one before them. None where nothing fades."""
    if out > 0 and frames - 1 - out <= frame < frames:
        return (frames - 1 - frame) / out
    return frame / into if 0 <= frame < into else None
