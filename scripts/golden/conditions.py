"""`cond`: condition rows of made-up avatars, emotion vectors and the mirror index."""

import re
from collections.abc import Iterator
from typing import Any

import torch
from visavis.render.ditto import conditions as c

from .harness import Comparison, GoldenFile, matched
from .made_up import character, described, in_float32

TOLERANCE = 1e-5


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    for name, case in file.cases.items():
        if "avatar" in case:
            yield file.compare(f"{name}.cond", _rows(file, case), TOLERANCE)
    for array in file.arrays:
        if array == "emo_vectors":
            yield file.compare(array, c.emotion_vectors([[label] for label in range(8)]), TOLERANCE)
        elif found := re.fullmatch(r"emo(?:_[a-z]+)*((?:_\d+)+)", array):
            labels = [int(label) for label in found[1].strip("_").split("_")]
            yield file.compare(array, c.emotion_vectors(labels)[0], TOLERANCE)
        elif found := re.fullmatch(r"mirror_size(\d+)", array):
            index = torch.arange(len(file.arrays[array]))
            yield file.compare(array, c.mirror(index, int(found[1])), 0)


def _rows(file: GoldenFile, case: Any) -> torch.Tensor:
    """The columns after the audio."""
    face = character(file, *_avatar(file, case.get("ch_info") or case["avatar"]))
    parts = c.Parts(*(case.get(f"use_{part}", True) for part in ("emo", "eye_open", "eye_ball", "sc")))
    emotion = _emotion(file, case["emo"])
    room = len(c.emotion_vectors(emotion))
    state = c.ConditionState.init(1, eye_frames=len(face.eye_open), emotion_frames=room, device=file.device)
    state.set_emotion(0, emotion)
    state.set_character(0, face, first_eyes=case.get("eye_f0_mode", False))
    audio = torch.from_numpy(described(file, file.cases["inputs"]["aud"]))[None, : case["rows"]]
    first = torch.tensor([case["idx"]], device=file.device)
    frames = c.window(first, case["rows"])
    return c.rows(state, audio.to(file.device), frames, parts=parts)[0, :, c.AUDIO_WIDTH :]


def _emotion(file: GoldenFile, emotion: Any) -> c.Emotion:
    return torch.from_numpy(described(file, emotion)) if isinstance(emotion, str) else emotion


def _avatar(file: GoldenFile, name: str) -> tuple[str, int]:
    """Tag and number of frames, from the list of avatars in words."""
    found = matched(
        f"avatar {name!r}",
        rf"([\w/]*\b{re.escape(name)})\s*\((\d+) frames?\)",
        file.cases["inputs"]["avatars"],
    )
    return found[1], int(found[2])
