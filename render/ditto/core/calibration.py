"""Plans of convolutions that read 8 bits, found by trying: each alone first, then one more at a time, as long
as pictures stay close to those of 16 bits.

Their features should be of the faces and motion that will be drawn.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor, nn

from ..decoder import ENLARGED, Decoder, SpadeBlock
from .conv_twins import largest, saturated
from .decoder import DecoderOps, FastDecoder, blocks_of
from .low_bits import FORMATS, Format, LowBits

SHARES: Final[Mapping[Format, Sequence[float]]] = MappingProxyType(
    {"e4m3": (2.0,), "int8": (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)}
)
"""Of the largest that was read, which may become the format's largest. Floats are as fine with room above,
for what calibration did not see. Of whole numbers, the share that errs least: their steps are finer where
what is rare is cut off."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """Of pictures to what they should be, the worst of them: `cosine` of all colours, and `error`, the mean
    of the squared differences of colours 0..1."""

    cosine: float
    error: float

    @property
    def decibels(self) -> float:
        return -10 * math.log10(self.error) if self.error else math.inf


@dataclass(frozen=True, slots=True)
class Limits:
    """That pictures must keep."""

    cosine: float = 0.9995
    decibels: float = 42.0

    def allow(self, found: Closeness) -> bool:
        """A NaN is a miss."""
        return found.cosine >= self.cosine and found.decibels >= self.decibels


@torch.inference_mode()
def calibrate(
    network: Decoder,
    ops: DecoderOps,
    batches: Sequence[Tensor],
    *,
    dtype: torch.dtype,
    format: Format,
    limits: Limits | None = None,
) -> LowBits:
    """The plan for `network`, in float32, by features (B, H, W, 256) as the decoder reads them, all on one
    device; `ops` and `dtype` are those of the decoder that will follow it."""
    limits = limits or Limits()

    def pictures(fits: Mapping[str, float]) -> list[Tensor]:
        plan = LowBits(format, MappingProxyType(dict(fits)))
        return drawn(FastDecoder(network, ops, dtype=dtype, low_bits=plan), batches)

    fits, saved, exact = fits_of(network, batches, format), work(network), pictures({})
    harm = {name: compared(pictures({name: fit}), exact).error / saved[name] for name, fit in fits.items()}
    chosen: dict[str, float] = {}
    for name in sorted(fits, key=lambda name: (harm[name], name)):
        trial = chosen | {name: fits[name]}
        if limits.allow(compared(pictures(trial), exact)):
            chosen = trial
    return LowBits(format, MappingProxyType(chosen))


def drawn(decoder: FastDecoder, batches: Iterable[Tensor]) -> list[Tensor]:
    """The pictures (B, 8 H, 8 W, 4) of each batch of features (B, H, W, 256)."""
    found: list[Tensor] = []
    for features in batches:
        size = ENLARGED * features.shape[1], ENLARGED * features.shape[2]
        out = torch.empty(len(features), *size, 4, device=features.device, dtype=decoder.dtype)
        mask = torch.ones(size, device=features.device, dtype=decoder.dtype)
        decoder(features.to(decoder.dtype), mask, out=out)
        found.append(out)
    return found


def compared(found: Iterable[Tensor], expected: Iterable[Tensor]) -> Closeness:
    """Pictures (B, H, W, 4) with others, by their colours."""
    pairs = [
        (one[..., :3].double().flatten(1), other[..., :3].double().flatten(1))
        for one, other in zip(found, expected, strict=True)
    ]
    cosine = torch.cat([nn.functional.cosine_similarity(one, other) for one, other in pairs])
    error = torch.cat([(one - other).square().mean(1) for one, other in pairs])
    return Closeness(float(cosine.min()), float(error.max()))


def work(network: Decoder) -> dict[str, int]:
    """Multiply-adds a cell of the features, of each convolution that may read 8 bits, by its official name. A
    modulation's are those that give scale and shift."""
    found: dict[str, int] = {}
    for name, block, factor in blocks_of(network):
        for part, reader in _readers(block).items():
            outputs = reader.out_channels * (1 if part.startswith("conv") else 2)
            if part == "norm_s":
                outputs = reader.out_channels + block.conv_s.out_channels
            found[f"{name}.{part}"] = outputs * reader.weight[0].numel() * factor**2
    return found


def fits_of(network: Decoder, batches: Sequence[Tensor], format: Format) -> dict[str, float]:
    """For each convolution that may read 8 bits, what to multiply by so that what it reads fits them."""
    dtype, most, errors = FORMATS[format], dict[str, Tensor](), dict[str, list[float]]()

    def measure(name: str, x: Tensor) -> None:
        seen = x.abs().amax().clamp(min=1e-12)
        most[name] = torch.maximum(most[name], seen) if name in most else seen

    def err(name: str, x: Tensor) -> None:
        for at, fit in enumerate(tried[name]):
            errors[name][at] += float((saturated(x * fit, dtype).float() / fit - x).square().mean())

    _watch(network, batches, measure)
    shares = SHARES[format]
    tried = {
        name: [largest(dtype) / (share * float(seen)) for share in shares] for name, seen in most.items()
    }
    errors |= {name: [0.0 for _ in shares] for name in most}
    _watch(network, batches, err)
    return {name: fits[errors[name].index(min(errors[name]))] for name, fits in tried.items()}


def _watch(network: Decoder, batches: Iterable[Tensor], see: Callable[[str, Tensor], None]) -> None:
    """Show `see` what each convolution that may read 8 bits reads, by its official name."""

    def hook(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        return lambda _, given: see(name, given[0])

    readers = {
        f"{name}.{part}": one
        for name, block, _ in blocks_of(network)
        for part, one in _readers(block).items()
    }
    hooks = [one.register_forward_pre_hook(hook(name)) for name, one in readers.items()]
    try:
        for features in batches:
            network(features.permute(0, 3, 1, 2).float())
    finally:
        for one in hooks:
            one.remove()


def _readers(block: SpadeBlock) -> dict[str, nn.Conv2d]:
    """Those that may read 8 bits; of a modulation's two, which read the same, the first."""
    found: dict[str, nn.Conv2d] = {"norm_0": block.norm_0.mlp_gamma, "conv_0": block.conv_0}
    found |= {"norm_1": block.norm_1.mlp_gamma, "conv_1": block.conv_1}
    return found | {"norm_s": block.norm_s.mlp_gamma} if block.learned else found
