"""Which steps a device runs: Triton kernels on a GPU, their plain twins anywhere else."""

from dataclasses import dataclass

import torch

from . import decoder_twins, warp_twins
from .decoder import DecoderOps
from .warp import WarpOps


@dataclass(frozen=True, slots=True)
class Ops:
    """The steps of the picture networks."""

    warp: WarpOps
    decoder: DecoderOps


TWINS = Ops(warp_twins, decoder_twins)


def ops_for(device: torch.device) -> Ops:
    """Those of `device`. Kernels are compiled when they first run."""
    if device.type != "cuda":
        return TWINS
    # Triton is not there where no GPU is.
    from . import decoder_kernels, warp_kernels

    return Ops(warp_kernels, decoder_kernels)
