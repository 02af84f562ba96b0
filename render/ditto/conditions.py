"""What the motion model is told of each frame: sound, emotion, eyes and the face's canonical keypoints.

A row is (1103,): audio 1024, emotion 8, eye openness 2, eye-ball movement 6, canonical keypoints 63.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

import torch
from torch import Tensor

from .motion import KEYPOINTS, WIDTH, Source

AUDIO_WIDTH: Final = 1024
EMOTIONS: Final = ("angry", "disgust", "fear", "happy", "neutral", "sad", "surprise", "contempt")
NEUTRAL: Final = EMOTIONS.index("neutral")
_SHARPNESS = 8.0
EYE_OPEN_WIDTH, EYE_BALL_WIDTH, CANONICAL_WIDTH = 2, 6, 3 * KEYPOINTS

Emotion: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Tensor
"""One label; several that mix; a sequence of mixtures, one a frame; or a sequence (m, 8) as it is."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which of the parts after the audio a model was trained with. The official one uses all."""

    emotion: bool = True
    eye_open: bool = True
    eye_ball: bool = True
    canonical: bool = True

    @property
    def width(self) -> int:
        """Columns of a row."""
        return (
            AUDIO_WIDTH
            + self.emotion * len(EMOTIONS)
            + self.eye_open * EYE_OPEN_WIDTH
            + self.eye_ball * EYE_BALL_WIDTH
            + self.canonical * CANONICAL_WIDTH
        )


@dataclass(frozen=True, slots=True)
class Character:
    """The face that the motion model believes to move: the avatar's, or another that a configuration brings.

    `eye_open` (N, 2) and `eye_ball` (N, 6) of its frames, `canonical` (63,) of the first, `start` (265,) the
    row of motion that the first window goes on from.
    """

    eye_open: Tensor
    eye_ball: Tensor
    canonical: Tensor
    start: Tensor

    @classmethod
    def from_source(cls, source: Source, eye_open: Tensor, eye_ball: Tensor, *, canonical: Tensor) -> Self:
        """Of the frames of a picture or video: `source` with one leading dimension N, smoothed; `canonical`
        (63,) from before smoothing."""
        return cls(eye_open, eye_ball, canonical, source.motion.at(0).to_rows())


@dataclass(frozen=True, slots=True)
class ConditionState:
    """Where the rows of B slots come from, written in place.

    `emotion` (B, M, 8), of which the first `emotions` (B,) int64 are in use; `eye_open` (B, N, 2) and
    `eye_ball` (B, N, 6), of which the first `eyes` (B,); `canonical` (B, 63); `start` (B, 265).
    """

    emotion: Tensor
    emotions: Tensor
    eye_open: Tensor
    eye_ball: Tensor
    eyes: Tensor
    canonical: Tensor
    start: Tensor

    @classmethod
    def init(
        cls,
        slots: int,
        *,
        eye_frames: int = 1,
        emotion_frames: int = 1,
        device: torch.device | str = "cpu",
    ) -> Self:
        """Neutral faces with the room for `eye_frames` of avatar and `emotion_frames` of emotion."""
        state = cls(
            torch.zeros(slots, emotion_frames, len(EMOTIONS), device=device),
            torch.ones(slots, dtype=torch.int64, device=device),
            torch.zeros(slots, eye_frames, EYE_OPEN_WIDTH, device=device),
            torch.zeros(slots, eye_frames, EYE_BALL_WIDTH, device=device),
            torch.ones(slots, dtype=torch.int64, device=device),
            torch.zeros(slots, CANONICAL_WIDTH, device=device),
            torch.zeros(slots, WIDTH, device=device),
        )
        state.emotion[:] = emotion_vectors(NEUTRAL).to(device)
        return state

    def at(self, slots: Tensor) -> Self:
        """A copy of what `slots` (k,) int64 have."""
        emotions, eyes = self.emotions[slots], self.eyes[slots]
        filmed = slice(int(eyes.max()) if len(slots) else 0)
        return type(self)(
            self.emotion[slots],
            emotions,
            self.eye_open[slots, filmed],
            self.eye_ball[slots, filmed],
            eyes,
            self.canonical[slots],
            self.start[slots],
        )

    def set_emotion(self, slot: int, emotion: Emotion) -> None:
        """The emotion of `slot` from now on. ValueError if it is none, or longer than there is room for."""
        vectors = emotion_vectors(emotion)
        if len(vectors) > self.emotion.shape[1]:
            raise ValueError(f"{len(vectors)} emotions in a row; there is room for {self.emotion.shape[1]}")
        self.emotion[slot, : len(vectors)] = vectors.to(self.emotion)
        self.emotions[slot] = len(vectors)

    def set_character(self, slot: int, character: Character, *, first_eyes: bool = False) -> None:
        """The face of `slot`; `first_eyes` keeps the eyes of its first frame. ValueError without room."""
        eyes = 1 if first_eyes else len(character.eye_open)
        if eyes > self.eye_open.shape[1]:
            raise ValueError(f"{eyes} frames of eyes; there is room for {self.eye_open.shape[1]}")
        self.eye_open[slot, :eyes] = character.eye_open[:eyes].to(self.eye_open)
        self.eye_ball[slot, :eyes] = character.eye_ball[:eyes].to(self.eye_ball)
        self.eyes[slot] = eyes
        self.canonical[slot] = character.canonical.to(self.canonical)
        self.start[slot] = character.start.to(self.start)


