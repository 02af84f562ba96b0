import numpy as np
import pytest
import torch
from visavis.render.ditto import timing
from visavis.render.ditto.timing import WARM_CALLS, Spent, by_kernel, machine, measured

CPU = torch.device("cpu")


def test_every_round_calls_each_step_once_after_a_warm_up() -> None:
    calls: list[str] = []
    spent = measured({name: lambda name=name: calls.append(name) for name in "ab"}, CPU, rounds=3)
    assert "".join(calls) == "a" * WARM_CALLS + "b" * WARM_CALLS + "ababab"
    assert {name: one.ms.shape for name, one in spent.items()} == {"a": (3,), "b": (3,)}


def test_figures_are_of_a_call_and_of_each_of_its_frames() -> None:
    spent = Spent(np.array([10.0, 20.0, 40.0]))
    assert spent.figures(frames=5) == {"ms": 20.0, "ms_best": 10.0, "ms_p95": 38.0, "ms_a_frame": 4.0}


def test_a_ratio_is_of_the_same_rounds() -> None:
    assert Spent(np.array([2.0, 20.0, 6.0])).ratio(Spent(np.array([1.0, 10.0, 1.0]))) == 2.0


def test_the_machine_is_named_with_its_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    found = machine(CPU)
    assert found["torch"] == torch.__version__
    assert found["cpu"]
    assert "card" not in found
    monkeypatch.setattr(timing, "_CPU", timing.Path(f"{tmp_path}/none"))
    assert machine(CPU)["cpu"] == timing.platform.machine()


def test_a_gpu_is_named_with_its_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    version = timing.Path(f"{tmp_path}/version")
    version.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n")
    monkeypatch.setattr(timing, "_DRIVER", version)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _device: "NVIDIA H200")
    found = machine(torch.device("cuda"))
    assert (found["card"], found["driver"]) == ("NVIDIA H200", "580.159.04")
    version.unlink()
    assert machine(torch.device("cuda"))["driver"] == "unknown"


def test_a_cpu_has_no_kernels_to_tell_of() -> None:
    assert by_kernel(lambda: pytest.fail("called"), CPU) == []
