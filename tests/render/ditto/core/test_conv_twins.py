import torch
from support.core import normal
from visavis.render.ditto.core import conv_twins


def test_eight_bits_lose_little_when_each_output_fills_them() -> None:
    weight = normal(6, 5, 3, 3) * torch.tensor([1e-4, 1, 1, 1, 1, 1e3])[:, None, None, None]
    fitted, scale = conv_twins.rounded(weight, torch.float8_e4m3fn)
    assert torch.isfinite(fitted.float()).all()
    back = fitted.float() * scale[:, None, None, None]
    off = (back - weight).flatten(1).norm(dim=1) / weight.flatten(1).norm(dim=1)
    assert float(off.max()) < 0.04
    assert fitted.is_contiguous(memory_format=torch.channels_last)


def test_an_output_of_zeros_stays_zero() -> None:
    fitted, _ = conv_twins.rounded(torch.zeros(1, 2, 3, 3), torch.float8_e4m3fn)
    assert not fitted.float().any()
