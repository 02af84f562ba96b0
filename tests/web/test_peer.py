import asyncio
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.front import program, studio, until
from support.peers import SDP, viewer_offer, watching
from visavis.stream.errors import CapacityError, ProtocolError
from visavis.web import peer as peer_module
from visavis.web.chores import Chores
from visavis.web.peer import Peers, WebRtcOptions, parse_offer
from visavis.web.program import Description
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


async def test_a_session_takes_only_so_many_connections_and_another_one_takes_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_module, "MAX_SESSION_PEERS", 1)
    client, offer = await viewer_offer()
    other = program()
    other.what = Description("t", "ruby", 64, 64, 1)
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        made = await view(peers, program(), offer)
        with pytest.raises(CapacityError, match="try again when somebody has left"):
            await view(peers, program(), offer)
        assert len(peers) == 1
        await view(peers, other, offer)
        await peers.close(made)
        await view(peers, program(), offer)
        await peers.close_all()
    await client.close()


async def test_offers_whose_answers_nobody_takes_are_bounded_over_all_sessions_and_told_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_module, "MAX_CONNECTING", 2)
    client, offer = await viewer_offer()
    async with studio() as server:
        session, other = (await server.open())["id"], (await server.open())["id"]
        async with watching(server, session):
            await until(lambda: len(server.program(session).viewers) == 1)
            statuses: list[int] = []
            for name in (session, other, other):
                async with server.client.post(f"/whep/{name}", data=offer, headers=SDP) as answer:
                    statuses.append(answer.status)
            assert statuses == [201, 201, 503]
            assert answer.headers["Retry-After"]
    await client.close()


async def test_an_offer_of_far_too_many_media_or_bytes_is_refused_before_it_is_parsed() -> None:
    client, offer = await viewer_offer("audio")
    await client.close()
    at = offer.index("m=audio")
    async with studio() as server:
        session = (await server.open())["id"]
        for kind in ("whep", "whip"):
            for large, advice in (
                (offer + offer[at:] * 16, "17 media"),
                (offer + "a=x\r\n" * 13_107, "65536"),
            ):
                async with server.client.post(f"/{kind}/{session}", data=large, headers=SDP) as answer:
                    assert answer.status == 400
                    assert advice in (await answer.json())["error"]["message"]
        assert len(server.front.peers) == 0


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
