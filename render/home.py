"""Where the project keeps what its user fetched or made: weights and avatars."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ..stream.errors import UsageError

VARIABLE = "VISAVIS_HOME"


def home(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """$VISAVIS_HOME, else the platform's folder for a user's data, absolute; nothing is made on disk.

    Raises UsageError where neither says a place.
    """
    if chosen := environ.get(VARIABLE):
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    match platform:
        case "win32":
            parent = environ.get("LOCALAPPDATA", "")
        case "darwin":
            parent = os.path.expanduser("~/Library/Application Support")
        case _:
            parent = environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(parent):
        raise UsageError(f"this account has no folder for data; set {VARIABLE} to one")
    return Path(parent) / "visavis"
