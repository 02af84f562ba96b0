import asyncio
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.front import program, until
from support.peers import viewer_offer
from visavis.stream.errors import CapacityError, ProtocolError
from visavis.web import peer as peer_module
from visavis.web.chores import Chores
from visavis.web.peer import Peers, WebRtcOptions, parse_offer
from visavis.web.whep import NotAcceptable, view

TURN = WebRtcOptions(("stun:stun.example", "turn:turn.example"), "user", "secret")


def test_no_servers_means_none_at_all() -> None:
    assert WebRtcOptions().rtc().iceServers == []
    assert WebRtcOptions().described() == []


def test_secrets_go_with_turn_only() -> None:
    assert TURN.described() == [
        {"urls": "stun:stun.example"},
        {"urls": "turn:turn.example", "username": "user", "credential": "secret"},
    ]


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="does not begin with stun:"):
        WebRtcOptions(("http://x",))


async def test_an_offer_without_a_fingerprint_is_refused() -> None:
    client, offer = await viewer_offer()
    await client.close()
    without = "\r\n".join(line for line in offer.splitlines() if "fingerprint" not in line)
    with pytest.raises(ProtocolError, match="no usable media"):
        parse_offer(without + "\r\n")


async def test_a_peer_is_found_by_its_kind_session_and_name_only() -> None:
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        client, offer = await viewer_offer()
        made = await view(peers, program(), offer)
        assert peers.find("whep", "s", made.id) is made
        assert peers.find("whip", "s", made.id) is None
        assert peers.find("whep", "t", made.id) is None
        await peers.close_all()
        assert peers.find("whep", "s", made.id) is None
        await client.close()


async def test_a_client_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "CONNECT_S", 0.01)
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        client, offer = await viewer_offer()
        await view(peers, program(), offer)
        await until(lambda: len(peers) == 0)
        await client.close()


async def test_gathering_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_self: object) -> None:
        await asyncio.Event().wait()

    client, offer = await viewer_offer()
    monkeypatch.setattr(peer_module, "GATHER_S", 0.01)
    monkeypatch.setattr("aiortc.RTCIceGatherer.gather", never)
    watched = program()
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        with pytest.raises(CapacityError, match="no network address was found in time"):
            await view(peers, watched, offer)
        assert len(peers) == 0
    await client.close()


async def test_the_connections_of_one_session_can_be_ended_together() -> None:
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        client, offer = await viewer_offer()
        await view(peers, program(), offer)
        peers.close_session("another")
        assert len(peers) == 1
        peers.close_session("s")
        await until(lambda: len(peers) == 0)
        await client.close()


Edit = tuple[str, int, int]
EDITS = st.tuples(
    st.sampled_from(["drop", "cut", "copy", "swap", "noise"]), st.integers(0, 200), st.integers(0, 200)
)


def edited(offer: str, edits: list[Edit]) -> str:
    """`offer` with lines dropped, cut short, repeated, swapped or spoilt."""
    lines = offer.splitlines()
    for kind, at, other in edits:
        one, two = at % len(lines), other % len(lines)
        match kind:
            case "drop":
                del lines[one]
            case "cut":
                lines[one] = lines[one][: other % (len(lines[one]) + 1)]
            case "copy":
                lines.insert(one, lines[two])
            case "swap":
                lines[one], lines[two] = lines[two], lines[one]
            case _:
                place = other % (len(lines[one]) + 1)
                lines[one] = lines[one][:place] + "x0:/ "[at % 5] + lines[one][place + 1 :]
    return "\r\n".join(lines) + "\r\n"


@settings(max_examples=60)
@given(edits=st.lists(EDITS, min_size=1, max_size=5))
def test_spoilt_offers_give_only_documented_errors_and_leave_nothing_behind(edits: list[Edit]) -> None:
    unexpected: list[object] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: unexpected.append(context))
        client, offer = await viewer_offer()
        await client.close()
        async with Chores() as chores:
            peers = Peers(WebRtcOptions(), chores)
            with contextlib.suppress(ProtocolError, NotAcceptable):
                await view(peers, program(), edited(offer, edits))
            await peers.close_all()
            assert len(peers) == 0

    asyncio.run(run())
    assert unexpected == []
