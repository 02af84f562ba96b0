import json
from pathlib import Path

import pytest
from support.onnx import model, node, port
from support.tiny_hubert import tiny_hubert
from visavis.render.ditto.hubert import INPUT, OUTPUT
from visavis.scripts import bench_hubert


def options(folder: Path, content: bytes) -> list[str]:
    path = folder / "hubert.onnx"
    path.write_bytes(content)
    return ["--device", "cpu", "--tiny", "--file", str(path), "--batches", "1", "3", "--rounds", "2"]


def test_a_file_is_compared_and_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "kept/figures.json"
    assert bench_hubert.main([*options(tmp_path, tiny_hubert()), "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found == json.loads(capsys.readouterr().out)
    assert found["load"]["precision"] == "float32"
    for name in ("noise", "voice"):
        assert found["beside_onnxruntime"][name]["relative"] < 1e-5
        assert found["beside_onnxruntime"][name]["cosine"] > 0.9999
    assert list(found["batches"]) == ["1", "3"]
    assert found["batches"]["3"]["torch"]["ms"] > 0
    assert found["batches"]["3"]["ratio"] > 0


def test_what_torch_cannot_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = {"inputs": [port(INPUT, [1, "samples"])], "outputs": [port(OUTPUT, ["rows", 1024])]}
    assert bench_hubert.main(options(tmp_path, model([node("Det", [INPUT], [OUTPUT])], **ports))) == 1
    assert "asks for Det, which is not computed here" in capsys.readouterr().err
