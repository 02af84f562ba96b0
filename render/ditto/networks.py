"""The networks that an engine draws with, built and loaded once for all its sessions."""

from dataclasses import dataclass
from typing import Final, TypeVar

import torch
from torch import nn

from .blocks import fold_batch_norms
from .checkpoints import RandomWeights, Source, find, load
from .decoder import Decoder
from .features import AudioEncoder
from .hubert import Hubert
from .lmdm import MotionDecoder
from .random_encoder import random_encoder
from .stitch import StitchNetwork
from .warp import WarpNetwork

PICTURE_DTYPES: Final = {"cpu": torch.float32, "cuda": torch.float16}
"""What warp and decoder compute in: half precision where it is faster."""
NetworkT = TypeVar("NetworkT", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Networks:
    """All on one `device`. Motion is computed in float32, pictures in what suits the device."""

    audio: AudioEncoder
    lmdm: MotionDecoder
    stitch: StitchNetwork
    warp: WarpNetwork
    decoder: Decoder
    device: torch.device


def load_networks(source: Source, device: torch.device) -> Networks:
    """The networks of official size with the weights of `source`. Raises SetupError, in a line that names the
    file, when one is missing or damaged."""
    dtype = PICTURE_DTYPES.get(device.type, torch.float32)
    warp = _loaded(WarpNetwork, "warp_network", source)
    # In float32, before it is rounded: running statistics would lose most by it.
    fold_batch_norms(warp)
    return Networks(
        audio=random_encoder(source.seed)
        if isinstance(source, RandomWeights)
        else Hubert(find("hubert", source), device),
        lmdm=_loaded(MotionDecoder, "lmdm", source).to(device),
        stitch=_loaded(StitchNetwork, "stitch_network", source).to(device),
        warp=warp.to(device, dtype),
        decoder=_loaded(Decoder, "decoder", source, dtype).to(device),
        device=device,
    )


def best_device() -> torch.device:
    """The first NVIDIA GPU, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _loaded(kind: type[NetworkT], name: str, source: Source, dtype: torch.dtype = torch.float32) -> NetworkT:
    with torch.device("meta"):
        network = kind()
    network.load_state_dict(load(name, source, network=network, dtype=dtype), assign=True)
    return network.eval().requires_grad_(False)
