"""Weights of official shape from a seed: the same numbers wherever and whenever they are drawn.

They draw noise instead of a face. Tests, benches and the comparison with golden values use them: each entry
is read from a stream named by its official key, numpy's frozen legacy generator seeded with crc32(key) xor
seed, and scaled by the kind of entry, so that a value neither vanishes nor grows on its way through a
network.
"""

import zlib
from typing import Final, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .spectral import LEFT, ORIGINAL, RIGHT, fold, official_layout

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
NetworkT = TypeVar("NetworkT", bound=nn.Module)

GAINS: Final = {
    "appearance_extractor": {"resblocks_3d.": 1.0},
    "motion_extractor": {
        "fc_kp.": 0.25,
        "fc_exp.": 0.1,
        "fc_t.": 0.1,
        "fc_scale.": 0.1,
        "fc_pitch.": 2.0,
        "fc_yaw.": 2.0,
        "fc_roll.": 2.0,
    },
    "warp_network": {"dense_motion_network.mask.": 2.0, "fourth.": 1.0},
    "decoder": {"mlp_gamma.": 0.5, "mlp_beta.": 1.0, "conv_img.": 0.5},
    "lmdm": {"final_layer.": 0.12},
}
"""Gain of the weights whose key holds a text, by network; of others it is 1 in linear layers and the root of
2 in convolutions."""
ROUNDS: Final = 5
"""Of power iteration, for the vectors of a spectral norm."""
ROTARY_BASE: Final = 10000.0


def loaded(network: NetworkT, name: str, seed: int) -> NetworkT:
    """`network` with the weights of `seed`, on the CPU, in eval mode and without gradients.

    One whose state dict is all that it holds may come from torch's meta device, which saves drawing its first
    weights.
    """
    network.load_state_dict(state_dict(network, name, seed), assign=True)
    return network.eval().requires_grad_(False)


def state_dict(network: nn.Module, name: str, seed: int) -> dict[str, Tensor]:
    """The weights of `seed` for `network`, of any size, whose official name is `name`."""
    return fold(official_state_dict(network, name, seed))


def official_state_dict(network: nn.Module, name: str, seed: int) -> dict[str, Tensor]:
    """As `state_dict`, but as the official file would hold it: with spectral norm."""
    layout = official_layout(network)
    weights: dict[str, Tensor] = {}
    for key, entry in layout.items():
        layer, _, last = key.rpartition(".")
        if not entry.is_floating_point():
            weights[key] = torch.zeros(entry.shape, dtype=entry.dtype)
        elif last not in (LEFT, RIGHT):
            weights[key] = torch.from_numpy(_drawn(name, key, tuple(entry.shape), seed))
        if last == ORIGINAL:
            vectors = _spectral_vectors(weights[key].numpy(), f"{layer}.{LEFT}", seed)
            for side, vector in zip((LEFT, RIGHT), vectors, strict=True):
                weights[f"{layer}.{side}"] = torch.from_numpy(vector.astype(np.float32))
    return weights


def _drawn(name: str, key: str, shape: tuple[int, ...], seed: int) -> F32:
    """One entry of official key `key`. The first kind that fits decides."""
    if key.endswith("rotary.freqs"):
        width = 2 * shape[0]
        return (ROTARY_BASE ** (-np.arange(0, width, 2) / width)).astype(np.float32)
    draw = _random(key, seed).standard_normal(shape).astype(np.float32)
    if key.endswith("running_var"):
        return np.float32(1) + np.float32(0.1) * np.abs(draw)
    offset, scale = _offset_and_scale(name, key, shape)
    return np.float32(offset) + np.float32(scale) * draw


def _offset_and_scale(name: str, key: str, shape: tuple[int, ...]) -> tuple[float, float]:
    if key.endswith("running_mean"):
        return 0.0, 0.1
    if key.endswith(("null_cond_embed", "null_cond_hidden")):
        return 0.0, 1.0
    if key.endswith(("grn.gamma", "grn.beta")):
        return 0.0, 0.3 if key.endswith("gamma") else 0.05
    if key.endswith("bias"):
        return 1.25 if key.endswith("fc_scale.bias") else 0.0, 0.05
    if len(shape) == 1:
        return 1.0, 0.1
    usual = 1.0 if len(shape) == 2 else np.sqrt(2.0)
    gains = (gain for part, gain in GAINS.get(name, {}).items() if part in key)
    return 0.0, float(next(gains, usual) / np.sqrt(np.prod(shape[1:])))


def _spectral_vectors(weight: F32, stream: str, seed: int) -> tuple[F64, F64]:
    """Left (outputs,) and right (rest,) unit vectors, near those of the largest singular value of
    `weight`."""
    matrix = weight.reshape(len(weight), -1).astype(np.float64)
    left: F64 = _random(stream, seed).standard_normal(len(matrix))
    left /= np.linalg.norm(left)
    right: F64 = np.zeros(0)
    for _ in range(ROUNDS):
        right = left @ matrix
        right /= np.linalg.norm(right)
        left = matrix @ right
        left /= np.linalg.norm(left)
    return left, right


def _random(stream: str, seed: int) -> np.random.RandomState:
    return np.random.RandomState((zlib.crc32(stream.encode()) ^ seed) & 0xFFFFFFFF)
