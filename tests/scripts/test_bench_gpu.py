import pytest
import torch
from visavis.scripts import bench_gpu


def test_what_cannot_run_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert bench_gpu.main(["--device", "cuda"]) == 1
    assert capsys.readouterr().err == "bench_gpu: torch finds no NVIDIA GPU here; use --device cpu\n"
