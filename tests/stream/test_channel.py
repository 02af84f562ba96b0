from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.channel import Channel

Loser = Literal["oldest", "newest"]
losers = st.sampled_from(["oldest", "newest"])
moves = st.lists(st.sampled_from(["put", "put", "put", "get", "clear"]), max_size=60)


def test_a_full_channel_that_loses_the_oldest_keeps_the_newest() -> None:
    channel: Channel[int] = Channel(2, loser="oldest")
    assert [channel.put(item) for item in (1, 2, 3)] == [True, True, False]
    assert [channel.get(), channel.get(), channel.get()] == [2, 3, None]


def test_a_full_channel_that_loses_the_newest_keeps_the_oldest() -> None:
    channel: Channel[int] = Channel(2, loser="newest")
    assert [channel.put(item) for item in (1, 2, 3)] == [True, True, False]
    assert [channel.get(), channel.get(), channel.get()] == [1, 2, None]


def test_clearing_counts_what_is_lost() -> None:
    channel: Channel[str] = Channel(3, loser="oldest")
    channel.put("a")
    channel.put("b")
    assert channel.clear() == 2
    assert channel.clear() == 0
    assert (len(channel), channel.dropped, channel.put_count) == (0, 2, 2)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_channel_needs_room(limit: int) -> None:
    with pytest.raises(ValueError, match="room for at least one item"):
        Channel(limit, loser="oldest")


@given(st.integers(1, 5), losers, moves)
def test_the_bound_holds_and_nothing_is_lost_uncounted(limit: int, loser: Loser, todo: list[str]) -> None:
    channel: Channel[int] = Channel(limit, loser=loser)
    delivered = 0
    for number, move in enumerate(todo):
        if move == "put":
            channel.put(number)
        elif move == "get":
            delivered += channel.get() is not None
        else:
            channel.clear()
        assert len(channel) <= limit
        assert channel.put_count == delivered + channel.dropped + len(channel)


@given(st.integers(1, 5), losers, moves)
def test_items_come_out_in_the_order_they_went_in(limit: int, loser: Loser, todo: list[str]) -> None:
    channel: Channel[int] = Channel(limit, loser=loser)
    model: list[int] = []
    for number, move in enumerate(todo):
        if move == "put":
            fits = len(model) < limit
            assert channel.put(number) is fits
            if fits or loser == "oldest":
                model = [*model, number][-limit:]
        elif move == "get":
            assert channel.get() == (model.pop(0) if model else None)
        else:
            assert channel.clear() == len(model)
            model = []
        assert len(channel) == len(model)
