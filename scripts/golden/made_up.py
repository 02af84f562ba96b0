"""Inputs that several golden files draw in the same way."""

import re
from dataclasses import replace

import numpy as np
import torch
from visavis.render.ditto.conditions import Character
from visavis.render.ditto.motion import Motion, Source

from .harness import F32, GoldenFile

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_NORMAL = rf"normal\s*\(([\d,\s]+)\)(?:\s*\*\s*({_NUMBER}))?"
_UNIFORM = rf"uniform\s*(?:({_NUMBER})\s*\.\.\s*({_NUMBER}))?\s*\(([\d,\s]+)\)"
ITEMS = ("scale", "pitch", "yaw", "roll", "t", "exp")
"""The official names of the parts of a motion, in the order of `Motion`."""


def in_float32(file: GoldenFile) -> GoldenFile:
    """`file` for maths, which is float32 whatever the dtype of the networks under test."""
    return replace(file, dtype=torch.float32)


def described(file: GoldenFile, text: str) -> F32:
    """The array of a description such as `cond/aud normal (80,1024) * 0.5` or `cond/emo uniform 0..1 (9,8)`;
    what comes before and after is ignored."""
    if found := re.search(rf"(\S+)\s+{_NORMAL}", text):
        return file.normal(found[1], *_shape(found[2]), scale=float(found[3] or 1))
    if found := re.search(rf"(\S+)\s+{_UNIFORM}", text):
        return file.uniform(found[1], *_shape(found[4]), low=float(found[2] or 0), high=float(found[3] or 1))
    raise ValueError(f"no stream in {text!r}")


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.replace(" ", "").strip(",").split(","))


def source(file: GoldenFile, tag: str) -> Source:
    """The made-up motion of `tag`, one row."""
    scale = file.uniform(f"{tag}/scale", 1, 1, low=1.1, high=1.5)
    pose = [file.normal(f"{tag}/{item}", 1, 66, scale=2.0) for item in ("pitch", "yaw", "roll")]
    translation = file.normal(f"{tag}/t", 1, 3, scale=0.1)
    expression = file.normal(f"{tag}/exp", 1, 63, scale=0.08)
    canonical = file.normal(f"{tag}/kp", 1, 63, scale=0.3)
    return source_of(file, (scale, *pose, translation, expression), canonical)


def source_of(file: GoldenFile, items: tuple[F32, ...], canonical: F32) -> Source:
    """`items` in the order of `ITEMS`."""
    moved = Motion(*(torch.from_numpy(np.asarray(item)).to(file.device) for item in items))
    return Source(moved, torch.from_numpy(np.asarray(canonical)).to(file.device))


def character(file: GoldenFile, tag: str, frames: int) -> Character:
    """The made-up avatar of `tag`."""
    first = source(file, f"{tag}/x_s/0")
    opened = [file.uniform(f"{tag}/eye_open/{frame}", 1, 2, low=0.3, high=1.0) for frame in range(frames)]
    balls = [file.normal(f"{tag}/eye_ball/{frame}", 1, 6, scale=0.1) for frame in range(frames)]
    eye_open, eye_ball = (torch.from_numpy(np.concatenate(each)).to(file.device) for each in (opened, balls))
    return Character.from_source(first, eye_open, eye_ball, canonical=first.canonical[0])
