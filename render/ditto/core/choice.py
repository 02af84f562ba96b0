"""Which steps a device runs: Triton kernels on a GPU, their plain twins anywhere else."""

from dataclasses import dataclass

import torch

from . import composite_twins, decoder_twins, warp_twins
from .composite import CompositeOps
from .decoder import DecoderOps
from .warp import WarpOps


@dataclass(frozen=True, slots=True)
class Ops:
    """The steps from features to finished pictures."""

    warp: WarpOps
    decoder: DecoderOps
    composite: CompositeOps


TWINS = Ops(warp_twins, decoder_twins, composite_twins)


def ops_for(device: torch.device) -> Ops:
    """Those of `device`. Kernels are compiled when they first run."""
    if device.type != "cuda":
        return TWINS
    # Triton is not there where no GPU is.
    from . import composite_kernels, decoder_kernels, warp_kernels

    return Ops(warp_kernels, decoder_kernels, composite_kernels)
