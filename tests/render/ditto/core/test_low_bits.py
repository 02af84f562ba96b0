import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.core import DECODERS, decoder, normal
from support.eight_bits import EACH_FORMAT
from visavis.render.ditto.core import decoder_twins, low_bits
from visavis.render.ditto.core.calibration import compared, drawn, fits_of
from visavis.render.ditto.core.decoder import FastDecoder
from visavis.render.ditto.core.low_bits import FORMATS, Format, LowBits

SIZE = DECODERS["tiny"]
FEATURES = normal(2, 4, 6, SIZE.features)
DIGEST = "0a" * 32
PLAN = LowBits("int8", {"up_0.conv_1": 12.5, "G_middle_0.norm_0": 0.25})


def fast(plan: LowBits | None) -> FastDecoder:
    return FastDecoder(decoder(SIZE), decoder_twins, dtype=torch.float32, low_bits=plan)


def test_a_plan_that_names_nothing_changes_nothing() -> None:
    assert torch.equal(drawn(fast(LowBits()), [FEATURES])[0], drawn(fast(None), [FEATURES])[0])


@EACH_FORMAT
def test_what_a_plan_names_reads_eight_bits(format: Format) -> None:
    made = fast(replace(PLAN, format=format)).blocks
    low = FORMATS[format]
    first, last = made[0], made[-2]
    assert [first.first.both.weight.dtype, last.conv_1.weight.dtype] == [low, low]  # type: ignore[union-attr]
    assert [first.first.both.fit, last.conv_1.fit] == [0.25, 12.5]  # type: ignore[union-attr]
    others = [first.second.both, first.conv_0, first.conv_1, last.conv_0, last.shortcut.both]  # type: ignore[union-attr]
    assert {one.weight.dtype for one in others} == {torch.float32}  # type: ignore[union-attr]
    assert all(one.undo is None and one.fit == 1 for one in others)  # type: ignore[union-attr]


@EACH_FORMAT
def test_a_picture_of_eight_bits_is_another_and_near(format: Format) -> None:
    exact = drawn(fast(None), [FEATURES])
    fits = fits_of(decoder(SIZE), [FEATURES], format)
    found = compared(drawn(fast(LowBits(format, fits)), [FEATURES]), exact)
    assert found.error > 0
    assert found.decibels > 30
    one = {"G_middle_0.conv_0": fits["G_middle_0.conv_0"]}
    assert 0 < compared(drawn(fast(LowBits(format, one)), [FEATURES]), exact).error < found.error


@EACH_FORMAT
def test_what_is_too_large_for_a_plan_stays_a_number(format: Format) -> None:
    plan = LowBits(format, dict.fromkeys(fits_of(decoder(SIZE), [FEATURES], format), 1e6))
    assert torch.isfinite(drawn(fast(plan), [FEATURES])[0]).all()


def test_a_plan_is_kept_and_read(tmp_path: Path) -> None:
    path = low_bits.path_beside(tmp_path / "decoder.pth", "int8")
    assert path.name == "decoder.int8.json"
    low_bits.keep(PLAN, path, DIGEST)
    assert low_bits.kept(path, DIGEST) == PLAN
    assert os.listdir(tmp_path) == [path.name]


def test_one_for_other_weights_is_none(tmp_path: Path) -> None:
    low_bits.keep(PLAN, tmp_path / "plan.json", DIGEST)
    assert low_bits.kept(tmp_path / "plan.json", "0b" * 32) is None
    assert low_bits.kept(tmp_path / "another.json", DIGEST) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"layout": 1', '"layout": 2'),
        ('"int8"', '"int4"'),
        ("12.5", "-12.5"),
        ("12.5", '"much"'),
        ('"weights"', '"weighs"'),
        ("{", ""),
    ],
)
def test_a_damaged_one_is_none(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "plan.json"
    low_bits.keep(PLAN, path, DIGEST)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert low_bits.kept(path, DIGEST) is None


def test_one_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.json").mkdir()
    with pytest.raises(IsADirectoryError):
        low_bits.keep(PLAN, tmp_path / "plan.json", DIGEST)
    assert os.listdir(tmp_path) == ["plan.json"]
