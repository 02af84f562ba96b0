"""What took long to make of an official file: kept as safetensors beside it, and used for as long as the file
is the same by size and time, or by hash.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeAlias
from uuid import uuid4

import safetensors
import safetensors.torch
from torch import Tensor

from ..weights import digest

_LOG = logging.getLogger(__name__)
_LAYOUT: Final = "1"
"""Of the files that are kept: another one is not read."""

Tensors: TypeAlias = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Beside:
    """Tensors of one `kind`, made of `source` as it was when `stamp` was taken."""

    source: Path
    kind: str
    stamp: Mapping[str, str]

    @classmethod
    def of(cls, source: Path, kind: str) -> Self:
        """Of the file as it is now: ask before it is read. Raises OSError where it is not there."""
        return cls(source, kind, _stamp(source))

    @property
    def path(self) -> Path:
        return self.source.with_suffix(f".{self.kind}.safetensors")

    def read(self) -> Tensors | None:
        """None where nothing whole is kept of the file as it is now."""
        try:
            with safetensors.safe_open(self.path, framework="pt") as file:
                if not self._fits(file.metadata() or {}):
                    return None
                return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except (OSError, safetensors.SafetensorError):
            return None

    def keep(self, tensors: Tensors) -> None:
        """Write them whole or not at all; where that cannot be, the next start takes as long again."""
        draft = self.path.with_name(f"{self.path.name}.{uuid4().hex}")
        try:
            safetensors.torch.save_file(tensors, draft, {**self.stamp, "sha256": digest(self.source)})
            draft.chmod(self.source.stat().st_mode & 0o666)
            if _stamp(self.source) == self.stamp:
                draft.replace(self.path)
        except (OSError, safetensors.SafetensorError) as error:
            _LOG.warning("%s is not kept, so that loading takes longer next time: %s", self.path, error)
        finally:
            draft.unlink(missing_ok=True)

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def _fits(self, metadata: Mapping[str, str]) -> bool:
        if any(metadata.get(key) != self.stamp[key] for key in ("layout", "bytes")):
            return False
        return metadata.get("mtime_ns") == self.stamp["mtime_ns"] or metadata.get("sha256") == digest(
            self.source
        )


def _stamp(path: Path) -> dict[str, str]:
    found = path.stat()
    return {"layout": _LAYOUT, "bytes": str(found.st_size), "mtime_ns": str(found.st_mtime_ns)}
