import pytest
import torch
from support.interpreter import triton
from visavis.render.ditto.core import conv_tiles
from visavis.scripts import bench_kernels

assert triton is not None


def test_each_kernel_on_each_shape_has_tiles_to_try() -> None:
    works = bench_kernels.works(8)
    names = [one.name for one in works]
    assert len(set(names)) == len(names)
    for one in works:
        assert one.key in one.table
        assert len(set(one.tiles())) == len(one.tiles()) > 5
        kind = type(one.table[one.key])
        assert all(isinstance(tile, kind) for tile in one.tiles())
    assert {one.key for one in works if one.flops} == set(conv_tiles.TILES)


def test_a_machine_without_a_gpu_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert bench_kernels.main([]) == 1
    assert "no NVIDIA GPU" in capsys.readouterr().err
