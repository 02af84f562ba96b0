import pytest
import torch
from support.motion import normal, tiny_model
from torch import Tensor
from torch.nn import functional as F
from visavis.render.ditto.core import motion_twins as twins
from visavis.render.ditto.core.motion_plan import Level, Linear, MotionPlan
from visavis.render.ditto.core.motion_room import Memory
from visavis.render.ditto.lmdm import GUIDANCE
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, LedOn

SLOTS, ROWS, WIDTH, HEADS = 3, 7, 32, 4
HELD = LedOn(5, 5).hold(normal(1, SLOTS, LENGTH, 265), torch.tensor([True, False, True]))
STEP = Schedule.of(5).steps[1]


def plan() -> MotionPlan:
    return MotionPlan.of(tiny_model(), Schedule.of(4), torch.float32)


def linear(outputs: int, inputs: int) -> Linear:
    return Linear(normal(2, outputs, inputs, scale=inputs**-0.5), normal(3, outputs))


def level() -> Level:
    return plan().layers[0].first


def exact(rows: Tensor, layer: Linear) -> Tensor:
    return F.linear(rows, layer.weight, layer.bias)


def test_a_projection_is_followed_by_its_activation() -> None:
    rows, layer, out = normal(4, SLOTS, WIDTH), linear(48, WIDTH), torch.empty(SLOTS, 48)
    for name, wanted in (("none", lambda x: x), ("gelu", F.gelu), ("silu", F.silu)):
        twins.project(rows, layer, activation=name, out=out)
        torch.testing.assert_close(out, wanted(exact(rows, layer)))


def test_rows_shorter_than_a_weights_lanes_are_filled_up() -> None:
    rows, layer, out = normal(4, SLOTS, 29), linear(48, 32), torch.empty(SLOTS, 48)
    twins.project(rows, layer, out=out)
    torch.testing.assert_close(out, F.linear(rows, layer.weight[:, :29], layer.bias))


@pytest.mark.parametrize("turned", [0, 32, 64, 96])
def test_only_the_first_outputs_see_turned_rows(turned: int) -> None:
    rows, layer, out = normal(4, SLOTS, ROWS, WIDTH), linear(96, WIDTH), torch.empty(SLOTS, ROWS, 96)
    twins.level_project(rows, level(), layer, turned=turned, levelled=torch.empty(0), out=out)
    plain = F.layer_norm(rows, (WIDTH,), level().gain, level().offset)
    torch.testing.assert_close(out[..., turned:], exact(plain, layer)[..., turned:])
    other = exact(twins.turn(plain, level()), layer)
    torch.testing.assert_close(out[..., :turned], other[..., :turned])
    assert turned in (0, 96) or (out[:, 1:, turned:] - other[:, 1:, turned:]).abs().max() > 0.01


def test_what_is_added_is_scaled_and_shifted_by_the_film_of_the_branch() -> None:
    rows, layer = normal(4, 2 * SLOTS, ROWS, 48), linear(WIDTH, 48)
    before, film = normal(5, 2 * SLOTS, ROWS, WIDTH), normal(6, 1 + SLOTS, 2, WIDTH)
    out = before.clone()
    twins.project_into(rows, layer, film=film, out=out)
    for row, own in enumerate([0, 0, 0, 1, 2, 3]):
        wanted = before[row] + film[own, 0] * exact(rows[row], layer) + film[own, 1]
        torch.testing.assert_close(out[row], wanted)


def test_rows_of_one_branch_can_be_added_to_both() -> None:
    rows, layer, film = normal(4, SLOTS, ROWS, 48), linear(WIDTH, 48), normal(6, 1 + SLOTS, 2, WIDTH)
    once, twice = (normal(5, 2 * SLOTS, ROWS, WIDTH) for _ in range(2))
    twins.project_into(rows, layer, film=film, out=once)
    twins.project_into(rows.repeat(2, 1, 1), layer, film=film, out=twice)
    assert torch.equal(once, twice)


