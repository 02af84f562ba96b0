"""On a card the kernel draws what its twin does there, and what the exact picture is."""

import logging
from dataclasses import replace

import pytest
import torch
from support import nv12
from visavis.render.ditto.core import composite_kernels, composite_twins
from visavis.render.ditto.putback import feather

SIDE, SIZE = 512, (1080, 1920)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_on_a_card_a_full_picture_is_the_twins_bit_by_bit_and_80_decibels_from_the_exact_one() -> None:
    place = nv12.turned(SIDE, (540.3, 700.8), 1.55, 3)
    scene = nv12.Scene(nv12.noise_plate(*SIZE, 1), nv12.noise_face(SIDE, 2), feather(SIDE, SIDE), place)
    one = nv12.batch([scene] * 2)
    inputs = [part.cuda() for part in (one.pictures, one.table, one.colors, one.plates)]
    drawn: list[torch.Tensor] = []
    for ops in (composite_kernels, composite_twins):
        out = one.out.cuda()
        ops.composite(*inputs, out=out, extent=one.extent)
        drawn.append(out.cpu())
    assert torch.equal(drawn[0][1:], drawn[1][1:])
    left, top, right, bottom = scene.placing.box
    luma, chroma = replace(one, out=drawn[0]).planes(1)
    exact_luma, exact_chroma = nv12.exact(scene)
    half = slice(top // 2, bottom // 2), slice(left // 2, right // 2)
    found = (
        nv12.decibels(luma[top:bottom, left:right], exact_luma[top:bottom, left:right]),
        nv12.decibels(chroma[half], exact_chroma[half]),
    )
    logging.getLogger(__name__).info("Y %.1f dB, UV %.1f dB", *found)
    assert min(found) >= 80
