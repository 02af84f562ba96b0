import torch
from torch import nn
from visavis.render.ditto.spectral import SpectralConv2d, fold, official_layout


def official() -> tuple[nn.Conv2d, dict[str, torch.Tensor]]:
    """A convolution as torch's own old spectral norm stores it, in eval mode."""
    torch.manual_seed(2)
    layer = nn.utils.spectral_norm(nn.Conv2d(3, 5, 3))
    layer(torch.rand(1, 3, 8, 8))
    layer.eval()
    return layer, {f"block.{key}": value for key, value in layer.state_dict().items()}


def test_the_folded_weight_computes_what_the_official_layer_computes() -> None:
    layer, stored = official()
    plain = nn.Sequential(SpectralConv2d(3, 5, 3))
    plain.load_state_dict({key.replace("block", "0"): value for key, value in fold(stored).items()})
    picture = torch.rand(2, 3, 8, 8)
    torch.testing.assert_close(plain(picture), layer(picture), atol=1e-6, rtol=1e-6)


def test_folding_leaves_other_entries_and_folded_ones_as_they_are() -> None:
    _, stored = official()
    once = fold(stored | {"other.weight": torch.ones(2)})
    assert set(once) == {"block.weight", "block.bias", "other.weight"}
    assert once["block.bias"] is stored["block.bias"]
    assert fold(once) == once


def test_folding_keeps_the_dtype() -> None:
    _, stored = official()
    assert fold({key: value.half() for key, value in stored.items()})["block.weight"].dtype == torch.float16


def test_the_official_layout_of_a_spectral_convolution_is_how_torch_stores_it() -> None:
    _, stored = official()
    with torch.device("meta"):
        network = nn.ModuleDict({"block": SpectralConv2d(3, 5, 3)})
    layout = official_layout(network)
    assert {key: value.shape for key, value in layout.items()} == {
        key: value.shape for key, value in stored.items()
    }
    assert all(value.is_meta for value in layout.values())


def test_the_official_layout_of_all_else_is_its_state_dict() -> None:
    network = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))
    layout = official_layout(network)
    assert {key: (value.shape, value.dtype) for key, value in layout.items()} == {
        key: (value.shape, value.dtype) for key, value in network.state_dict().items()
    }
