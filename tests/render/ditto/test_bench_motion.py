import json

import pytest
import torch
from visavis.render.ditto import checkpoints, networks
from visavis.render.ditto.bench_motion import BATCHES, STEPS, MotionBench, measure
from visavis.render.ditto.lmdm import LmdmSize
from visavis.render.ditto.stitch import StitchSize
from visavis.stream.errors import SetupError, UsageError

TINY = {"lmdm": LmdmSize.tiny(), "stitch": StitchSize.tiny()}


def test_each_stage_is_measured_by_steps_and_batch() -> None:
    figures = json.loads(json.dumps(measure(MotionBench("cpu", "random:3", rounds=2, **TINY))))
    assert (figures["bench"], figures["hop"], figures["rounds"]) == ("motion", 5, 2)
    assert figures["torch"] == torch.__version__
    rows = [(row["stage"], row.get("steps"), row["batch"]) for row in figures["stages"]]
    plain = [(stage, None, batch) for stage in ("features", "window", "motion stitch") for batch in (1, 2)]
    assert sorted(rows, key=str) == sorted(
        plain + [("lmdm", steps, batch) for steps in STEPS for batch in BATCHES["cpu"]], key=str
    )
    for row in figures["stages"]:
        assert 0 < row["ms_best"] <= row["ms"] <= row["ms_p95"]
        frames = row["batch"] * (1 if row["stage"] == "motion stitch" else 5)
        assert row["ms_a_frame"] == pytest.approx(row["ms"] / frames, abs=1e-3)
    whole = {
        (row.get("steps"), row["batch"]): row["ratio"] for row in figures["stages"] if row["stage"] == "lmdm"
    }
    assert whole[10, 1] == 1
    assert min(whole.values()) > 0


def test_a_latency_says_how_many_frames_a_hop_has() -> None:
    figures = measure(MotionBench("cpu", latency="low-latency", rounds=1, **TINY))
    assert figures["hop"] == 2


def test_without_a_gpu_auto_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert MotionBench().on == torch.device("cpu")
    with pytest.raises(SetupError, match="--device cpu"):
        MotionBench("cuda")


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"device": "tpu"}, "use auto, cpu or cuda"),
        ({"latency": "fast"}, "choose one of"),
        ({"rounds": -1}, "at least one round"),
    ],
)
def test_what_makes_no_sense_is_told(options: dict[str, object], advice: str) -> None:
    with pytest.raises(UsageError, match=advice):
        MotionBench(**options)  # type: ignore[arg-type]


def test_weights_of_another_kind_are_looked_for_as_the_engine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        measure(MotionBench("cpu", "nowhere", rounds=1))
    with pytest.raises(UsageError, match="needs a number"):
        measure(MotionBench("cpu", "random:x", rounds=1))
    monkeypatch.setattr(checkpoints, "parse_source", lambda text: text)

    def load_networks(source: str, device: torch.device) -> None:
        raise SetupError(f"{source} on {device}")

    monkeypatch.setattr(networks, "load_networks", load_networks)
    with pytest.raises(SetupError, match="official on cpu"):
        measure(MotionBench("cpu", "official", rounds=1))
