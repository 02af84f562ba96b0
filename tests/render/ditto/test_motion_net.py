from dataclasses import fields

import pytest
import torch
from torch import nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.motion_net import ConvNextBlock, MotionExtractor, MotionSize, ResponseNorm


def extractor(dtype: torch.dtype = torch.float32) -> MotionExtractor:
    network = MotionExtractor(MotionSize.tiny())
    return random_weights.loaded(network, "motion_extractor", 3).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_each_item_is_a_row_of_float32_of_its_width(dtype: torch.dtype) -> None:
    source = extractor(dtype)(torch.rand(2, 3, 64, 64).to(dtype))
    items = {field.name: getattr(source.motion, field.name) for field in fields(source.motion)}
    assert {name: tuple(value.shape) for name, value in items.items()} == {
        "scale": (2, 1),
        "pitch": (2, 66),
        "yaw": (2, 66),
        "roll": (2, 66),
        "translation": (2, 3),
        "expression": (2, 63),
    }
    assert source.canonical.shape == (2, 63)
    assert {value.dtype for value in (*items.values(), source.canonical)} == {torch.float32}


def test_each_head_writes_its_own_item() -> None:
    network = extractor()
    heads = {
        "fc_scale": "scale",
        "fc_pitch": "pitch",
        "fc_yaw": "yaw",
        "fc_roll": "roll",
        "fc_t": "translation",
        "fc_exp": "expression",
        "fc_kp": "canonical",
    }
    for number, head in enumerate(heads):
        linear = network.detector.get_submodule(head)
        assert isinstance(linear, nn.Linear)
        linear.weight.zero_()
        linear.bias.fill_(number)
    source = network(torch.rand(1, 3, 32, 32))
    for number, item in enumerate(heads.values()):
        value = source.canonical if item == "canonical" else getattr(source.motion, item)
        assert (value == number).all(), item


def test_response_norm_without_weights_is_the_identity_and_shares_energy_with_them() -> None:
    norm = ResponseNorm(2)
    x = torch.tensor([3.0, 1.0]).expand(1, 4, 4, 2)
    assert torch.equal(norm(x), x)
    nn.init.ones_(norm.gamma)
    torch.testing.assert_close(norm(x)[0, 0, 0].detach(), torch.tensor([3 + 3 * 1.5, 1 + 0.5]))


def test_response_norm_of_halves_does_not_overflow() -> None:
    norm = ResponseNorm(2).half()
    nn.init.ones_(norm.gamma)
    assert norm(torch.full((1, 64, 64, 2), 100.0).half()).isfinite().all()


def test_a_block_without_its_last_weights_is_the_identity() -> None:
    block = ConvNextBlock(3)
    nn.init.zeros_(block.pwconv2.weight)
    nn.init.zeros_(block.pwconv2.bias)
    x = torch.rand(1, 3, 5, 5)
    assert torch.equal(block(x), x)


def test_a_size_needs_blocks_for_each_width() -> None:
    with pytest.raises(ValueError, match="2 widths, but 1"):
        MotionSize(widths=(2, 4), blocks=(1,))
