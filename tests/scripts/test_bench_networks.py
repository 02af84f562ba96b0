import json
from pathlib import Path
from typing import Any

import pytest
import torch
from visavis.scripts import bench_networks
from visavis.scripts.bench_networks import difference, main

TINY = ["--device", "cpu", "--size", "tiny", "--rounds", "1"]


def figures(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    out = folder / "figures.json"
    code = main([*TINY, *options, "--json", str(out)])
    return code, json.loads(out.read_text())


def test_each_network_is_measured_and_judged_in_each_dtype_and_batch(tmp_path: Path) -> None:
    code, found = figures(tmp_path, "--batch", "1", "3")
    assert code == 0
    assert found["passed"]
    assert (found["bench"], found["size"], found["torch"]) == ("networks", "tiny", torch.__version__)
    assert [(row["network"], row["dtype"], row["batch"]) for row in found["rows"]] == [
        (network, dtype, batch)
        for dtype in ("fp32", "fp16")
        for network in ("warp", "decoder", "both")
        for batch in (1, 3)
    ]
    for row in found["rows"]:
        assert row["judged"] == (row["network"] != "both")
        assert row["cosine"] >= 0.9999
        assert row["rows_cosine"] >= 0.9999
        assert row["mae"] < 0.003
        assert row["eager_ms_a_frame"] > 0
        assert "graph_ms" not in row
        if row["dtype"] == "fp16":
            assert row["max"] > 0


def test_what_is_off_by_more_than_allowed_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_networks, "MOST_MAE", 1e-6)
    code, found = figures(tmp_path, "--batch", "2", "--dtype", "fp16")
    assert code == 1
    assert not found["passed"]
    assert capsys.readouterr().out.count("MISS") == 2


def test_a_difference_is_that_of_the_worst_row() -> None:
    expected = torch.ones(2, 4)
    found = torch.tensor([[1.0, 1, 1, 1], [1, 1, 1, 0.5]])
    worst = difference(found, expected)
    assert worst.mae == 0.125
    assert worst.max == 0.5
    assert worst.cosine == pytest.approx(0.970725, abs=1e-6)
    assert difference(expected, expected).passed
    assert not worst.passed


def test_what_is_no_number_is_a_miss() -> None:
    assert not difference(torch.full((1, 4), torch.nan), torch.ones(1, 4)).passed
