import math

import pytest
import torch
from support.core import DECODERS, decoder, normal
from support.eight_bits import EACH_FORMAT
from torch import Tensor
from visavis.render.ditto.core import decoder_twins
from visavis.render.ditto.core.calibration import (
    Closeness,
    Limits,
    calibrate,
    compared,
    drawn,
    fits_of,
    work,
)
from visavis.render.ditto.core.decoder import FastDecoder
from visavis.render.ditto.core.low_bits import Format, LowBits
from visavis.render.ditto.decoder import Decoder

SIZE = DECODERS["odd"]
BATCHES = [normal(2, 4, 6, SIZE.features), normal(1, 4, 6, SIZE.features, seed=6)]


class Remembering:
    """The plain steps; `largest` are those of all maps that a convolution reads, in turn."""

    def __init__(self) -> None:
        self.largest: list[float] = []

    def __getattr__(self, name: str) -> object:
        return getattr(decoder_twins, name)

    def shared(self, *given: Tensor, out: Tensor, **options: float) -> None:
        decoder_twins.shared(*given, out=out, **options)  # type: ignore[arg-type]
        self.largest.append(float(out.abs().max()))

    def modulated(self, *given: Tensor, out: Tensor, **options: float) -> None:
        decoder_twins.modulated(*given, out=out, **options)  # type: ignore[arg-type]
        self.largest.append(float(out.abs().max()))


def closeness(plan: LowBits) -> Closeness:
    exact = FastDecoder(decoder(SIZE), decoder_twins, dtype=torch.float32)
    low = FastDecoder(decoder(SIZE), decoder_twins, dtype=torch.float32, low_bits=plan)
    return compared(drawn(low, BATCHES), drawn(exact, BATCHES))


def planned(format: Format, limits: Limits) -> LowBits:
    return calibrate(decoder(SIZE), decoder_twins, BATCHES, dtype=torch.float32, format=format, limits=limits)


def test_fits_are_of_what_the_fast_decoder_writes_for_each_convolution() -> None:
    ops = Remembering()
    drawn(FastDecoder(decoder(SIZE), ops, dtype=torch.float32), BATCHES)  # type: ignore[arg-type]
    parts = ["norm_0", "conv_0", "norm_1", "conv_1"]
    order = [f"G_middle_0.{part}" for part in parts]
    order += [f"{up}.{part}" for up in ("up_0", "up_1") for part in ("norm_s", *parts)]
    first, second = ops.largest[: len(order)], ops.largest[len(order) :]
    expected = {name: 448 / (2 * max(pair)) for name, *pair in zip(order, first, second, strict=True)}
    assert fits_of(decoder(SIZE), BATCHES, "e4m3") == pytest.approx(expected, rel=1e-4)
    whole = fits_of(decoder(SIZE), BATCHES, "int8")
    for name, fit in expected.items():
        assert 0.999 <= whole[name] / (fit * 2 * 127 / 448) <= 2.001


def test_work_is_that_of_the_layers() -> None:
    """Of the official size, in thousands of millions of operations a frame of 64 by 64 cells."""
    with torch.device("meta"):
        found = work(Decoder())
    billions = {name: 2 * count * 64 * 64 / 1e9 for name, count in found.items()}
    assert len(found) == 6 * 4 + 2 * 5
    assert billions["G_middle_5.conv_1"] == pytest.approx(19.33, abs=0.01)
    assert billions["G_middle_0.norm_0"] == pytest.approx(9.66, abs=0.01)
    assert billions["up_0.norm_s"] == pytest.approx(28.99, abs=0.01)
    assert billions["up_1.norm_0"] == pytest.approx(77.31, abs=0.01)
    assert billions["up_1.conv_1"] == pytest.approx(4.83, abs=0.01)


@EACH_FORMAT
def test_pictures_keep_within_the_limits_and_more_would_not(format: Format) -> None:
    everything = closeness(LowBits(format, fits_of(decoder(SIZE), BATCHES, format)))
    limits = Limits(cosine=0.5, decibels=everything.decibels + 3)
    plan = planned(format, limits)
    assert 0 < len(plan.fits) < 14
    assert limits.allow(closeness(plan))
    assert planned(format, limits) == plan
    assert len(planned(format, Limits(0.5, everything.decibels - 0.1)).fits) == 14


def test_the_cheapest_harm_comes_first() -> None:
    """With room for one more than nothing, it is the one that harms least for what it saves."""
    fits, saved = fits_of(decoder(SIZE), BATCHES, "e4m3"), work(decoder(SIZE))
    alone = {name: closeness(LowBits("e4m3", {name: fit})) for name, fit in fits.items()}
    best = min(fits, key=lambda name: alone[name].error / saved[name])
    assert best in planned("e4m3", Limits(0.5, alone[best].decibels)).fits


def test_limits_that_nothing_keeps_leave_all_as_it_was() -> None:
    assert not planned("e4m3", Limits(cosine=0, decibels=math.inf)).fits


def test_closeness_is_of_the_worst_picture_and_of_colours_alone() -> None:
    exact = [torch.full((2, 3, 5, 4), 0.5), torch.full((1, 3, 5, 4), 0.5)]
    found = [one.clone() for one in exact]
    found[0][1, ..., 3] = 0
    assert compared(found, exact) == Closeness(pytest.approx(1), 0)  # type: ignore[arg-type]
    assert compared(found, exact).decibels == math.inf
    found[0][1, ..., :3] = 0.6
    found[1][0, 0, 0, 0] = 0.6
    assert compared(found, exact).decibels == pytest.approx(20, abs=1e-5)
    found[1][0, 0, 0, 0] = math.nan
    assert not Limits(0, 0).allow(compared(found, exact))


def test_limits_are_of_both() -> None:
    assert Limits().allow(Closeness(0.9996, 10**-4.25))
    assert not Limits().allow(Closeness(0.9994, 10**-4.25))
    assert not Limits().allow(Closeness(0.9996, 10**-4.15))
