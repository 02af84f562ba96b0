"""Dense motion: from how keypoints move, where each place of a feature volume comes from and what is hidden.

A place is (x, y, z) in -1..1 along width, height and depth, its ends being the middles of the first and last
cell. Sampling takes them for the outer edges instead, so that the grid of places itself is not quite the
identity: the networks were trained that way.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .blocks import ConvNorm, batch_norm, convolution, upsample
from .motion import KEYPOINTS

VARIANCE: Final = 0.01
"""Of the blob that stands for a keypoint, in squared units of a place."""
MOTIONS: Final = KEYPOINTS + 1
"""The background, which stays, and one for each keypoint."""
KERNEL: Final = 7


@dataclass(frozen=True, slots=True)
class DenseMotionSize:
    """`channels` of the volume, `depth` of it and `compressed` channels to look at it by; the hourglass of
    `halvings` starts with twice `width` channels and doubles them."""

    channels: int = 32
    depth: int = 16
    compressed: int = 4
    width: int = 32
    halvings: int = 5

    @classmethod
    def tiny(cls) -> Self:
        return cls(channels=4, depth=4, compressed=1, width=2, halvings=2)

    @property
    def inputs(self) -> int:
        """Channels that the hourglass reads."""
        return MOTIONS * (self.compressed + 1)

    @property
    def outputs(self) -> int:
        """Channels that the hourglass gives."""
        return self.inputs + self.width


@dataclass(frozen=True, slots=True)
class Flow:
    """`deformation` (B, D, H, W, 3) float32, the place that each cell comes from; `occlusion` (B, 1, H, W)
    0..1, how much of it is seen; `mask` (B, 22, D, H, W) float32, each motion's share in the deformation."""

    deformation: Tensor
    occlusion: Tensor
    mask: Tensor


class Encoder(nn.Module):
    """The way down: width and height are halved, channels doubled, depth stays."""

    def __init__(self, size: DenseMotionSize) -> None:
        super().__init__()
        widths = [size.inputs, *(size.width << step for step in range(1, size.halvings + 1))]
        self.down_blocks = nn.ModuleList(ConvNorm(narrow, wide, rank=3) for narrow, wide in pairwise(widths))

    def forward(self, x: Tensor) -> list[Tensor]:
        """`x` and what each block makes of it."""
        levels = [x]
        for block in self.down_blocks:
            levels.append(halved(block(levels[-1])))
        return levels


class Decoder(nn.Module):
    """The way up, with the way down's results beside each step but the first."""

    def __init__(self, size: DenseMotionSize) -> None:
        super().__init__()
        steps = reversed(range(size.halvings))
        self.up_blocks = nn.ModuleList(
            ConvNorm(
                size.width << (step + 1 if step == size.halvings - 1 else step + 2),
                size.width << step,
                rank=3,
            )
            for step in steps
        )
        self.conv = convolution(size.outputs, size.outputs, rank=3)
        self.norm = batch_norm(size.outputs, rank=3)

    def forward(self, levels: list[Tensor]) -> Tensor:
        x, *beside = reversed(levels)
        for block, skip in zip(self.up_blocks, beside, strict=True):
            x = torch.cat((block(upsample(x, 1, 2, 2)), skip), dim=1)
        return F.relu(self.norm(self.conv(x)))


class Hourglass(nn.Module):
    """(B, `inputs`, D, H, W) to (B, `outputs`, D, H, W); H and W divide by 2 to the power of `halvings`."""

    def __init__(self, size: DenseMotionSize) -> None:
        super().__init__()
        self.encoder = Encoder(size)
        self.decoder = Decoder(size)

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


class DenseMotion(nn.Module):
    """Keys of the state dict are the official ones of `dense_motion_network`."""

    def __init__(self, size: DenseMotionSize) -> None:
        super().__init__()
        self.compress = convolution(size.channels, size.compressed, rank=3, kernel=1)
        self.norm = batch_norm(size.compressed, rank=3)
        self.hourglass = Hourglass(size)
        self.mask = convolution(size.outputs, MOTIONS, rank=3, kernel=KERNEL)
        self.occlusion = convolution(size.outputs * size.depth, 1, rank=2, kernel=KERNEL)

    def forward(self, feature: Tensor, source: Tensor, driven: Tensor) -> Flow:
        """`feature` (B, C, D, H, W) in the network's dtype; `source`, `driven` (B, 21, 3) float32."""
        grid = places(feature)
        flows = motions(grid, source, driven)
        small = F.relu(self.norm(self.compress(feature)))
        moved = sample(small.repeat_interleave(MOTIONS, 0), flows.flatten(0, 1)).unflatten(0, (-1, MOTIONS))
        heat = (blobs(grid, driven) - blobs(grid, source)).to(moved.dtype)
        heat = F.pad(heat, (0, 0, 0, 0, 0, 0, 1, 0))
        seen = self.hourglass(torch.cat((heat[:, :, None], moved), dim=2).flatten(1, 2))
        mask = self.mask(seen).float().softmax(1)
        return Flow(
            deformation=(mask[..., None] * flows).sum(1),
            occlusion=self.occlusion(seen.flatten(1, 2)).sigmoid(),
            mask=mask,
        )


def places(volume: Tensor) -> Tensor:
    """The places of the cells of `volume` (..., D, H, W), made where it lives: (D, H, W, 3) float32."""
    z, y, x = (
        2 * (torch.arange(cells, device=volume.device, dtype=torch.float32) / (cells - 1)) - 1
        for cells in volume.shape[-3:]
    )
    return torch.stack(torch.meshgrid(z, y, x, indexing="ij")[::-1], dim=-1)


def motions(grid: Tensor, source: Tensor, driven: Tensor) -> Tensor:
    """Where each cell of `grid` would come from by each motion alone: (B, 22, D, H, W, 3) float32."""
    still = grid.expand(source.shape[0], 1, *grid.shape)
    moved = grid - spread(driven) + spread(source)
    return torch.cat((still, moved), dim=1)


def blobs(grid: Tensor, keypoints: Tensor) -> Tensor:
    """How near each cell is to each keypoint, 0..1: (B, 21, D, H, W) float32."""
    return torch.exp((grid - spread(keypoints)).square().sum(-1) / (-2 * VARIANCE))


def spread(keypoints: Tensor) -> Tensor:
    """`keypoints` (B, 21, 3) as (B, 21, 1, 1, 1, 3)."""
    return keypoints[:, :, None, None, None]


def halved(volume: Tensor) -> Tensor:
    """`volume` (B, C, D, H, W) with half the height and width: each cell the mean of four."""
    return F.avg_pool2d(volume.flatten(1, 2), 2).unflatten(1, volume.shape[1:3])


def sample(volume: Tensor, grid: Tensor) -> Tensor:
    """`volume` (B, C, D, H, W) at the places `grid` (B, D, H, W, 3) float32, 0 outside. Computed in float32,
    as half places would be a twentieth of a cell off; given in the volume's dtype."""
    found = F.grid_sample(volume.float(), grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return found.to(volume.dtype)
