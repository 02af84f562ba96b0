import json
from pathlib import Path

import pytest
import torch
from visavis.render.ditto import card
from visavis.render.ditto.card import facts, kernel_problem, main
from visavis.render.ditto.checkpoints import RandomWeights, Source

CPU = torch.device("cpu")


def test_a_machine_without_a_gpu_computes_and_has_no_card() -> None:
    told = facts(CPU, None)
    assert told["torch"] == torch.__version__
    assert (told["card"], told["driver"], told["memory_bytes"], told["digest"]) == (None, None, 0, "")
    assert told["problem"] == ""


def test_what_computes_wrongly_or_not_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, _device: tensor + 1)
    assert kernel_problem(CPU) == "it computes wrong numbers"
    monkeypatch.undo()
    problem = kernel_problem(torch.device("meta"))
    assert problem
    assert "\n" not in problem


def test_the_process_prints_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Source, bool]] = []

    def digest_at(source: Source, *, keep: bool) -> str:
        asked.append((source, keep))
        return "known"

    monkeypatch.setattr(card, "digest_at", digest_at)
    assert main(["--weights", "random:5"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["digest"] == "known"
    assert asked == [(RandomWeights(5), False)]


def test_weights_that_are_not_there_have_no_digest(tmp_path: Path) -> None:
    assert facts(CPU, str(tmp_path))["digest"] == ""
    assert facts(CPU, "random:none")["digest"] == ""


def test_a_card_is_told_with_driver_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU is at hand where tests run: what the driver would say is put in its place."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (3 << 30, 4 << 30))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _device: "Some Card")
    monkeypatch.setattr(card, "driver", lambda: "580.1")
    monkeypatch.setattr(card, "kernel_problem", lambda _device: "")
    told = facts(torch.device("cuda"), None)
    assert (told["card"], told["driver"]) == ("Some Card", "580.1")
    assert (told["free_bytes"], told["memory_bytes"]) == (3 << 30, 4 << 30)
