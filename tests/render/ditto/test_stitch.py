import torch
from torch import nn
from visavis.render.ditto.stitch import StitchNetwork, StitchSize

KEYPOINTS = torch.rand(2, 21, 3, generator=torch.Generator().manual_seed(1))


def constant(out: torch.Tensor) -> StitchNetwork:
    """A network whose last layer gives `out` (65,) whatever it reads."""
    network = StitchNetwork(StitchSize.tiny()).requires_grad_(False)
    last = network.mlp[-1]
    assert isinstance(last, nn.Linear)
    last.weight.zero_()
    last.bias.copy_(out)
    return network


def test_a_network_that_says_nothing_moves_nothing() -> None:
    assert torch.equal(constant(torch.zeros(65))(KEYPOINTS.flip(0), KEYPOINTS), KEYPOINTS)


def test_the_last_two_numbers_move_all_keypoints_across_and_down() -> None:
    out = torch.zeros(65)
    out[63], out[64] = 0.25, -0.5
    got = constant(out)(KEYPOINTS.flip(0), KEYPOINTS)
    torch.testing.assert_close(got, KEYPOINTS + torch.tensor([0.25, -0.5, 0.0]))


def test_each_keypoint_has_three_numbers_of_its_own() -> None:
    out = torch.zeros(65)
    out[3 * 5 + 2] = 1.0
    moved = constant(out)(KEYPOINTS.flip(0), KEYPOINTS) - KEYPOINTS
    assert moved.nonzero().tolist() == [[0, 5, 2], [1, 5, 2]]


def test_the_source_is_read_before_the_driven_keypoints() -> None:
    network = StitchNetwork(StitchSize(hidden=(1,))).requires_grad_(False)
    for value in network.parameters():
        value.zero_()
    first, last = network.mlp[0], network.mlp[-1]
    assert isinstance(first, nn.Linear)
    assert isinstance(last, nn.Linear)
    first.weight[0, 0] = 1
    last.weight[63, 0] = 1
    got = network(KEYPOINTS, torch.zeros(2, 21, 3))
    torch.testing.assert_close(got[:, :, 0], KEYPOINTS[:, :1, 0].expand(2, 21))


def test_keypoints_of_a_half_network_keep_float32() -> None:
    network = constant(torch.zeros(65)).half()
    got = network(KEYPOINTS, KEYPOINTS)
    assert torch.equal(got, KEYPOINTS)
