import logging
import math
import os
from pathlib import Path

import pytest
import torch
from support.onnx import model, node, port
from support.tiny_hubert import tiny_hubert
from torch import Tensor
from visavis.render.ditto import hubert_torch
from visavis.render.ditto.core.memory import STAYS, Memory
from visavis.render.ditto.features import Cadence, whole
from visavis.render.ditto.hubert import INPUT, OUTPUT, Hubert
from visavis.render.ditto.hubert_torch import (
    OffError,
    TorchHubert,
    by_torch,
    check_windows,
    load_hubert,
    relative_error,
)
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.ops import UnknownError
from visavis.render.ditto.onnx.wire import UnreadableError
from visavis.stream.errors import SetupError

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
ODD = model(
    [node("Det", [INPUT], [OUTPUT])],
    inputs=[port(INPUT, [1, "samples"])],
    outputs=[port(OUTPUT, ["rows", 1024])],
)


def file(folder: Path, content: bytes) -> Path:
    path = folder / "hubert.onnx"
    path.write_bytes(content)
    return path


def sound(slots: int) -> Tensor:
    return 0.1 * torch.randn(slots, 6480, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("batched", [False, True], ids=["one at a time", "all at once"])
def test_torch_hears_what_onnxruntime_hears(tmp_path: Path, batched: bool) -> None:
    path = file(tmp_path, tiny_hubert(batched=batched))
    found = by_torch(path, CPU)
    assert found.on_gpu is False
    rows = found(sound(3))
    assert rows.shape == (3, 20, 1024)
    assert torch.allclose(rows, Hubert(path)(sound(3)), atol=1e-5)


def test_onnxruntime_is_asked_once_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path, tiny_hubert())
    first = by_torch(path, CPU)(sound(1))
    monkeypatch.setattr(hubert_torch, "Hubert", lambda *_, **__: pytest.fail("asked again"))
    assert torch.equal(by_torch(path, CPU)(sound(1)), first)


def test_another_file_in_its_place_is_asked_anew(tmp_path: Path) -> None:
    by_torch(file(tmp_path, tiny_hubert()), CPU)
    path = file(tmp_path, tiny_hubert(batched=True))
    os.utime(path, ns=(1, 1))
    assert torch.allclose(by_torch(path, CPU)(sound(1)), Hubert(path)(sound(1)), atol=1e-5)


def test_answers_that_torch_does_not_give_are_not_believed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, tiny_hubert())
    with monkeypatch.context() as patched:
        patched.setattr(Wrong, "more", 1.01)
        patched.setattr(hubert_torch, "Network", Wrong)
        with pytest.raises(OffError):
            by_torch(path, CPU)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    by_torch(path, CPU)
    assert {one.suffix for one in tmp_path.iterdir()} == {".onnx", ".safetensors"}


def test_it_serves_where_features_are_made(tmp_path: Path) -> None:
    path = file(tmp_path, tiny_hubert())
    heard = sound(1)[0, :5000].numpy()
    found = whole(by_torch(path, CPU), heard, Cadence(2))
    assert torch.allclose(found, whole(Hubert(path), heard, Cadence(2)), atol=1e-5)


def test_on_the_cpu_onnxruntime_hears(tmp_path: Path) -> None:
    assert isinstance(load_hubert(file(tmp_path, tiny_hubert()), CPU), Hubert)


def test_a_gpu_is_served_by_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, torch.device, bool]] = []

    def found(path: Path, device: torch.device, *, eager: bool, memory: Memory) -> TorchHubert:
        assert memory is STAYS
        asked.append((path, device, eager))
        return by_torch(path, CPU)

    monkeypatch.setattr(hubert_torch, "by_torch", found)
    path = file(tmp_path, tiny_hubert())
    assert isinstance(load_hubert(path, CUDA), TorchHubert)
    assert isinstance(load_hubert(path, CUDA, eager=True), TorchHubert)
    assert asked == [(path, CUDA, False), (path, CUDA, True)]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UnknownError("asks for Det, which is not computed here"), "asks for Det"),
        (UnreadableError("has sparse weights"), "has sparse weights"),
        (OffError("gives other rows"), "gives other rows"),
    ],
)
def test_what_torch_cannot_do_onnxruntime_does_with_one_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: ValueError,
    words: str,
) -> None:
    def refused(path: Path, device: torch.device, *, eager: bool, memory: Memory) -> TorchHubert:
        raise error

    monkeypatch.setattr(hubert_torch, "by_torch", refused)
    with caplog.at_level(logging.WARNING):
        found = load_hubert(file(tmp_path, tiny_hubert()), CUDA)
    assert isinstance(found, Hubert)
    (said,) = (one.getMessage() for one in caplog.records)
    assert words in said
    assert "torch cannot run it, so onnxruntime does, on the CPU" in said
    assert found(sound(1)).shape == (1, 20, 1024)


