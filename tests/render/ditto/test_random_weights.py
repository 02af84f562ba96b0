from pathlib import Path

import numpy as np
import pytest
import torch
from support.networks import networks, official
from torch import nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.motion_net import MotionExtractor, MotionSize
from visavis.render.ditto.spectral import fold

GOLDEN = Path(__file__).parents[2] / "golden/ditto"
GOLDEN_SEED = 857968


class Odd(nn.Module):
    """Entries of each kind that no picture network has."""

    def __init__(self) -> None:
        super().__init__()
        self.null_cond_embed = nn.Parameter(torch.zeros(1, 3, 2))
        self.rotary = nn.Module()
        self.rotary.register_buffer("freqs", torch.zeros(4))
        self.self_attn = nn.MultiheadAttention(4, 2)
        self.final_layer = nn.Linear(400, 300)
        self.other_layer = nn.Linear(400, 300)


@pytest.mark.parametrize("name", ["stitch_network", "appearance_extractor"])
def test_weights_of_a_seed_are_the_ones_that_golden_values_are_made_with(name: str) -> None:
    """The large networks are compared by `scripts/parity.py --only weights`."""
    weights = random_weights.official_state_dict(official()[name], name, GOLDEN_SEED)
    with np.load(GOLDEN / "weights.npz") as golden:
        values = [weights[key].double() for key in weights]
        digest = [
            sum(value.numel() for value in values),
            float(sum(value.sum() for value in values)),
            float(sum(value.abs().sum() for value in values)),
        ]
        np.testing.assert_allclose(golden[f"{name}.digest"], digest, rtol=1e-12)
        for entry in golden:
            if entry.startswith(f"{name}/"):
                key = entry.removeprefix(f"{name}/").removesuffix(".first8")
                np.testing.assert_array_equal(golden[entry], weights[key].flatten()[:8].numpy())


@pytest.mark.parametrize("name", ["appearance_extractor", "motion_extractor", "warp_network", "decoder"])
def test_weights_fit_the_network_and_are_finite(name: str) -> None:
    network = networks()[name]
    weights = random_weights.state_dict(network, name, 3)
    network.load_state_dict(weights, strict=True)
    assert all(value.isfinite().all() for value in weights.values())


def test_a_seed_gives_the_same_weights_again_and_another_gives_others() -> None:
    network = Decoder(DecoderSize.tiny())
    first, again, other = (random_weights.state_dict(network, "decoder", seed) for seed in (3, 3, 4))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not any(torch.equal(first[key], other[key]) for key in first)


def test_a_spectral_weight_is_stored_near_its_largest_singular_value() -> None:
    weights = random_weights.official_state_dict(Decoder(DecoderSize.tiny()), "decoder", 3)
    layers = [key.removesuffix(".weight_orig") for key in weights if key.endswith(".weight_orig")]
    assert len(layers) == 2 * 2 + 2 * 3
    plain = fold(weights)
    for layer in layers:
        assert weights[f"{layer}.weight_u"].norm() == pytest.approx(1, abs=1e-6)
        assert weights[f"{layer}.weight_v"].norm() == pytest.approx(1, abs=1e-6)
        assert 1 - 1e-6 < torch.linalg.matrix_norm(plain[f"{layer}.weight"].flatten(1), 2) < 1.2


def test_each_kind_of_entry_has_its_own_scale() -> None:
    weights = random_weights.state_dict(Odd(), "lmdm", 3)
    assert weights["null_cond_embed"].abs().max() > 0.3
    np.testing.assert_allclose(weights["rotary.freqs"], 10000.0 ** -(np.arange(4) / 4), rtol=1e-6)
    assert weights["self_attn.in_proj_bias"].abs().max() < 0.25
    assert weights["final_layer.weight"].std() == pytest.approx(0.12 / 20, rel=0.02)
    assert weights["other_layer.weight"].std() == pytest.approx(1 / 20, rel=0.02)


def test_the_scale_of_random_faces_is_near_that_of_real_ones() -> None:
    network = MotionExtractor(MotionSize.tiny())
    weights = random_weights.state_dict(network, "motion_extractor", 3)
    assert 1 < weights["detector.fc_scale.bias"].item() < 1.5
    assert weights["detector.stages.0.0.grn.gamma"].std() == pytest.approx(0.3, rel=0.5)


def test_running_statistics_are_those_of_a_trained_norm() -> None:
    network = networks()["warp_network"]
    weights = random_weights.state_dict(network, "warp_network", 3)
    for key, value in weights.items():
        if key.endswith("running_var"):
            assert (value >= 1).all()
        if key.endswith("num_batches_tracked"):
            assert value.item() == 0


def test_a_network_from_the_meta_device_is_loaded_ready_to_run() -> None:
    with torch.device("meta"):
        network = Decoder(DecoderSize.tiny())
    random_weights.loaded(network, "decoder", 3)
    assert not network.training
    assert not any(value.is_meta or value.requires_grad for value in network.parameters())
    with torch.device("cpu"):
        here = random_weights.loaded(Decoder(DecoderSize.tiny()), "decoder", 3)
    features = torch.rand(1, 8, 4, 4)
    assert torch.equal(network(features), here(features))
