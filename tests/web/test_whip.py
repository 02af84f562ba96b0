import asyncio
from fractions import Fraction

import av
import numpy as np
import pytest
from support.front import Ear, Port, program, studio, tick, until
from support.peers import Tone, connection, offer_of, speaking, viewer_offer
from visavis.stream.errors import LinkError, ProtocolError, UsageError
from visavis.stream.link import Audio, EndSegment
from visavis.web.chores import Chores
from visavis.web.peer import Peers, WebRtcOptions
from visavis.web.program import Program
from visavis.web.whip import BACKLOG, Microphone, ingest, mono
from visavis.web.wire import PlaybackFinished, PlaybackStarted

BLOCK = 960
QUIET = np.zeros(BLOCK, np.float32)
LOUD = (0.4 * np.sin(2 * np.pi * 440 * np.arange(BLOCK) / 48_000)).astype(np.float32)


async def said(session: Program, blocks: list[np.ndarray]) -> None:
    """Have a microphone hear `blocks` and say them."""
    microphone = Microphone(session)
    for block in blocks:
        microphone.hear(block)
    microphone.close()
    async with asyncio.timeout(5):
        await microphone.speak()


async def test_speech_becomes_a_segment_with_a_name_and_silence_becomes_nothing() -> None:
    port = Port()
    session = program(port)
    await said(session, [QUIET] * 50 + [LOUD] * 50 + [QUIET] * 50)
    sound = port.of(Audio)
    assert {message.rate for message in sound} == {48_000}
    assert 0.9 < sum(len(message.pcm) for message in sound) / 2 / 48_000 < 1.9
    assert len({message.segment for message in sound}) == len(port.of(EndSegment)) == 1


async def test_two_sentences_become_two_segments() -> None:
    port = Port()
    session = program(port)
    sentence = [LOUD] * 30 + [QUIET] * 60
    ear = Ear()
    session.listeners.append(ear)
    await said(session, [QUIET] * 30 + sentence + sentence)
    names = list(dict.fromkeys(message.segment for message in port.of(Audio)))
    assert len(names) == 2
    for index, name in enumerate(names):
        session.tick(tick(index, (name, 0, 1920, True)), 0)
    assert [event.id for event in ear.heard if isinstance(event, PlaybackStarted)] == ["mic-1", "mic-2"]


async def test_sound_that_breaks_off_ends_its_segment() -> None:
    port = Port()
    await said(program(port), [LOUD] * 30)
    assert len(port.of(EndSegment)) == 1


async def test_the_rest_of_an_interrupted_sentence_is_not_said_but_the_next_one_is() -> None:
    port = Port()
    session = program(port)
    microphone = Microphone(session)
    async with asyncio.TaskGroup() as group:
        group.create_task(microphone.speak())
        for _ in range(30):
            microphone.hear(LOUD)
        await asyncio.sleep(0.01)
        before = len(port.of(Audio))
        assert before > 0
        group.create_task(session.intake.interrupt())
        await asyncio.sleep(0.01)
        session.intake.settle(1)
        for _ in range(30):
            microphone.hear(LOUD)
        await asyncio.sleep(0.01)
        assert len(port.of(Audio)) == before
        for block in [QUIET] * 60 + [LOUD] * 30:
            microphone.hear(block)
        await asyncio.sleep(0.01)
        assert len(port.of(Audio)) > before
        microphone.close()


async def test_while_somebody_else_speaks_a_microphone_waits_and_loses_only_beyond_its_bound() -> None:
    session = program()
    other = session.intake.utter()
    await other.feed(b"\0\0" * 100, 8_000)
    microphone = Microphone(session)
    for _ in range(BACKLOG + 50):
        microphone.hear(LOUD)
    assert 40 <= microphone.dropped <= 60