@pytest.mark.parametrize(
    "content", [b"", b"<!DOCTYPE html>", tiny_hubert()[:20000]], ids=["empty", "html", "cut"]
)
def test_a_damaged_file_is_to_be_fetched_again(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SetupError, match=r"hubert\.onnx .*visavis weights fetch"):
        load_hubert(file(tmp_path, content), CUDA)


def test_a_missing_file_is_to_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone\.onnx is missing; fetch it with visavis weights fetch"):
        load_hubert(tmp_path / "gone.onnx", CUDA)


def test_another_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="inputs and outputs"):
        load_hubert(file(tmp_path, tiny_hubert(output="logits")), CUDA)


def test_operations_that_are_not_known_are_told_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubert_torch, "Hubert", None)
    with pytest.raises(UnknownError, match="asks for Det, which is not computed here"):
        by_torch(file(tmp_path, ODD), CPU)


class Wrong(Network):
    """Hears a little too much, or as much as it is told; nothing at all where it is told so."""

    more = 1.0

    def __call__(self, windows: Tensor) -> Tensor:
        if not self.more:
            raise RuntimeError("not implemented for 'Half'\nmore of it")
        return super().__call__(windows) * self.more


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        (1.01, OffError, r"other rows by torch than by onnxruntime \(1\.0e-02 in float32 of their size\)"),
        (math.nan, OffError, "inf in float32"),
        (0.0, UnknownError, r"stops in torch \(not implemented for 'Half'\)"),
    ],
)
def test_rows_that_are_off_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: float, kind: type[ValueError], words: str
) -> None:
    monkeypatch.setattr(Wrong, "more", more)
    monkeypatch.setattr(hubert_torch, "Network", Wrong)
    with pytest.raises(kind, match=words):
        by_torch(file(tmp_path, tiny_hubert()), CPU)


def test_where_half_precision_is_off_single_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[torch.dtype] = []

    class Half(Network):
        def __init__(self, program: hubert_torch.Program, device: torch.device, dtype: torch.dtype) -> None:
            super().__init__(program, device, dtype)
            tried.append(dtype)
            self.factor = 1.0 if dtype == torch.float32 else 1.5

        def __call__(self, windows: Tensor) -> Tensor:
            return super().__call__(windows) * self.factor

    monkeypatch.setattr(hubert_torch, "Network", Half)
    monkeypatch.setattr(hubert_torch, "PRECISIONS", {"cpu": hubert_torch.PRECISIONS["cuda"]})
    path = file(tmp_path, tiny_hubert())
    assert torch.allclose(by_torch(path, CPU)(sound(1)), Hubert(path)(sound(1)), atol=1e-5)
    assert tried == [torch.float16, torch.float32]


def test_half_precision_is_enough_where_it_is_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubert_torch, "PRECISIONS", {"cpu": hubert_torch.PRECISIONS["cuda"]})
    path = file(tmp_path, tiny_hubert())
    rows = by_torch(path, CPU)(sound(2))
    assert 0 < relative_error(rows, Hubert(path)(sound(2))) < 1e-2


def test_an_encoder_is_tried_with_noise_a_voice_and_silence() -> None:
    heard = check_windows(6480)
    assert heard.shape == (3, 6480)
    assert 0.05 < heard[0].std() < 0.15
    assert 0.05 < heard[1].abs().max() < 1
    assert not heard[2].any()


def test_the_worst_window_counts() -> None:
    expected = torch.ones(2, 3, 4)
    assert relative_error(expected * torch.tensor([1.0, 1.5])[:, None, None], expected) == pytest.approx(0.5)
    assert relative_error(expected / 0, expected) == math.inf


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_hears_the_same_without_waiting(tmp_path: Path) -> None:
    path = file(tmp_path, tiny_hubert())
    found = by_torch(path, CUDA)
    assert found.on_gpu is True
    found(sound(1))
    torch.cuda.set_sync_debug_mode("error")
    try:
        rows = found(sound(3))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert rows.device.type == "cuda"
    assert relative_error(rows.cpu(), Hubert(path)(sound(3))) < 1e-2
