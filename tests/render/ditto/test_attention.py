import math

import pytest
import torch
from torch import nn
from visavis.render.ditto.attention import Attention, Rotary

WIDTH, POSITIONS = 16, 9
ROWS = torch.randn(2, POSITIONS, WIDTH, generator=torch.Generator().manual_seed(0))


def test_each_pair_is_turned_by_its_position_times_its_frequency() -> None:
    turned = Rotary(WIDTH, POSITIONS)(ROWS)
    for position in (0, 1, 8):
        for pair in (0, 3, 7):
            angle = position * 10000 ** (-2 * pair / WIDTH)
            number = complex(*ROWS[1, position, 2 * pair : 2 * pair + 2].tolist())
            expected = number * complex(math.cos(angle), math.sin(angle))
            got = turned[1, position, 2 * pair : 2 * pair + 2].tolist()
            assert complex(*got) == pytest.approx(expected, abs=1e-6)


def test_rows_may_begin_at_any_position() -> None:
    rotary = Rotary(WIDTH, POSITIONS)
    assert torch.equal(rotary(ROWS)[:, 5:], rotary(ROWS[:, 5:], 5))


def test_what_two_rows_make_of_each_other_depends_on_their_distance() -> None:
    rotary = Rotary(WIDTH, POSITIONS)
    row, other = ROWS[0, :1], ROWS[1, :1]
    near = (rotary(row, 1) * rotary(other, 4)).sum()
    far = (rotary(row, 5) * rotary(other, 8)).sum()
    torch.testing.assert_close(near, far)


def test_tables_are_made_in_full_precision_before_they_are_cut() -> None:
    whole, half = Rotary(WIDTH, POSITIONS), Rotary(WIDTH, POSITIONS).half()
    half.load_state_dict(whole.state_dict())
    assert half.cosine.dtype == torch.float16
    assert torch.equal(half.cosine, whole.cosine.half())
    assert torch.equal(half.sine, whole.sine.half())


def test_a_module_from_the_meta_device_has_tables_once_it_is_loaded() -> None:
    whole = Rotary(WIDTH, POSITIONS)
    with torch.device("meta"):
        empty = Rotary(WIDTH, POSITIONS)
    empty.load_state_dict(whole.state_dict(), assign=True)
    assert torch.equal(empty(ROWS), whole(ROWS))


def test_only_frequencies_have_a_key() -> None:
    assert list(Rotary(WIDTH, POSITIONS).state_dict()) == ["freqs"]


def test_attention_is_that_of_torch() -> None:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(WIDTH, 4, batch_first=True).eval()
    mine = Attention(WIDTH, 4)
    mine.load_state_dict(theirs.state_dict())
    turned, memory = ROWS.flip(1), ROWS[:, :4]
    expected, _ = theirs(turned, turned, ROWS)
    torch.testing.assert_close(mine(turned, ROWS), expected)
    expected, _ = theirs(ROWS, memory.flip(1), memory)
    got = mine.attend(mine.queries(ROWS), mine.keys(memory.flip(1)), mine.values(memory))
    torch.testing.assert_close(got, expected)
