"""An engine's networks come from a seed or from a folder, and what is missing is named."""

from pathlib import Path

import pytest
import torch
from visavis.render.ditto.checkpoints import RandomWeights
from visavis.render.ditto.networks import best_device, load_networks
from visavis.stream.errors import SetupError


@pytest.mark.slow
def test_networks_of_official_size_come_from_a_seed() -> None:
    found = load_networks(RandomWeights(3), torch.device("cpu"))
    assert sum(one.numel() for one in found.decoder.buffers()) > 50_000_000
    assert not any(one.requires_grad for one in found.lmdm.parameters())
    assert not list(found.warp.parameters())
    assert found.audio(torch.zeros(1, 6480)).shape == (1, 20, 1024)


def test_a_folder_without_them_is_told_which_file_to_get(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="weights fetch"):
        load_networks(tmp_path, torch.device("cpu"))


def test_a_machine_without_a_gpu_computes_on_its_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert best_device() == torch.device("cpu")
