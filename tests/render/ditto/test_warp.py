import torch
from support.networks import inputs
from torch import nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.dense_motion import Flow, places, sample
from visavis.render.ditto.warp import WarpNetwork, WarpSize


def network() -> WarpNetwork:
    return random_weights.loaded(WarpNetwork(WarpSize.tiny()), "warp_network", 3)


def test_the_two_halves_are_the_whole_and_each_runs_once() -> None:
    warp, values = network(), inputs("warp_network", 2)
    calls: list[str] = []
    warp.dense_motion_network.register_forward_hook(lambda *_: calls.append("flow"))
    warp.third.register_forward_hook(lambda *_: calls.append("moved"))
    flow = warp.flow(*values)
    got = warp.moved(values[0], flow)
    assert calls == ["flow", "moved"]
    assert torch.equal(got, warp(*values))


def test_what_is_hidden_is_zero() -> None:
    warp, (feature, *_) = network(), inputs("warp_network", 2)
    flow = Flow(
        deformation=places(feature).expand(2, 4, 8, 8, 3),
        occlusion=torch.zeros(2, 1, 8, 8),
        mask=torch.ones(2, 22, 4, 8, 8) / 22,
    )
    assert warp.moved(feature, flow).eq(0).all()


def test_features_are_flattened_channel_by_channel() -> None:
    warp, (feature, *_) = network(), inputs("warp_network", 2)
    seen: list[torch.Tensor] = []
    warp.third.register_forward_pre_hook(lambda _module, values: seen.append(values[0]))
    grid = places(feature).expand(2, 4, 8, 8, 3)
    warp.moved(feature, Flow(grid, torch.ones(2, 1, 8, 8), torch.ones(2, 22, 4, 8, 8)))
    assert torch.equal(seen[0][:, 4 * 2 + 3], sample(feature, grid)[:, 2, 3])


def test_what_lies_below_zero_leaks_a_hundredth() -> None:
    activation = network().third.activation
    assert isinstance(activation, nn.LeakyReLU)
    assert activation.negative_slope == 0.01
