import pytest
import torch
from support.motion import normal, tiny_model
from torch.nn import functional as F
from visavis.render.ditto.attention import Rotary
from visavis.render.ditto.core import motion_twins
from visavis.render.ditto.core.motion_plan import LANES, Level, MotionPlan
from visavis.render.ditto.schedule import Schedule

STEPS = Schedule.of(4)
WIDTH = 32
ORDER = [*range(0, WIDTH, 2), *range(1, WIDTH, 2)]
"""Even columns, then odd ones."""


def plan(dtype: torch.dtype = torch.float32) -> MotionPlan:
    return MotionPlan.of(tiny_model(), STEPS, dtype)


def test_a_row_in_the_plans_order_is_turned_as_rotary_turns_it() -> None:
    rotary, rows = Rotary(WIDTH, 82), normal(1, 2, 80, WIDTH)
    one = torch.ones(WIDTH)
    level = Level(one, 0 * one, rotary.cosine, rotary.sine)
    torch.testing.assert_close(motion_twins.turn(rows[..., ORDER], level), rotary(rows)[..., ORDER])


def test_layers_take_and_give_rows_in_that_order() -> None:
    model, made = tiny_model(), plan()
    layer, mine = model.seqTransDecoder.stack[0], made.layers[0]
    rows = normal(2, 5, WIDTH)
    mixed = F.linear(rows, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias)
    torch.testing.assert_close(F.linear(rows[..., ORDER], mine.mix.weight, mine.mix.bias), mixed)
    closed = layer.self_attn.out_proj(rows)[..., ORDER]
    torch.testing.assert_close(F.linear(rows, mine.close.weight, mine.close.bias), closed)


def test_inputs_are_filled_up_with_zeros_to_whole_lanes() -> None:
    made = plan()
    assert made.enter.shape == (WIDTH, 272)
    assert made.hear.weight.shape == (WIDTH, 1104)
    assert not made.enter[:, 265:].any()
    assert not made.hear.weight[:, 1103:].any()
    assert all(part.weight.shape[1] % LANES == 0 for part in (made.lead, made.film, made.memory, made.leave))


def test_film_has_its_one_already() -> None:
    model, made = tiny_model(), plan()
    rows, vector = normal(3, 1, 7, WIDTH), normal(4, 1, WIDTH)
    films = F.linear(vector, made.film.weight, made.film.bias).unflatten(-1, (2, 3, 2, WIDTH))
    for number, layer in enumerate(model.seqTransDecoder.stack):
        for index, film in enumerate((layer.film1, layer.film2, layer.film3)):
            scale, shift = films[0, number, index]
            got = scale * rows[..., ORDER] + shift
            torch.testing.assert_close(got, film(rows, vector)[..., ORDER])


def test_the_unconditional_branch_and_the_time_tokens_are_those_of_the_model() -> None:
    model, made = tiny_model(), plan()
    encoded = model.encode(normal(5, 2, 80, 1103))
    moments = model.moments(torch.tensor(STEPS.times))
    layers = model.size.layers
    for number in range(layers):
        assert torch.equal(made.deaf_memory[:, number], encoded.keys[number, 0])
        assert torch.equal(made.deaf_memory[:, layers + number], encoded.values[number, 0])
        assert torch.equal(made.late[:, :, number], moments.keys[number])
        assert torch.equal(made.late[:, :, layers + number], moments.values[number])
    film = model.seqTransDecoder.stack[1].film2.block[1](F.mish(encoded.pooled[:1] + moments.vector))
    torch.testing.assert_close(made.deaf_film[:, 1, 1, 1], film[:, WIDTH:][:, ORDER])


def test_a_plan_has_weights_of_its_own() -> None:
    model = tiny_model()
    made = MotionPlan.of(model, STEPS, torch.float32)
    before = made.layers[0].query.weight.clone()
    model.seqTransDecoder.stack[0].multihead_attn.in_proj_weight.zero_()
    assert torch.equal(made.layers[0].query.weight, before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_norms_biases_and_times_stay_in_full_precision(dtype: torch.dtype) -> None:
    made = plan(dtype)
    assert made.dtype == dtype
    weights = [made.lead.weight, made.film.weight, made.memory.weight, made.late, made.deaf_memory]
    full = [made.lead.bias, made.film.bias, made.layers[0].first.gain, made.memory_level.cosine, made.times]
    assert {part.dtype for part in (*weights, made.deaf_film)} == {dtype}
    assert {part.dtype for part in full} == {torch.float32}
