import pytest
import torch
from support.core import DECODERS, decoder, normal
from visavis.render.ditto.core import decoder_twins
from visavis.render.ditto.core.decoder import FastDecoder
from visavis.render.ditto.decoder import DecoderSize

EACH_SIZE = pytest.mark.parametrize("size", DECODERS.values(), ids=DECODERS)
HEIGHT, WIDTH = 4, 6


def drawn(size: DecoderSize, values: torch.Tensor) -> torch.Tensor:
    fast = FastDecoder(decoder(size), decoder_twins, dtype=torch.float32)
    out = torch.full((len(values), 8 * HEIGHT, 8 * WIDTH, 4), torch.nan)
    mask = torch.linspace(0, 1, 64 * HEIGHT * WIDTH).reshape(8 * HEIGHT, 8 * WIDTH)
    fast(values.permute(0, 2, 3, 1).contiguous(), mask, out=out)
    assert torch.equal(out[..., 3], mask.expand(len(values), -1, -1))
    return out[..., :3].permute(0, 3, 1, 2)


@EACH_SIZE
@pytest.mark.parametrize("batch", [1, 3])
def test_it_is_the_plain_network(size: DecoderSize, batch: int) -> None:
    values = normal(batch, size.features, HEIGHT, WIDTH)
    expected = decoder(size)(values)
    assert float(expected.std()) > 0.01
    torch.testing.assert_close(drawn(size, values), expected, atol=1e-5, rtol=0)


def test_rows_of_a_batch_are_what_they_are_alone() -> None:
    values = normal(3, DecoderSize.tiny().features, HEIGHT, WIDTH)
    alone = torch.cat([drawn(DecoderSize.tiny(), one[None]) for one in values])
    torch.testing.assert_close(drawn(DecoderSize.tiny(), values), alone, atol=1e-6, rtol=0)
