"""The runner of `nets`, `warp` and `decoder` follows what a golden directory says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from visavis.render.ditto import random_weights
from visavis.render.ditto.stitch import StitchNetwork
from visavis.scripts.golden.harness import GoldenFile
from visavis.scripts.golden.networks import build, drawn, reads_of, run

SEED = 11


def file(cases: Mapping[str, Any], name: str = "nets", **arrays: np.ndarray) -> GoldenFile:
    return GoldenFile(name, SEED, cases, arrays, torch.device("cpu"), torch.float32)


def stitched(**more: np.ndarray) -> GoldenFile:
    """A file `nets` with the stitch network alone, and its right result."""
    empty = file({})
    source, driven = empty.normal("s", 3, 21, 3), empty.normal("d", 3, 21, 3)
    network = random_weights.loaded(StitchNetwork(), "stitch_network", SEED)
    out = network(torch.from_numpy(source), torch.from_numpy(driven)).numpy()
    arrays = {"stitch.kp_source": source, "stitch.kp_driving": driven, "stitch.out": out, **more}
    return file({"stitch": {"note": ""}}, **arrays)


@pytest.mark.parametrize(
    ("text", "shape", "low", "high"),
    [
        ("a/b uniform [0,1) (2,3,4)", (2, 3, 4), 0, 1),
        ("a/b uniform 0.25..0.5 (2,3,4)", (2, 3, 4), 0.25, 0.5),
        ("a/b uniform -6..-1 (1, 9)", (1, 9), -6, -1),
        ("the image is a/b uniform (5,4)", (5, 4), 0, 1),
    ],
)
def test_a_uniform_stream_keeps_to_its_bounds(
    text: str, shape: tuple[int, ...], low: float, high: float
) -> None:
    expected = file({}).uniform("a/b", *shape, low=low, high=high)
    np.testing.assert_array_equal(drawn(file({}), text), expected)


def test_streams_lie_beside_each_other_in_one_batch() -> None:
    one = file({})
    got = drawn(
        one, "a/x uniform [0,1) (1,3,16,32); a/y smooth_image 16x32 /255, CHW; a/z uniform 0..1 (2,3,16,32)"
    )
    picture = one.smooth_image("a/y", 16, 32).transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    assert got.shape == (4, 3, 16, 32)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got[1], picture)
    np.testing.assert_array_equal(got[2:], one.uniform("a/z", 2, 3, 16, 32))


def test_rows_are_changed_in_the_order_of_the_words() -> None:
    text = "q/f normal (3,4) * 0.5; then row 1 *= 0.3; row 2 = row 1 * 0.5 + 0.2; row 0 = row 2 * 2 - 1"
    expected = file({}).normal("q/f", 3, 4, scale=0.5)
    expected[1] *= np.float32(0.3)
    expected[2] = expected[1] * np.float32(0.5) + np.float32(0.2)
    expected[0] = expected[2] * np.float32(2) - np.float32(1)
    np.testing.assert_array_equal(drawn(file({}), text), expected)


@pytest.mark.parametrize(
    ("case", "of", "rows"),
    [
        ({"input": "row 2"}, "whole", [2]),
        ({"input": "row 0 of the whole inputs", "full_shape": [1, 2]}, "whole", [0]),
        ({"note": "internals for rows 0 and 2"}, "whole", [0, 2]),
        ({"note": "internals for rows 0, 1, and 3"}, "whole", [0, 1, 3]),
        ({"input": "rows 1..3"}, "whole", [1, 2, 3]),
        ({"input": "rows 1 to 3"}, "whole", [1, 2, 3]),
        ({"input": "the same rows again"}, "whole", [0, 1, 2, 3]),
        ({"input": "b/other normal (2,5); row 1 *= 0.3"}, "mine", [0, 1]),
    ],
    ids=str,
)
def test_a_casereads_of_rows_of_the_case_that_draws_them(
    case: dict[str, object], of: str, rows: list[int]
) -> None:
    reads = reads_of(file({"whole": {"input": "a/b normal (4,5)"}, "mine": case}), "mine")
    assert (reads.of, reads.rows) == (of, rows)


def test_of_several_cases_that_draw_the_words_name_one() -> None:
    cases = {
        "first": {"input": "a/b normal (4,5)"},
        "second": {"input": "a/c normal (3,5)"},
        "mine": {"input": "row 2 of the second inputs"},
    }
    reads = reads_of(file(cases), "mine")
    assert (reads.of, reads.rows) == ("second", [2])


def test_a_case_of_any_name_is_of_the_network_that_its_arrays_are_of() -> None:
    one = stitched()
    arrays = {f"neck.{name.partition('.')[2]}": value for name, value in one.arrays.items()}
    found = list(run(file({"neck": {"note": ""}}, **arrays)))
    assert [(one.case, one.passed) for one in found] == [("neck.out", True)]


def test_the_right_result_passes_and_a_wrong_one_does_not() -> None:
    assert [(one.case, one.passed) for one in run(stitched())] == [("stitch.out", True)]
    wrong = stitched().arrays["stitch.out"] + np.float32(1e-3)
    assert [(one.case, one.passed) for one in run(stitched(**{"stitch.out": wrong}))] == [
        ("stitch.out", False)
    ]


def test_an_array_that_nothing_compares_is_a_miss() -> None:
    found = list(run(stitched(**{"stitch.other": np.zeros(3)})))
    assert [(one.case, one.passed) for one in found] == [("stitch.out", True), ("stitch.other", False)]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_reduced_precision_is_judged_by_cosine_and_mean_error(dtype: torch.dtype) -> None:
    half = replace(stitched(), dtype=dtype)
    assert next(build("stitch_network", half).parameters()).dtype == dtype
    (found,) = run(half)
    assert found.passed
    assert found.note.startswith("1-cos")
