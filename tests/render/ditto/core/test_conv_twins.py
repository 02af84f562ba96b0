import pytest
import torch
from support.core import normal
from visavis.render.ditto.core import conv_twins


@pytest.mark.parametrize(("dtype", "most"), [(torch.float8_e4m3fn, 0.04), (torch.int8, 0.01)])
def test_eight_bits_lose_little_when_each_output_fills_them(dtype: torch.dtype, most: float) -> None:
    weight = normal(6, 5, 3, 3) * torch.tensor([1e-4, 1, 1, 1, 1, 1e3])[:, None, None, None]
    fitted, scale = conv_twins.rounded(weight, dtype)
    assert torch.isfinite(fitted.float()).all()
    assert fitted.float().abs().amax((1, 2, 3)).tolist() == [conv_twins.largest(dtype)] * 6
    back = fitted.float() * scale[:, None, None, None]
    off = (back - weight).flatten(1).norm(dim=1) / weight.flatten(1).norm(dim=1)
    assert float(off.max()) < most
    assert fitted.is_contiguous(memory_format=torch.channels_last)


def test_what_is_too_large_for_eight_bits_is_their_largest() -> None:
    value = torch.tensor([-1e30, -500, -127.5, 0, 0.5, 1.5, 460, torch.inf])
    floats = conv_twins.saturated(value, torch.float8_e4m3fn).float()
    assert floats.tolist() == [-448, -448, -128, 0, 0.5, 1.5, 448, 448]
    assert conv_twins.saturated(value, torch.int8).tolist() == [-127, -127, -127, 0, 0, 2, 127, 127]


def test_an_output_of_zeros_stays_zero() -> None:
    fitted, _ = conv_twins.rounded(torch.zeros(1, 2, 3, 3), torch.float8_e4m3fn)
    assert not fitted.float().any()
