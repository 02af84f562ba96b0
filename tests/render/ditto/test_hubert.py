from pathlib import Path

import pytest
import torch
from support.onnx import model, node, port
from support.tiny_hubert import tiny_hubert
from visavis.render.ditto.features import Cadence, Chunk, rows_of, whole
from visavis.render.ditto.hubert import INPUT, OUTPUT, Hubert
from visavis.stream.errors import SetupError


def file(folder: Path, content: bytes) -> Path:
    path = folder / "hubert.onnx"
    path.write_bytes(content)
    return path


def sound(slots: int, samples: int = 6480) -> torch.Tensor:
    return 0.1 * torch.randn(slots, samples, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("batched", [False, True], ids=["one at a time", "all at once"])
def test_rows_of_a_batch_are_those_of_each_window(tmp_path: Path, batched: bool) -> None:
    encoder = Hubert(file(tmp_path, tiny_hubert(batched=batched)))
    heard = sound(3)
    rows = encoder(heard)
    assert rows.shape == (3, 20, 1024)
    assert rows.dtype == torch.float32
    for slot in range(3):
        assert torch.allclose(encoder(heard[slot : slot + 1])[0], rows[slot], atol=1e-6)
    assert rows.std() > 0.05


def test_both_kinds_of_graph_hear_the_same(tmp_path: Path) -> None:
    heard = sound(2)
    one = Hubert(file(tmp_path, tiny_hubert()))(heard)
    assert torch.allclose(one, Hubert(file(tmp_path, tiny_hubert(batched=True)))(heard), atol=1e-5)


def test_windows_of_any_length_are_heard(tmp_path: Path) -> None:
    encoder = Hubert(file(tmp_path, tiny_hubert()))
    for samples in (400, 3240, 12960):
        assert encoder(sound(1, samples)).shape == (1, rows_of(samples), 1024)


def test_it_serves_where_features_are_made(tmp_path: Path) -> None:
    encoder = Hubert(file(tmp_path, tiny_hubert()))
    assert whole(encoder, sound(1, 5000)[0].numpy(), Cadence(2)).shape == (8, 1024)


def test_without_a_gpu_build_of_onnxruntime_the_cpu_computes(tmp_path: Path) -> None:
    assert Hubert(file(tmp_path, tiny_hubert()), "cpu").on_gpu is False


def test_a_missing_file_is_to_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone\.onnx is missing; fetch it with visavis weights fetch"):
        Hubert(tmp_path / "gone.onnx")


@pytest.mark.parametrize(
    "content", [b"", b"<!DOCTYPE html>", tiny_hubert()[:20000]], ids=["empty", "html", "cut"]
)
def test_a_damaged_file_is_to_be_fetched_again(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SetupError, match=r"hubert\.onnx .*visavis weights fetch"):
        Hubert(file(tmp_path, content))


def test_another_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="inputs and outputs"):
        Hubert(file(tmp_path, tiny_hubert(output="logits")))
    with pytest.raises(SetupError, match="not rows of 1024"):
        Hubert(file(tmp_path, tiny_hubert(width=768)))
    deep = model(
        [node("Identity", [INPUT], [OUTPUT])],
        inputs=[port(INPUT, [1, 1, 1024])],
        outputs=[port(OUTPUT, [1, 1, 1024])],
    )
    with pytest.raises(SetupError, match="not rows of 1024"):
        Hubert(file(tmp_path, deep))


def test_rows_of_another_rate_are_refused_when_they_come(tmp_path: Path) -> None:
    encoder = Hubert(file(tmp_path, tiny_hubert()))
    with pytest.raises(SetupError, match="not the one that Ditto was trained with"):
        Chunk().keep(encoder(sound(1, 3240)), 5)
