import asyncio

import pytest
from support.front import Port, program, studio, until
from support.peers import viewer_offer, watching
from visavis.stream.clock import TICK_NS
from visavis.stream.errors import ProtocolError
from visavis.stream.link import Keyframe
from visavis.web.bitrate import Estimate
from visavis.web.chores import Chores
from visavis.web.peer import Peers, WebRtcOptions
from visavis.web.whep import NotAcceptable, Viewing, view


async def test_a_viewer_gets_h264_and_opus_25_pictures_a_second_from_the_first_on() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with watching(server, session) as watcher:
            await until(lambda: len(watcher.pictures_ns) >= 30)
            assert "H264/90000" in watcher.answer
            assert "VP8" not in watcher.answer
            assert "opus/48000" in watcher.answer
            span_ns = watcher.pictures_ns[-1] - watcher.pictures_ns[4]
            pictures = len(watcher.pictures_ns) - 5
            assert span_ns / pictures == pytest.approx(TICK_NS, rel=0.25)
            assert len(server.program(session).viewers) == 1
        await until(lambda: not server.program(session).viewers)


async def test_a_late_joiner_starts_at_a_keyframe_with_sound_and_picture_of_the_same_tick() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        await until(lambda: server.program(session).traffic.ticks > 10)
        async with watching(server, session) as watcher:
            await until(lambda: len(watcher.reports) == 2 and len(watcher.pictures_ns) >= 2)
            assert watcher.first_ntp("video") == pytest.approx(watcher.first_ntp("audio"), abs=0.001)


async def test_one_viewer_leaving_does_not_disturb_the_other() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with watching(server, session) as staying:
            await until(lambda: len(staying.pictures_ns) >= 2)
            async with watching(server, session) as leaving:
                await until(lambda: len(leaving.pictures_ns) >= 2)
                assert len(server.program(session).viewers) == 2
                async with server.client.delete(leaving.location) as answer:
                    assert answer.status == 200
                assert len(server.program(session).viewers) == 1
            seen = len(staying.pictures_ns)
            await until(lambda: len(staying.pictures_ns) >= seen + 10)


async def test_pictures_or_sound_alone_can_be_had() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with watching(server, session, "video") as pictures:
            await until(lambda: len(pictures.pictures_ns) >= 3)
            assert "m=audio" not in pictures.answer
        async with watching(server, session, "audio") as sound:
            await until(lambda: "audio" in sound.first_stamp)
            assert "m=video" not in sound.answer


async def test_the_end_of_a_session_ends_its_viewers() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with watching(server, session) as watcher:
            await until(lambda: len(watcher.pictures_ns) >= 1)
            assert (await server.call("DELETE", f"/v1/sessions/{session}"))[0] == 204
            await until(lambda: len(server.front.peers) == 0)
            await until(lambda: watcher.connection.connectionState == "closed")


async def refused(offer: str) -> str:
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        with pytest.raises(NotAcceptable) as refusal:
            await view(peers, program(), offer)
        assert len(peers) == 0
    return str(refusal.value)


async def test_an_offer_without_h264_is_refused_with_what_to_do() -> None:
    peer, offer = await viewer_offer()
    await peer.close()
    assert "turn the OpenH264 plugin on" in await refused(offer.replace("H264/90000", "VP9/90000"))


async def test_an_offer_without_opus_is_refused() -> None:
    peer, offer = await viewer_offer()
    await peer.close()
    assert "sends Opus" in await refused(offer.replace("opus/48000/2", "speex/16000"))


async def test_an_offer_that_receives_nothing_is_refused() -> None:
    peer, offer = await viewer_offer()
    await peer.close()
    assert "receives nothing" in await refused(offer.replace("a=recvonly", "a=sendonly"))


@pytest.mark.parametrize("offer", ["", "nonsense", "v=0\r\n", "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n"])
async def test_what_is_no_offer_is_refused(offer: str) -> None:
    async with Chores() as chores:
        with pytest.raises(ProtocolError, match="send a complete WebRTC offer"):
            await view(Peers(WebRtcOptions(), chores), program(), offer)


def test_what_a_receiver_reports_becomes_wishes() -> None:
    port = Port()
    watched = program(port)
    viewing = Viewing(watched, Estimate(2_000_000))
    viewing.keyframe()
    assert len(port.of(Keyframe)) == 1
    viewing.ceiling(500_000)
    assert viewing.estimate.bps == 2_000_000
    watched.traffic.bitrate_bps = 1_000_000
    viewing.ceiling(500_000)
    assert viewing.estimate.bps == 500_000
    viewing.lost(0.0)
    assert viewing.estimate.bps == 525_000


async def test_a_connection_that_never_comes_about_shows_nothing_and_can_be_closed() -> None:
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        watched = program()
        client, offer = await viewer_offer()
        peer = await view(peers, watched, offer)
        assert watched.viewers == []
        await peers.close(peer)
        await client.close()
        await asyncio.sleep(0)
        assert len(peers) == 0
