"""Which weights saw a face: an avatar remembers them, so that others can be told from them when it is drawn.

Another digest need not mean another network, since it also counts in which precision weights were kept. So
it is a reason to warn and not one to refuse.
"""

import hashlib
import logging
from collections.abc import Mapping
from typing import Final

from torch import Tensor

from ...stream.errors import SetupError
from ..avatar import Avatar
from .checkpoints import Source, load

_LOG = logging.getLogger(__name__)

EXTRACTORS: Final = ("appearance_extractor", "motion_extractor")
"""The networks that look at a face when it is registered."""


def digest_of(states: Mapping[str, Mapping[str, Tensor]]) -> str:
    """SHA-256 of all tensors of all networks, by their names."""
    digest = hashlib.sha256()
    for name, state in sorted(states.items()):
        for key, tensor in sorted(state.items()):
            digest.update(f"{name}.{key} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def digest_at(source: Source, *, keep: bool = True) -> str:
    """What an avatar would remember that were registered with `source` now; empty where a folder lacks what
    that takes, or it is damaged: those who only draw do without. `keep` as `load` takes it."""
    try:
        return digest_of({name: load(name, source, keep=keep) for name in EXTRACTORS})
    except SetupError:
        return ""


def mismatch(name: str, registered: str, present: str) -> str:
    """What is wrong where avatar `name` was `registered` with other weights than are `present`, and what to
    do; empty where they are the same, or one of them is unknown."""
    if not registered or not present or registered == present:
        return ""
    return (
        f"avatar {name} was registered with other weights than those it is drawn with, so its face may be "
        f"wrong: remove it and add its picture again, visavis avatar remove {name}"
    )


class Provenance:
    """Warns once of each avatar that other weights saw. `present` is as `digest_at` gives it."""

    def __init__(self, present: str = "") -> None:
        self._present = present
        self._told: set[str] = set()

    def check(self, avatar: Avatar) -> None:
        problem = mismatch(avatar.name, avatar.manifest.weights, self._present)
        if problem and avatar.name not in self._told:
            self._told.add(avatar.name)
            _LOG.warning("%s", problem)
