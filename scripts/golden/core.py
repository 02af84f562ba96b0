"""The fused networks, called as the plain ones are."""

import torch
from torch import Tensor
from visavis.render.ditto.blocks import fold_batch_norms
from visavis.render.ditto.core.choice import ops_for
from visavis.render.ditto.core.decoder import FastDecoder
from visavis.render.ditto.core.warp import FastWarp
from visavis.render.ditto.decoder import ENLARGED, Decoder
from visavis.render.ditto.warp import WarpNetwork


class CoreWarp:
    """(B, C, D, H, W) and keypoints to flat features (B, F, H, W)."""

    def __init__(self, network: WarpNetwork, device: torch.device, dtype: torch.dtype) -> None:
        fold_batch_norms(network)
        self._warp = FastWarp(network.to(device), ops_for(device).warp, dtype=dtype)

    def __call__(self, feature: Tensor, source: Tensor, driven: Tensor) -> Tensor:
        which = torch.arange(len(feature), device=feature.device)
        return self._warp(self._warp.volumes(feature), which, source, driven).permute(0, 3, 1, 2)


class CoreDecoder:
    """Flat features (B, F, H, W) to pictures (B, 3, 8 H, 8 W)."""

    def __init__(self, network: Decoder, device: torch.device, dtype: torch.dtype) -> None:
        self._decoder = FastDecoder(network.to(device), ops_for(device).decoder, dtype=dtype)

    def __call__(self, features: Tensor) -> Tensor:
        batch, _, height, width = features.shape
        size = ENLARGED * height, ENLARGED * width
        out = features.new_empty(batch, *size, 4)
        mask = torch.ones(size, device=features.device, dtype=out.dtype)
        self._decoder(features.permute(0, 2, 3, 1).contiguous(), mask, out=out)
        return out[..., :3].permute(0, 3, 1, 2)
