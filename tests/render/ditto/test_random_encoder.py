import torch
from visavis.render.ditto.features import rows_of
from visavis.render.ditto.random_encoder import ProjectionEncoder, random_encoder


def sound(*shape: int) -> torch.Tensor:
    return 0.1 * torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_rows_have_the_shape_of_the_official_encoders() -> None:
    for samples in (400, 719, 720, 6480, 6481):
        assert random_encoder(1)(sound(2, samples)).shape == (2, rows_of(samples), 1024)


def test_a_seed_gives_the_same_encoder_and_another_seed_another() -> None:
    heard = sound(1, 6480)
    assert torch.equal(random_encoder(3)(heard), random_encoder(3)(heard))
    assert not torch.equal(random_encoder(3)(heard), random_encoder(4)(heard))


def test_what_a_row_is_does_not_depend_on_the_batch() -> None:
    heard = sound(5, 6480)
    encoder = random_encoder(2)
    whole = encoder(heard)
    for slot in range(5):
        assert torch.equal(encoder(heard[slot : slot + 1]), whole[slot : slot + 1])


def test_a_row_is_a_projection_of_400_samples() -> None:
    basis, bias = torch.randn(400, 1024), torch.randn(1024)
    heard = sound(1, 1040)
    rows = ProjectionEncoder(basis, bias)(heard)[0]
    assert torch.allclose(rows[2], heard[0, 640:1040] @ basis + bias, atol=1e-4)
