"""The bench runs where there is no card, at a size that takes no time, and its figures hold together."""

import json

import pytest
import torch
from visavis.render.ditto.bench_encoder import EncoderSize
from visavis.render.ditto.bench_gpu import GpuBench, Sizes, measure
from visavis.render.ditto.decoder import DecoderSize
from visavis.render.ditto.lmdm import LmdmSize
from visavis.render.ditto.stitch import StitchSize
from visavis.render.ditto.warp import WarpSize
from visavis.stream.errors import SetupError, UsageError

TINY = Sizes(
    WarpSize.tiny(), DecoderSize.tiny(), LmdmSize.tiny(), StitchSize.tiny(), EncoderSize.tiny(), side=8
)


def test_it_measures_networks_and_sessions_and_tells_how_far_it_is() -> None:
    lines: list[str] = []
    bench = GpuBench(
        "cpu", batches=(1, 2), windows=(1, 2), rounds=1, most=2, ticks=3, picture=(96, 160), sizes=TINY
    )
    found = json.loads(json.dumps(measure(bench, lines.append)))
    assert [row["batch"] for row in found["pictures"]] == [1, 2]
    for row in found["pictures"]:
        assert row["relative"] < 1e-5
        assert row["same_at_any_place"]
        assert row["psnr_db"] > 80
        assert min(row[f"{way}_ms_a_frame"] for way in ("plain", "fused", "replay")) > 0
    for row in found["low_bits"]:
        assert row["sixteen_psnr_db"] > 80
        assert row["replay_cosine"] > 0.999
    assert [row["format"] for row in found["low_bits"]] == ["e4m3", "int8"]
    for pace in ("balanced", "low-latency"):
        assert 0 <= found["capacity"][pace]["sessions"] <= 2
        assert found["capacity"][pace]["tried"]
    assert {row["row"].split()[1] for row in found["motion"]} == {"plain", "twins"}
    assert found["motion_errors"]["twins"] < 1e-2
    assert len(lines) == 11
    assert found["torch"] == torch.__version__


def test_parts_of_it_run_alone() -> None:
    bench = GpuBench("cpu", ticks=2, picture=(96, 160), sizes=TINY, parts=("capacity",), sessions=(1,))
    found = measure(bench)
    assert not {"pictures", "low_bits", "motion", "memory"} & set(found)
    assert [one["sessions"] for one in found["capacity"]["balanced"]["tried"]] == [1]


def test_what_cannot_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SetupError, match="no NVIDIA GPU"):
        GpuBench("cuda")
    with pytest.raises(UsageError, match="no device 'tpu'"):
        GpuBench("tpu")
    with pytest.raises(UsageError, match="at least one round"):
        GpuBench("cpu", rounds=0)
    with pytest.raises(UsageError, match="no part 'sound'"):
        GpuBench("cpu", parts=("sound",))
