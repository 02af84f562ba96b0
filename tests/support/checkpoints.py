"""Checkpoint files in the official containers, with weights from a seed."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from visavis.render.ditto.checkpoints import blank
from visavis.render.ditto.random_weights import official_state_dict
from visavis.render.weights import file_named

SEED = 7


def content(name: str, network: nn.Module | None = None) -> Any:
    """What the official file of `name` holds."""
    weights = official_state_dict(network or blank(name), name, SEED)
    match name:
        case "stitch_network":
            shoulder = {f"module.{key}": value for key, value in weights.items()}
            return {"retarget_mouth": {}, "retarget_shoulder": shoulder, "retarget_eye": {}}
        case "lmdm":
            return {"model_state_dict": weights, "epoch": 3}
        case _:
            return weights


def write(name: str, folder: Path, network: nn.Module | None = None) -> Path:
    """The official file of `name` in the layout of the hub."""
    return save(content(name, network), folder / file_named(name).path)


def save(value: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(value, path)
    return path
