"""The kernels of the GPU core on the shapes that Ditto has, for `bench_kernels`: what each does, beside what
else could do it and what should come out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from visavis.render.ditto.core import (
    composite_kernels,
    conv_kernels,
    conv_tiles,
    conv_twins,
    decoder_kernels,
    decoder_twins,
    layers,
    sampling_kernels,
    warp_kernels,
    warp_twins,
)
from visavis.render.ditto.core.pictures import Pictures, Showing
from visavis.render.ditto.core.tile import ConvTile, Tile
from visavis.render.ditto.core.transfers import transfers_for

HALF = torch.float16
UNDO = {HALF: 1.0, torch.float8_e4m3fn: 2**-5, torch.int8: 2**-15}
"""By which sums become about as large as they are in half precision."""
BITS = {HALF: "", torch.float8_e4m3fn: "_8", torch.int8: "_8"}
"""What a kernel's tile is looked up by; both formats of 8 bits have the same."""
CONVS = [
    ConvTile(cells, channels, inputs, warps, stages)
    for cells, channels, warps in (
        (64, 128, 4),
        (128, 64, 4),
        (128, 128, 4),
        (128, 128, 8),
        (128, 256, 8),
        (256, 64, 8),
        (256, 128, 8),
        (256, 128, 16),
    )
    for inputs in (64, 128)
    for stages in (2, 3, 4)
]
CALLS = 5
"""That each tile's result is checked of."""
PARTS = {"modulated": 2, "uneven": 1.5, "uneven_3": 1.125}
"""How many outputs a program has for each of a tile's channels."""
MASKED = 144
"""Channels that the mask's convolution and the one before it read."""
UNEVEN = 128
"""Channels that the larger part of a program's has."""
ROW_BYTES = 128
"""Of a cell a step reads: as much as the copy engine spreads over all banks."""
SHARED_BYTES = 227 << 10
TILES = [Tile(cells, 0, warps) for cells in (16, 32, 64, 128) for warps in (2, 4, 8)]
Call = Callable[[], object]
WRITTEN = {HALF: 1e-3, torch.float8_e4m3fn: 4e-2, torch.int8: 2e-2}
"""How far roundings may carry."""


@dataclass(frozen=True)
class Trial:
    """A call that writes `out`, the last slot of which should be `expected`."""

    call: Call
    out: Tensor
    expected: Tensor

    def __call__(self) -> None:
        self.call()

    def off(self) -> float:
        """The worst of a few calls, relative to what is expected."""
        worst = 0.0
        for _ in range(CALLS):
            self.out.fill_(3)
            self()
            found, expected = self.out[-1:].float(), self.expected.float()
            worst = max(worst, float((found - expected).norm() / expected.norm()))
        return worst


@dataclass(frozen=True)
class Work:
    """A kernel on one shape: `table` and `key` say where its tile is looked up, `prepare` makes the call.
    `flops` of a call for convolutions, whose call is a `Trial`; `rival` what cuDNN does instead."""

    name: str
    table: dict[str, Any]
    key: str
    prepare: Callable[[], Call]
    flops: float = 0.0
    rival: Callable[[], Call] | None = None
    close: float = 0.0
    """How far, relative to what is expected, what is written may be."""

    def tiles(self) -> list[Any]:
        """Those that fit the card; `Tile`s keep the channels that they have."""
        if self.flops:
            part, size = PARTS.get(self.key.removesuffix("_8"), 1), 1 if self.key.endswith("_8") else 2
            tiles = [tile for tile in CONVS if tile.inputs * size == ROW_BYTES and fits(tile, part, size)]
            return [tile for tile in tiles if "uneven" not in self.key or tile.channels == UNEVEN]
        channels = self.table[self.key].channels
        return [Tile(tile.cells, channels, tile.warps) for tile in TILES]


def fits(tile: ConvTile, parts: float, size: int) -> bool:
    """Whether what a program sums stays in registers, and what it reads in shared memory."""
    outputs = parts * tile.channels
    sums = tile.cells * outputs / (32 * tile.warps)
    return (
        sums <= (128 if tile.warps < 16 else 96)
        and (tile.cells + outputs) * tile.inputs * size * tile.stages <= SHARED_BYTES
    )


def normal(*shape: int, dtype: torch.dtype = HALF) -> Tensor:
    made = torch.randn(shape, device="cuda", dtype=HALF)
    return (32 * made if dtype == torch.int8 else made).to(dtype)


def weights(outputs: int, inputs: int, side: int, dtype: torch.dtype) -> Tensor:
    made = normal(outputs, inputs, side, side, dtype=dtype)
    if dtype == HALF:
        made *= (inputs * side * side) ** -0.5
    return made.contiguous(memory_format=torch.channels_last)


def empty(*shape: int, dtype: torch.dtype = HALF) -> Tensor:
    return torch.empty(shape, device="cuda", dtype=dtype)


