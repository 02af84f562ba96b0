import torch
from visavis.render.ditto import random_weights
from visavis.render.ditto.appearance import AppearanceExtractor, AppearanceSize


def extractor(size: AppearanceSize) -> AppearanceExtractor:
    return random_weights.loaded(AppearanceExtractor(size), "appearance_extractor", 3)


def test_channels_are_dealt_out_depth_by_depth() -> None:
    network = extractor(AppearanceSize(width=4, channels=3, depth=5, residuals=0))
    image = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    flat: list[torch.Tensor] = []
    network.second.register_forward_hook(lambda _module, _inputs, out: flat.append(out))
    got = network(image)
    assert got.shape == (2, 3, 5, 4, 4)
    for channel in range(3):
        for depth in range(5):
            assert torch.equal(got[:, channel, depth], flat[0][:, 5 * channel + depth])


def test_a_picture_is_halved_as_often_as_its_size_says() -> None:
    network = extractor(AppearanceSize(width=2, halvings=3, channels=2, depth=2, residuals=1))
    assert network(torch.rand(1, 3, 32, 48)).shape == (1, 2, 2, 4, 6)


def test_what_is_far_from_a_change_does_not_see_it() -> None:
    """Kernels reach some cells only: a picture's corner does not touch the opposite one."""
    network = extractor(AppearanceSize(width=4, channels=3, depth=4, residuals=1))
    image = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    other = image.clone()
    other[..., :4, :4] = 0
    difference = (network(image) - network(other)).abs().amax((0, 1, 2))
    assert difference[0, 0] > 0
    assert difference[8:, 8:].max() == 0
