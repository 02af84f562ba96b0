"""Counters become the words that the authors of Philox publish, and words become normal noise."""

import pytest
import torch
from visavis.render.ditto.core.noise_twins import normal, philox

# Counter, key and words of kat_vectors in Random123 1.14.
PUBLISHED = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), PUBLISHED)
def test_words_are_the_published_ones(
    counter: tuple[int, ...], key: tuple[int, int], words: tuple[int, ...]
) -> None:
    a, b, c, d = (torch.tensor([one]) for one in counter)
    found = philox((a, b, c, d), (torch.tensor([key[0]]), torch.tensor([key[1]])))
    assert tuple(int(one) for one in found) == words


def test_streams_and_draws_stand_alone() -> None:
    seeds, firsts = torch.tensor([5, -6]), torch.tensor([-78, 3])
    both = normal(seeds, firsts, draws=3, frames=4, width=7)
    assert both.shape == (3, 2, 4, 7)
    alone = normal(seeds[1:], firsts[1:] + 2, draws=2, frames=2, width=7)
    assert torch.equal(both[:2, 1:, 2:], alone)


def test_tails_are_those_of_the_normal_distribution() -> None:
    drawn = normal(torch.tensor([9]), torch.tensor([0]), draws=2, frames=2000, width=265)
    assert torch.isfinite(drawn).all()
    for beyond, share in ((1.0, 0.31731), (2.0, 0.04550), (3.0, 0.00270)):
        found = float((drawn.abs() > beyond).float().mean())
        assert found == pytest.approx(share, rel=0.05), beyond
    assert float(drawn.abs().max()) > 4.5
