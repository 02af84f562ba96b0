"""The networks that an engine draws with, built and loaded once for all its sessions."""

from dataclasses import dataclass
from typing import Final

import torch

from .bench_encoder import StandInEncoder
from .blocks import fold_batch_norms
from .checkpoints import RandomWeights, Source, find, loaded_network
from .core.choice import ops_for
from .core.decoder import FastDecoder
from .core.memory import STAYS, Memory, memory_for
from .core.replay import BUCKETS
from .core.warp import FastWarp
from .decoder import Decoder
from .features import AudioEncoder, Chunk
from .hubert_torch import load_hubert
from .lmdm import MotionDecoder
from .random_encoder import random_encoder
from .stitch import StitchNetwork
from .warp import WarpNetwork

PICTURE_DTYPES: Final = {"cpu": torch.float32, "cuda": torch.float16}
"""What warp and decoder compute in: half precision where it is faster."""


@dataclass(frozen=True, slots=True)
class Networks:
    """All on one `device`, but for `lmdm`, of which it only keeps what sampling needs. Pictures are computed
    in what suits the device. Feature maps are `side` cells wide and high. With `eager` a GPU is called step
    by step, and nothing is captured. Weights of pictures and of what hears lie in `memory`."""

    audio: AudioEncoder
    lmdm: MotionDecoder
    stitch: StitchNetwork
    warp: FastWarp
    decoder: FastDecoder
    device: torch.device
    side: int = 64
    eager: bool = False
    memory: Memory = STAYS


def load_networks(source: Source, device: torch.device, *, eager: bool = False) -> Networks:
    """The networks of official size with the weights of `source`. Raises SetupError, in a line that names the
    file, when one is missing or damaged."""
    memory = memory_for(device)
    found = loaded_network(WarpNetwork, "warp_network", source), loaded_network(Decoder, "decoder", source)
    with memory.kept():
        warp, decoder = fused(*found, device)
    return Networks(
        audio=_stand_in(source.seed, device, eager, memory)
        if isinstance(source, RandomWeights)
        else load_hubert(find("hubert", source), device, eager=eager, memory=memory),
        lmdm=loaded_network(MotionDecoder, "lmdm", source),
        stitch=loaded_network(StitchNetwork, "stitch_network", source).to(device),
        warp=warp,
        decoder=decoder,
        device=device,
        eager=eager,
        memory=memory,
    )


def _stand_in(seed: int, device: torch.device, eager: bool, memory: Memory) -> AudioEncoder:
    """What hears where weights are random: on a GPU it takes as long as the real one."""
    if device.type == "cpu":
        return random_encoder(seed)
    most, samples = max(BUCKETS), Chunk().window_samples
    return StandInEncoder(device, samples=samples, most=most, eager=eager, memory=memory)


def fused(warp: WarpNetwork, decoder: Decoder, device: torch.device) -> tuple[FastWarp, FastDecoder]:
    """Both as `device` runs them. They must be in float32; the warp's norms are folded in place."""
    dtype, ops = PICTURE_DTYPES.get(device.type, torch.float32), ops_for(device)
    fold_batch_norms(warp)
    return (
        FastWarp(warp, ops.warp, dtype=dtype).to(device),
        FastDecoder(decoder, ops.decoder, dtype=dtype).to(device),
    )


def best_device() -> torch.device:
    """The first NVIDIA GPU, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
