"""What end-to-end tests keep for a look afterwards: pictures and figures, in `artifacts/`."""

import json
from pathlib import Path
from typing import Any

from .server import ROOT

ARTIFACTS = ROOT / "artifacts"


def artifact(name: str) -> Path:
    """Where to put `name`; its folder is there."""
    ARTIFACTS.mkdir(exist_ok=True)
    return ARTIFACTS / name


def keep(name: str, figures: dict[str, Any]) -> None:
    """Write `figures` as `name`.json."""
    artifact(f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
