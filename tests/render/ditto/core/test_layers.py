import torch
from support.core import normal
from torch.nn import functional as F
from visavis.render.ditto.core.layers import Layer, channels_last, convolved, lanes


def test_lanes_are_whole() -> None:
    assert [lanes(count) for count in (1, 16, 110, 142, 170)] == [16, 16, 112, 144, 176]


def test_a_picture_stays_as_large_as_it_was_or_grows_by_its_border() -> None:
    x, weight = normal(2, 5, 7, 4), channels_last(normal(6, 4, 3, 3), torch.float32)
    expected = F.conv2d(x.permute(0, 3, 1, 2), weight, padding=1).permute(0, 2, 3, 1)
    torch.testing.assert_close(convolved(x, weight), expected)
    assert convolved(x, weight[:, :, :2, :2], padding=1).shape == (2, 6, 8, 6)


def test_weights_of_an_output_are_one_row() -> None:
    weight = normal(6, 4, 3, 3)
    layer = Layer(channels_last(weight, torch.float16), normal(6))
    assert layer.outputs == 6
    rows = layer.weight.permute(0, 2, 3, 1)
    assert rows.is_contiguous()
    assert torch.equal(rows, weight.half().permute(0, 2, 3, 1))