async def test_a_sentence_that_has_no_room_keeps_its_end_and_is_not_one_with_the_next() -> None:
    port = Port()
    session = program(port)
    other = session.intake.utter()
    await other.feed(b"\0\0" * 100, 8_000)
    microphone = Microphone(session)
    sentence = [LOUD] * 30 + [QUIET] * 60
    sentences = 0
    while not microphone.dropped or sentences % 5:
        for block in sentence:
            microphone.hear(block)
        sentences += 1
        assert len(microphone._decided) <= BACKLOG + 1
    ends = sum(item is None for item in microphone._decided._items)
    assert microphone._decided._items[-1] is None
    async with asyncio.TaskGroup() as group:
        group.create_task(microphone.speak())
        other.end()
        await until(lambda: len(microphone._decided) == 0)
        for block in sentence:
            microphone.hear(block)
        microphone.close()
    names = list(dict.fromkeys(message.segment for message in port.of(Audio)))
    assert len(names) == len(port.of(EndSegment)) == 1 + ends + 1


async def test_speech_after_a_wait_that_the_worker_took_for_an_end_is_not_lost() -> None:
    port = Port()
    session = program(port)
    microphone = Microphone(session)
    async with asyncio.TaskGroup() as group:
        group.create_task(microphone.speak())
        for _ in range(30):
            microphone.hear(LOUD)
        await asyncio.sleep(0.01)
        before = sum(len(message.pcm) for message in port.of(Audio))
        session.intake.starved(port.of(Audio)[0].segment)
        for _ in range(30):
            microphone.hear(LOUD)
        microphone.close()
    assert sum(len(message.pcm) for message in port.of(Audio)) == before + 30 * 2 * BLOCK


def frame(samples: np.ndarray, layout: str) -> av.AudioFrame:
    made = av.AudioFrame.from_ndarray(samples, "s16", layout)
    made.sample_rate = 48_000
    made.time_base = Fraction(1, 48_000)
    return made


def test_stereo_is_mixed_to_mono() -> None:
    interleaved = np.array([[16_384, 0, -16_384, -16_384]], np.int16)
    np.testing.assert_allclose(mono(frame(interleaved, "stereo")), [0.25, -0.5])
    np.testing.assert_allclose(mono(frame(np.array([[8_192]], np.int16), "mono")), [0.25])


def test_anything_else_than_48_khz_sound_is_refused() -> None:
    with pytest.raises(LinkError):
        mono(av.VideoFrame(16, 16, "yuv420p"))


async def test_a_microphone_over_webrtc_is_heard_and_spoken() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        ear = Ear()
        server.program(session).listeners.append(ear)
        async with speaking(server, session, Tone(10, 60)) as location:
            await until(lambda: any(isinstance(event, PlaybackFinished) for event in ear.heard))
            assert server.program(session).idle_since_ns(0) is None
            async with server.client.delete(location) as answer:
                assert answer.status == 200
        started, finished = ear.heard[:2]
        assert started == PlaybackStarted("mic-1")
        assert isinstance(finished, PlaybackFinished)
        assert 900 < finished.position_ms < 1_900
        assert not finished.interrupted
        assert server.program(session).idle_since_ns(0) is not None


async def test_an_offer_that_sends_no_sound_is_refused() -> None:
    peer, offer = await viewer_offer("audio")
    await peer.close()
    async with Chores() as chores:
        with pytest.raises(UsageError, match="offers sendonly audio"):
            await ingest(Peers(WebRtcOptions(), chores), chores, program(), offer)


async def test_an_offer_without_opus_is_refused() -> None:
    peer = connection()
    peer.addTransceiver("audio", direction="sendonly")
    offer = (await offer_of(peer)).replace("opus/48000/2", "speex/16000")
    await peer.close()
    async with Chores() as chores:
        with pytest.raises(UsageError, match="takes Opus"):
            await ingest(Peers(WebRtcOptions(), chores), chores, program(), offer)


async def test_pictures_offered_beside_the_sound_are_declined() -> None:
    peer = connection()
    peer.addTransceiver("audio", direction="sendonly")
    peer.addTransceiver("video", direction="sendonly")
    offer = await offer_of(peer)
    async with Chores() as chores:
        peers = Peers(WebRtcOptions(), chores)
        made = await ingest(peers, chores, program(), offer)
        assert made.answer.count("a=recvonly") == 1
        assert made.answer.count("a=inactive") == 1
        await peers.close_all()
    await peer.close()


async def test_nonsense_is_no_offer() -> None:
    async with Chores() as chores:
        with pytest.raises(ProtocolError):
            await ingest(Peers(WebRtcOptions(), chores), chores, program(), "nonsense")
