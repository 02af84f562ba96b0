"""The release gate: the sound of tick n leaves with the picture of tick n, or with the last one there was."""

from collections import deque
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from .media import TickAudio

PictureT = TypeVar("PictureT")


@dataclass(frozen=True, slots=True)
class Released(Generic[PictureT]):
    """What leaves at one tick. `picture` is None when it was not drawn in time and the last one must be
    repeated.
    """

    audio: TickAudio
    picture: PictureT | None


class Gate(Generic[PictureT]):
    """Holds heard ticks and drawn pictures from `next` on, the first tick that has not left."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._audio: deque[TickAudio] = deque()
        self._pictures: dict[int, PictureT] = {}

    @property
    def heard(self) -> int:
        """The first tick whose sound is not here yet."""
        return self.next + len(self._audio)

    @property
    def waiting(self) -> int:
        """Pictures drawn and not yet left."""
        return len(self._pictures)

    def has_picture(self) -> bool:
        """True when the next tick can leave with a picture of its own."""
        return self.next in self._pictures

    def audio_at(self, index: int) -> TickAudio:
        """The sound of tick `index`, which must lie in `next .. heard - 1`."""
        return self._audio[index - self.next]

    def put_audio(self, audio: TickAudio) -> None:
        """Append the sound of tick `heard`."""
        if audio.index != self.heard:
            raise ValueError(f"tick {audio.index} does not follow {self.heard - 1}")
        self._audio.append(audio)

    def put_picture(self, index: int, picture: PictureT) -> bool:
        """Hold the picture of tick `index`; False when its tick has left already, so that it is not kept."""
        if index < self.next:
            return False
        self._pictures[index] = picture
        return True

    def release(self) -> Released[PictureT]:
        """Let tick `next` leave. Its sound must be here."""
        released = Released(self._audio.popleft(), self._pictures.pop(self.next, None))
        self.next += 1
        return released

    def drop(self) -> list[PictureT]:
        """Forget everything that has not left; gives back the pictures."""
        self._audio.clear()
        return self.drop_pictures()

    def drop_pictures(self) -> list[PictureT]:
        pictures = list(self._pictures.values())
        self._pictures.clear()
        return pictures

    def skip_to(self, index: int) -> list[PictureT]:
        """Move the next tick to `index`, later than now, with all sound that has not left; gives back the
        pictures.
        """
        shift = index - self.next
        self._audio = deque(replace(audio, index=audio.index + shift) for audio in self._audio)
        self.next = index
        return self.drop_pictures()
