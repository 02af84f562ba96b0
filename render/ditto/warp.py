"""Warp network: a feature volume, moved from the source's keypoints to the driven ones, as flat features."""

from dataclasses import dataclass, field
from typing import Final, Self

from torch import Tensor, nn

from .blocks import ConvNorm
from .dense_motion import DenseMotion, DenseMotionSize, Flow, sample

LEAK: Final = 0.01


@dataclass(frozen=True, slots=True)
class WarpSize:
    """Of the `motion` part, and how many flat `features` come out."""

    motion: DenseMotionSize = field(default_factory=DenseMotionSize)
    features: int = 256

    @classmethod
    def tiny(cls) -> Self:
        return cls(motion=DenseMotionSize.tiny(), features=8)


class WarpNetwork(nn.Module):
    """Keys of the state dict are the official ones."""

    def __init__(self, size: WarpSize | None = None) -> None:
        super().__init__()
        self.size = size = size or WarpSize()
        self.dense_motion_network = DenseMotion(size.motion)
        self.third = ConvNorm(size.motion.channels * size.motion.depth, size.features, rank=2, leak=LEAK)
        self.fourth = nn.Conv2d(size.features, size.features, 1)

    def forward(self, feature: Tensor, source: Tensor, driven: Tensor) -> Tensor:
        """`feature` (B, 32, 16, 64, 64) in the network's dtype, `source` and `driven` (B, 21, 3) float32
        whatever that is; (B, 256, 64, 64)."""
        return self.moved(feature, self.flow(feature, source, driven))

    def flow(self, feature: Tensor, source: Tensor, driven: Tensor) -> Flow:
        """The first half of `forward`: where each cell comes from."""
        return self.dense_motion_network(feature, source, driven)

    def moved(self, feature: Tensor, flow: Flow) -> Tensor:
        """The second half of `forward`: `feature` taken from there."""
        flat = sample(feature, flow.deformation).flatten(1, 2)
        return self.fourth(self.third(flat)) * flow.occlusion