def conv(batch: int, side: int, inputs: int, outputs: int, kernel: int, dtype: torch.dtype) -> Work:
    def prepare() -> Call:
        x, weight = normal(batch, side, side, inputs, dtype=dtype), weights(outputs, inputs, kernel, dtype)
        scale = torch.full((outputs,), UNDO[dtype], device="cuda")
        out, expected = empty(batch, side, side, outputs), empty(1, side, side, outputs)
        if inputs == MASKED:
            warp_twins.convolved(x[-1:], weight, out=expected)
            return Trial(lambda: conv_kernels.uneven(x, weight, out=out), out, expected)
        conv_twins.convolved(x[-1:], weight, scale, out=expected)
        return Trial(lambda: conv_kernels.convolved(x, weight, scale, out=out), out, expected)

    def rival() -> Call:
        x, weight = (
            normal(batch, side, side, inputs).permute(0, 3, 1, 2),
            weights(outputs, inputs, kernel, HALF),
        )
        return lambda: F.conv2d(x, weight, padding=kernel // 2)

    flops = 2.0 * batch * side * side * inputs * outputs * kernel**2
    key = f"convolved{BITS[dtype]}"
    if inputs == MASKED:
        key = "uneven" if kernel > 3 else "uneven_3"
    name = f"{key.removesuffix('_8')}{suffix(dtype)} {side} {inputs}-{outputs}"
    return Work(name, conv_tiles.TILES, key, prepare, flops, rival, WRITTEN[HALF])


def suffix(dtype: torch.dtype) -> str:
    """Of a work's name."""
    return {HALF: "", torch.float8_e4m3fn: "_e4m3", torch.int8: "_int8"}[dtype]


def modulated(batch: int, side: int, channels: int, enlarge: int, dtype: torch.dtype) -> Work:
    def prepare() -> Call:
        small = side // enlarge
        x, shared = normal(batch, small, small, channels), normal(batch, side, side, 128, dtype=dtype)
        weight, bias = weights(2 * channels, 128, 3, dtype), torch.ones(2 * channels, device="cuda")
        stats = torch.ones(batch, 2, channels, device="cuda")
        out, expected = (empty(count, side, side, channels, dtype=dtype) for count in (batch, 1))
        options = {"enlarge": enlarge, "slope": 0.2, "fit": 32.0}
        if dtype != HALF:
            options["undo"] = torch.full_like(bias, UNDO[dtype])
        decoder_twins.modulated(shared[-1:], weight, bias, x[-1:], stats[-1:], out=expected, **options)
        call = partial(conv_kernels.modulated, shared, weight, bias, x, stats, out=out, **options)
        return Trial(call, out, expected)

    def rival() -> Call:
        small = side // enlarge
        x, shared = normal(batch, small, small, channels), normal(batch, side, side, 128)
        weight, bias = weights(2 * channels, 128, 3, HALF), torch.ones(2 * channels, device="cuda")
        stats, out = torch.ones(batch, 2, channels, device="cuda"), empty(batch, side, side, channels)

        def apart() -> None:
            found = layers.convolved(shared, weight)
            scale, shift = found[..., ::2], found[..., 1::2]
            decoder_kernels.modulate(x, stats, scale, shift, bias, enlarge=enlarge, slope=0.2, out=out)

        return apart

    flops = 2.0 * batch * side * side * 128 * 2 * channels * 9
    return Work(
        f"modulated{suffix(dtype)} {side} {channels} x{enlarge}",
        conv_tiles.TILES,
        f"modulated{BITS[dtype]}",
        prepare,
        flops,
        rival,
        WRITTEN[dtype],
    )


def steps(batch: int) -> Iterator[Work]:
    """The kernels between convolutions, at their largest."""

    def motion_input() -> Call:
        small, out = normal(batch, 16, 64, 64, 4), empty(batch * 16, 64, 64, 112)
        which, points = torch.arange(batch, device="cuda"), torch.rand(batch, 21, 3, device="cuda")
        return lambda: sampling_kernels.motion_input(small, which, points, points, out=out)

    def deform() -> Call:
        found, bias = normal(batch * 16, 64, 64, 176), torch.zeros(22, device="cuda")
        volume, out = normal(batch, 16, 64, 64, 32), empty(batch, 64, 64, 512)
        which, points = torch.arange(batch, device="cuda"), torch.rand(batch, 21, 3, device="cuda")
        return lambda: sampling_kernels.deform(found, bias, points, points, volume, which, taps=7, out=out)

    def depth_sum(side: int, channels: int, pool: int, enlarge: int, extra: int) -> Callable[[], Call]:
        def prepare() -> Call:
            edge = side // 2 + 1 if enlarge == 2 else side * pool
            found = normal(batch * 16, edge, edge, enlarge**2 * 3 * channels)
            bias, out = torch.zeros(channels, device="cuda"), empty(batch * 16, side, side, channels + extra)
            beside = normal(batch * 16, side, side, extra) if extra else None
            return lambda: warp_kernels.depth_sum(
                found, bias, depth=16, taps=3, out=out, pool=pool, enlarge=enlarge, beside=beside
            )

        return prepare

    def shared(side: int, factor: int) -> Callable[[], Call]:
        def prepare() -> Call:
            found = normal(batch, 65, 65, {2: 512, 4: 1152}[factor])
            bias, out = torch.zeros(128, device="cuda"), empty(batch, side, side, 128)
            return lambda: decoder_kernels.shared(found, bias, factor=factor, out=out)

        return prepare

    def settle(side: int, channels: int) -> Callable[[], Call]:
        def prepare() -> Call:
            x, bias = normal(batch, side, side, channels), torch.zeros(channels, device="cuda")
            out, stats = torch.empty_like(x), torch.empty(batch, 2, channels, device="cuda")
            return lambda: decoder_kernels.settle(x, bias, plus=(out,), out=out, stats=stats)

        return prepare

    def statistics() -> Call:
        parts, stats = (
            torch.rand(batch, 128, 2, 256, device="cuda"),
            torch.empty(batch, 2, 256, device="cuda"),
        )
        return lambda: decoder_kernels.concluded(parts, stats, 1 << 14)

    def modulate(side: int, channels: int) -> Callable[[], Call]:
        def prepare() -> Call:
            x, found = normal(batch, side, side, channels), normal(batch, side, side, 2 * channels)
            stats, bias = (
                torch.ones(batch, 2, channels, device="cuda"),
                torch.ones(2 * channels, device="cuda"),
            )
            scale, shift, out = found[..., :channels], found[..., channels:], torch.empty_like(x)
            return lambda: decoder_kernels.modulate(
                x, stats, scale, shift, bias, enlarge=1, slope=0.2, out=out
            )

        return prepare

    def picture() -> Call:
        found, bias = normal(batch, 256, 256, 16), torch.zeros(12, device="cuda")
        mask, out = empty(512, 512), empty(batch, 512, 512, 4)
        return lambda: decoder_kernels.picture(found, bias, mask, out=out)

    sampling, warp, decoder = sampling_kernels.TILES, warp_kernels.TILES, decoder_kernels.TILES
    yield Work("motion_input", sampling, "motion_input", motion_input)
    yield Work("deform", sampling, "deform", deform)
    yield Work("depth_sum pooled", warp, "depth_sum", depth_sum(32, 64, 2, 1, 0))
    yield Work("depth_sum enlarged", warp, "depth_sum", depth_sum(64, 32, 1, 2, 112))
    yield Work("depth_sum plain", warp, "depth_sum", depth_sum(64, 144, 1, 1, 0))
    yield Work("shared x2", decoder, "shared", shared(128, 2))
    yield Work("shared x4", decoder, "shared", shared(256, 4))
    yield Work("settle 64", decoder, "settle", settle(64, 512))
    yield Work("settle 128", decoder, "settle", settle(128, 256))
    yield Work("settle 256", decoder, "settle", settle(256, 64))
    yield Work("statistics", decoder, "statistics", statistics)
    yield Work("modulate 64", decoder, "modulate", modulate(64, 512))
    yield Work("picture", decoder, "picture", picture)


def composite(batch: int, *, whole: bool) -> Work:
    """Faces on pictures of 1080x1920; `whole` as a captured call covers them, else their boxes alone."""

    def prepare() -> Call:
        device, size = torch.device("cuda"), (1080, 1920)
        made = Pictures(
            composite_kernels, transfers_for(device), slots=batch, largest=size, side=512, dtype=HALF
        )
        turned = np.array([[[1.55, -0.08, 150], [0.08, 1.55, 300]]], np.float32)
        plate = np.full((size[1], size[0], 3), 90, np.uint8)
        showings: list[Showing] = []
        for slot in range(batch):
            made.open(slot, plate, turned)
            showings.append(Showing(slot, 0, made.surfaces(slot, 1)[0]))
        table, faces = (
            torch.tensor(made.rows(showings), device=device),
            torch.rand(batch, 512, 512, 4, device=device),
        )
        faces, extent = faces.half(), made.whole if whole else made.extent
        return lambda: made.composite(faces, table, extent)

    name = "composite whole" if whole else "composite boxes"
    return Work(name, composite_kernels.TILES, "composite", prepare)


def works(batch: int) -> list[Work]:
    found = [
        modulated(batch, side, channels, enlarge, dtype)
        for dtype in BITS
        for side, channels, enlarge in (
            (64, 512, 1),
            (128, 512, 2),
            (128, 256, 1),
            (256, 256, 2),
            (256, 64, 1),
        )
    ]
    found.append(conv(16 * batch, 64, MASKED, 176, 7, HALF))
    found.append(conv(16 * batch, 64, MASKED, 432, 3, HALF))
    found += [
        conv(batch, side, inputs, outputs, 3, dtype)
        for dtype in BITS
        for side, inputs, outputs in (
            (64, 512, 512),
            (128, 512, 256),
            (128, 256, 256),
            (256, 256, 64),
            (128, 128, 768),
            (256, 128, 320),
            (64, 256, 128),
        )
    ]
    return [*found, *steps(batch), composite(batch, whole=False), composite(batch, whole=True)]
