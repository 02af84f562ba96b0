import torch
from visavis.render.ditto.bench_encoder import EncoderNetwork, EncoderSize, StandInEncoder
from visavis.render.ditto.features import WIDTH, rows_of

CPU = torch.device("cpu")


def test_it_has_the_shape_of_the_official_encoder() -> None:
    encoder = StandInEncoder(CPU, samples=6480, most=3, size=EncoderSize.tiny())
    sound = torch.randn(2, 6480, generator=torch.Generator().manual_seed(1))
    rows = encoder(sound)
    assert rows.shape == (2, rows_of(6480), WIDTH) == (2, 20, 1024)
    assert torch.isfinite(rows).all()
    assert not torch.equal(rows[0], rows[1])


def test_it_is_as_large_as_hubert() -> None:
    with torch.device("meta"):
        network = EncoderNetwork(EncoderSize())
    assert 300e6 < sum(one.numel() for one in network.parameters()) < 330e6