def test_without_film_rows_are_just_added() -> None:
    rows, layer, before = normal(4, 2, ROWS, 48), linear(WIDTH, 48), normal(5, 2, ROWS, WIDTH)
    out = before.clone()
    twins.project_into(rows, layer, out=out)
    torch.testing.assert_close(out, before + exact(rows, layer))


def test_attention_is_that_of_the_model() -> None:
    attention = tiny_model().seqTransDecoder.stack[0].self_attn
    turned, rows, found = normal(4, 2, ROWS, WIDTH), normal(5, 2, ROWS, WIDTH), torch.empty(2, ROWS, WIDTH)
    parts = attention.queries(turned), attention.keys(turned), attention.values(rows)
    twins.attend(torch.cat(parts, dim=-1), heads=HEADS, out=found)
    torch.testing.assert_close(attention.out_proj(found), attention(turned, rows))


def test_a_look_finds_what_the_branchs_memory_and_the_late_rows_hold() -> None:
    rows, query = normal(4, 2 * SLOTS, ROWS, WIDTH), linear(WIDTH, WIDTH)
    stored, late = normal(5, 1 + SLOTS, ROWS, 4, WIDTH), normal(6, 2, 4, WIDTH)
    memory = Memory(stored[:, :, 1], stored[:, :, 3], late[:, 1], late[:, 3])
    asked, out = torch.empty_like(rows), torch.empty_like(rows)
    twins.look(rows, level(), query, memory, heads=HEADS, levelled=rows.new_empty(0), asked=asked, out=out)
    for row, own in enumerate([0, 0, 0, 1, 2, 3]):
        keys = torch.cat((stored[own, :, 1], late[:, 1]))
        values = torch.cat((stored[own, :, 3], late[:, 3]))
        for head in range(HEADS):
            part = slice(8 * head, 8 * head + 8)
            shares = torch.softmax(asked[row, :, part] @ keys[:, part].T / 8**0.5, dim=-1)
            torch.testing.assert_close(out[row, :, part], shares @ values[:, part])


def test_both_branches_begin_with_the_same_rows() -> None:
    noisy, weight, lead = normal(4, SLOTS, ROWS, 29), normal(5, WIDTH, 32), normal(6, SLOTS, WIDTH)
    out = torch.empty(2 * SLOTS, ROWS, WIDTH)
    twins.enter(noisy, weight, lead, out=out)
    assert torch.equal(out[:SLOTS], out[SLOTS:])
    torch.testing.assert_close(out[:SLOTS], F.linear(noisy, weight[:, :29]) + lead[:, None])


def test_a_step_guides_holds_and_takes_noise_away() -> None:
    hidden, layer = normal(4, 2 * SLOTS, LENGTH, WIDTH), linear(265, WIDTH)
    noisy, fresh = normal(5, SLOTS, LENGTH, 265), normal(6, SLOTS, LENGTH, 265)
    out = torch.empty_like(noisy)
    twins.leave(hidden, layer, STEP, noisy=noisy, fresh=fresh, held=HELD, out=out)
    deaf, heard = exact(hidden, layer).chunk(2)
    clean = HELD(deaf + GUIDANCE * (heard - deaf))
    estimate = STEP.of_noisy * noisy - clean / STEP.of_clean
    torch.testing.assert_close(out, STEP.clean * clean + STEP.noise * estimate + STEP.fresh * fresh)


def test_the_last_step_is_the_estimate_itself() -> None:
    hidden, layer = normal(4, 2 * SLOTS, LENGTH, WIDTH), linear(265, WIDTH)
    noisy = normal(5, SLOTS, LENGTH, 265)
    twins.leave(hidden, layer, STEP, noisy=noisy, fresh=None, held=HELD, out=noisy)
    deaf, heard = exact(hidden, layer).chunk(2)
    torch.testing.assert_close(noisy, deaf + GUIDANCE * (heard - deaf))