def emotion_vectors(emotion: Emotion) -> Tensor:
    """(M, 8) float32, M = 1 for one emotion or mixture. ValueError for a label that is none of the eight."""
    if isinstance(emotion, Tensor):
        if emotion.ndim != 2 or emotion.shape[1] != len(EMOTIONS) or not len(emotion):
            raise ValueError(f"emotions as numbers are (m, {len(EMOTIONS)}), not {tuple(emotion.shape)}")
        return emotion.float()
    if isinstance(emotion, int):
        return _mixture((emotion,))[None]
    if not emotion:
        raise ValueError("no emotion at all")
    labels = [one for one in emotion if isinstance(one, int)]
    if labels and len(labels) == len(emotion) and len(labels) < len(EMOTIONS):
        return _mixture(labels)[None]
    mixtures = [one for one in emotion if not isinstance(one, int)]
    if len(mixtures) != len(emotion):
        raise ValueError(f"an emotion is a label, up to {len(EMOTIONS) - 1} labels, or a list of lists")
    return torch.stack([_mixture(one) for one in mixtures])


def _mixture(labels: Sequence[int]) -> Tensor:
    """(8,) float32."""
    if not labels or min(labels) < 0 or max(labels) >= len(EMOTIONS):
        raise ValueError(f"emotions have the labels 0 to {len(EMOTIONS) - 1}, not {list(labels)}")
    scores = torch.zeros(len(EMOTIONS))
    scores[list(labels)] = _SHARPNESS
    return scores.softmax(0)


def mirror(index: Tensor, count: Tensor | int) -> Tensor:
    """The frame of `count` that `index` (int64, >= 0) falls on, playing to and fro with ends repeated."""
    turn = torch.div(index, count, rounding_mode="floor")
    there = index - turn * count
    return torch.where(turn % 2 == 0, there, count - 1 - there)


def emotion_at(state: ConditionState, frames: Tensor) -> Tensor:
    """(B, T, 8) of `frames` (B, T) int64; a sequence waits for frame 0, and begins again when it ends."""
    return _pick(state.emotion, frames.clamp(min=0) % state.emotions[:, None])


def eyes_at(state: ConditionState, frames: Tensor) -> tuple[Tensor, Tensor]:
    """Eye openness (B, T, 2) and eye-ball movement (B, T, 6) of `frames` (B, T) int64."""
    at = mirror(frames.clamp(min=0), state.eyes[:, None])
    return _pick(state.eye_open, at), _pick(state.eye_ball, at)


def _pick(table: Tensor, at: Tensor) -> Tensor:
    """`table` (B, N, D) at `at` (B, T): (B, T, D)."""
    return table.gather(1, at[..., None].expand(-1, -1, table.shape[2]))


def join(
    audio: Tensor,
    emotion: Tensor,
    eye_open: Tensor,
    eye_ball: Tensor,
    canonical: Tensor,
    *,
    parts: Parts = Parts(),
) -> Tensor:
    """Rows (B, T, parts.width) of `audio` (B, T, 1024) and the others (B, T, 8), (B, T, 2), (B, T, 6) and
    (B, 63)."""
    wide = canonical[:, None].expand(-1, audio.shape[1], -1)
    used = (
        (True, audio),
        (parts.emotion, emotion),
        (parts.eye_open, eye_open),
        (parts.eye_ball, eye_ball),
        (parts.canonical, wide),
    )
    return torch.cat([part.to(audio.dtype) for use, part in used if use], -1)


def rows(state: ConditionState, audio: Tensor, frames: Tensor, *, parts: Parts = Parts()) -> Tensor:
    """Rows (B, T, parts.width) for `audio` (B, T, 1024) at the frame numbers `frames` (B, T) int64, which
    before the start are negative."""
    eye_open, eye_ball = eyes_at(state, frames)
    return join(audio, emotion_at(state, frames), eye_open, eye_ball, state.canonical, parts=parts)


def window(first: Tensor, length: int) -> Tensor:
    """Frame numbers (B, T) of windows of `length` that begin at `first` (B,) int64."""
    return first[:, None] + torch.arange(length, device=first.device)
