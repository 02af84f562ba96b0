import asyncio
import json
import os
import random
import signal
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from support.front import event, studio, until
from visavis.stream.clock import NS_PER_SECOND
from visavis.web import backlog as backlog_module
from visavis.web import socket as socket_module
from visavis.web.wire import MAX_MESSAGE_BYTES

RATE = 8_000
SECOND = bytes(2 * RATE)
HALF = bytes(RATE)


async def tell(socket: ClientWebSocketResponse, kind: str, **fields: object) -> None:
    await socket.send_json({"type": kind, **fields})


async def start(socket: ClientWebSocketResponse) -> dict[str, Any]:
    await tell(socket, "start", sample_rate=RATE)
    return await event(socket, "ready")


async def test_sound_is_played_and_its_events_carry_the_clients_name() -> None:
    async with studio() as server:
        socket = await server.socket((await server.open())["id"])
        assert await start(socket) == {"type": "ready", "latency_ms": 240, "sample_rate": RATE}
        for at in range(0, len(SECOND), 1_001):
            await socket.send_bytes(SECOND[at : at + 1_001])
        await tell(socket, "segment_end", id="mine")
        assert await event(socket, "playback_started")
        finished = await event(socket, "playback_finished")
        assert finished == {
            "type": "playback_finished",
            "id": "mine",
            "position_ms": 1_000,
            "interrupted": False,
        }


async def test_every_socket_of_a_session_hears_its_events_and_no_other_sessions_do() -> None:
    async with studio() as server:
        session, other = (await server.open())["id"], (await server.open())["id"]
        first, second, foreign = [await server.socket(one) for one in (session, session, other)]
        await tell(first, "say", text="One.", id="a")
        assert await event(first, "playback_finished", id="a")
        assert await event(second, "playback_finished", id="a")
        await tell(foreign, "say", text="One.", id="b")
        assert (await foreign.receive_json())["id"] == "b"


async def test_an_interrupt_stops_the_sound_and_what_follows_is_a_new_segment() -> None:
    async with studio() as server:
        socket = await server.socket((await server.open())["id"])
        await start(socket)
        await socket.send_bytes(SECOND * 20)
        begun = await event(socket, "playback_started")
        await tell(socket, "interrupt", id="another")
        await tell(socket, "interrupt", id=begun["id"])
        finished = await event(socket, "playback_finished")
        assert finished["id"] == begun["id"]
        assert finished["interrupted"]
        assert finished["position_ms"] < 20_000
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="next")
        assert (await event(socket, "playback_finished", id="next"))["position_ms"] == 1_000


async def test_the_rest_of_a_segment_that_somebody_else_interrupted_is_dropped_up_to_its_end() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND * 5)
        await event(socket, "playback_started")
        await server.call("POST", f"/v1/sessions/{session}/interrupt")
        await event(socket, "playback_finished", interrupted=True)
        await socket.send_bytes(SECOND * 5)
        await tell(socket, "segment_end")
        await socket.send_bytes(HALF)
        await tell(socket, "segment_end", id="after")
        assert (await event(socket, "playback_finished"))["position_ms"] == 500


async def test_after_a_pause_sound_is_a_new_segment_even_without_that_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backlog_module, "_PAUSE_NS", 0)
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND * 5)
        await event(socket, "playback_started")
        await server.call("POST", f"/v1/sessions/{session}/interrupt")
        await event(socket, "playback_finished", interrupted=True)
        await socket.send_bytes(HALF)
        await tell(socket, "segment_end", id="after")
        assert (await event(socket, "playback_finished", id="after"))["position_ms"] == 500


BAD = [
    (b"\0\0", "bad_message", "sound came before its description"),
    ("nonsense", "bad_message", "send sound in binary frames"),
    (json.dumps({"type": "dance"}), "bad_message", "known are"),
    (json.dumps({"type": "start", "sample_rate": 96_000}), "bad_audio", "between 8000 and 48000"),
    (json.dumps({"type": "say", "text": "a" * 10_000}), "bad_message", "at most 5000"),
    (json.dumps({"type": "say", "text": "Hi", "voice": "nobody"}), "bad_request", "choose one of heart"),
    (json.dumps({"type": "controls", "emotion": "hungry"}), "bad_control", "emotion must be one of"),
    (json.dumps({"type": "controls", "emotion": {"sad": -1}}), "bad_control", "must be between 0 and 1"),
    (json.dumps({"type": "controls", "mood": "good"}), "bad_control", "known are emotion"),
    (bytes(10 << 20), "bad_message", "sound came before"),
]


async def test_every_bad_message_is_answered_with_an_error_and_the_connection_stays() -> None:
    async with studio() as server:
        socket = await server.socket((await server.open())["id"])
        for message, code, advice in BAD:
            await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_str(message))
            error = await event(socket, "error")
            assert error["code"] == code, error
            assert advice in error["message"], error
        await start(socket)
        await tell(socket, "start", sample_rate=RATE)
        assert "started at 8000 Hz already" in (await event(socket, "error"))["message"]
        await socket.send_bytes(bytes(MAX_MESSAGE_BYTES + 2))
        assert "over the limit" in (await event(socket, "error"))["message"]
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="fine")
        assert await event(socket, "playback_finished", id="fine")


async def test_a_storm_of_malformed_messages_harms_neither_its_own_connection_nor_others() -> None:
    chance = random.Random(1)
    async with studio() as server:
        session, other = (await server.open())["id"], (await server.open())["id"]
        socket, witness = await server.socket(session), await server.socket(other)
        for _ in range(10_000):
            if chance.random() < 0.5:
                await socket.send_bytes(chance.randbytes(chance.randrange(40)))
            else:
                text = chance.choice(["{", '{"type":"start","sample_rate":7}', '{"type":"say"}', "[]", "\0"])
                await socket.send_str(text[: chance.randrange(len(text) + 1)])
        await tell(witness, "say", text="One.", id="a")
        assert await event(witness, "playback_finished", id="a")
        await tell(socket, "say", text="One.", id="b")
        assert await event(socket, "playback_finished", id="b")


async def test_a_message_that_is_far_too_large_ends_the_connection_with_the_reason() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket, other = await server.socket(session), await server.socket(session)
        size = socket_module.FRAME_LIMIT_BYTES + 1
        header = b"\x82\xff" + size.to_bytes(8, "big") + bytes(4)
        transport = socket.get_extra_info("socket")
        os.write(transport.fileno(), header)
        closing = await socket.receive()
        assert (closing.type, closing.data) == (WSMsgType.CLOSE, 1009)
        assert closing.extra == f"a message has at most {MAX_MESSAGE_BYTES} bytes"
        await tell(other, "say", text="One.", id="a")
        assert await event(other, "playback_finished", id="a")


async def test_a_connection_cut_in_mid_segment_ends_the_segment() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket, listener = await server.socket(session), await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND + b"\1")
        await event(listener, "playback_started")
        await socket.close()
        assert (await event(listener, "playback_finished"))["position_ms"] == 1_000


async def test_a_client_that_is_cut_off_while_its_sound_waits_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket_module, "_PING_S", 0.05)
    async with studio() as server:
        session = (await server.open())["id"]
        program = server.program(session)
        assert await program.intake.utter("other").feed(SECOND * 30, RATE)
        socket = await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND)
        await until(lambda: len(program.intake._floor) == 2)
        connection = socket._response.connection
        assert connection is not None
        assert connection.transport is not None
        connection.transport.abort()
        await until(lambda: program.listeners == [])
        await until(lambda: len(program.intake._floor) == 1)


async def test_sound_on_its_way_when_the_session_ends_keeps_no_connection() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        program = server.program(session)
        assert await program.intake.utter("other").feed(SECOND * 30, RATE)
        socket = await server.socket(session)
        await start(socket)
        await socket.send_bytes(HALF)
        await until(lambda: len(program.intake._floor) == 2)
        await socket.send_bytes(HALF)
        await server.call("GET", "/healthz")
        server.front.sessions.close(session)
        async with asyncio.timeout(5):
            await until(lambda: program.listeners == [])


async def test_past_a_minute_of_sound_the_server_reads_no_further_and_says_so() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await start(socket)
        for _ in range(70):
            await socket.send_bytes(SECOND)
        paused = await event(socket, "buffer")
        assert paused["paused"]
        assert 59_000 <= paused["queued_ms"] <= 60_500
        await until(lambda: server.program(session).intake.queued_ms < 60_000)
        assert (await server.call("GET", f"/v1/sessions/{session}"))[1]["queued_ms"] > 55_000
        status, _ = await server.call("POST", f"/v1/sessions/{session}/interrupt")
        assert status == 200
        assert not (await event(socket, "buffer"))["paused"]


async def test_an_interrupt_is_heard_while_the_clients_own_sound_waits_for_its_turn() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        assert await server.program(session).intake.utter("other").feed(SECOND * 30, RATE)
        socket = await server.socket(session)
        await start(socket)
        await event(socket, "playback_started", id="other")
        for name in ("a", "b"):
            await socket.send_bytes(SECOND)
            await tell(socket, "segment_end", id=name)
        await tell(socket, "interrupt")
        async with asyncio.timeout(5):
            assert (await event(socket, "playback_finished", id="other"))["interrupted"]
            for name in ("a", "b"):
                finished = await event(socket, "playback_finished", id=name)
                assert (finished["position_ms"], finished["interrupted"]) == (0, True)
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="next")
        assert (await event(socket, "playback_finished", id="next"))["position_ms"] == 1_000


async def test_an_interrupt_is_heard_after_seventy_seconds_of_sound_in_one_go() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await tell(socket, "start", sample_rate=24_000)
        for _ in range(70):
            await socket.send_bytes(bytes(48_000))
        await tell(socket, "segment_end", id="long")
        await tell(socket, "interrupt", id="long")
        async with asyncio.timeout(5):
            assert (await event(socket, "playback_finished", id="long"))["interrupted"]
        assert server.program(session).intake.queued_ms == 0


async def test_an_interrupt_over_http_drops_what_waits_of_a_socket() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        assert await server.program(session).intake.utter("other").feed(SECOND * 30, RATE)
        socket = await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="mine")
        await until(lambda: server.program(session).intake.holds("mine"))
        await server.call("POST", f"/v1/sessions/{session}/interrupt", {"id": "mine"})
        assert (await event(socket, "playback_finished", id="mine"))["interrupted"]


async def test_what_a_client_sent_before_it_said_goodbye_is_still_played() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        other = server.program(session).intake.utter("other")
        assert await other.feed(SECOND, RATE)
        listener, socket = await server.socket(session), await server.socket(session)
        await start(socket)
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="mine")
        await socket.close()
        other.end()
        assert (await event(listener, "playback_finished", id="mine"))["position_ms"] == 1_000


async def test_controls_and_keep_alive_need_no_start() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        program = server.program(session)
        socket = await server.socket(session)
        await tell(socket, "controls", emotion="happy")
        await until(lambda: program.controls.emotion == "happy")
        program.used_ns = 0
        await tell(socket, "keep_alive")
        await until(lambda: program.used_ns > 0)


async def test_a_segment_that_never_had_sound_is_finished_at_once() -> None:
    async with studio() as server:
        socket = await server.socket((await server.open())["id"])
        await tell(socket, "segment_end", id="empty")
        finished = await event(socket, "playback_finished", id="empty")
        assert (finished["position_ms"], finished["interrupted"]) == (0, False)


async def test_a_killed_worker_comes_back_within_two_seconds_and_the_session_goes_on() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        program = server.program(session)
        socket = await server.socket(session)
        await tell(socket, "say", text=" ".join(["word"] * 50), id="cut")
        await event(socket, "playback_started", id="cut")
        pid = server.front.workers[0].pid
        assert pid is not None
        ticks = program.traffic.ticks
        killed_ns = server.front.now_ns()
        os.kill(pid, signal.SIGKILL)
        assert (await event(socket, "state"))["worker"] == "restarting"
        assert (await event(socket, "playback_finished", id="cut"))["interrupted"]
        assert await server.call("GET", "/healthz") == (200, {"status": "alive"})
        assert (await event(socket, "state"))["worker"] == "up"
        await until(lambda: program.traffic.ticks > ticks + 1)
        assert server.front.now_ns() - killed_ns < 2 * NS_PER_SECOND
        await tell(socket, "say", text="One.", id="again")
        assert await event(socket, "playback_finished", id="again", interrupted=False)


async def test_sound_that_arrives_while_the_worker_is_away_waits_for_it() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await start(socket)
        assert server.front.workers[0].pid is not None
        os.kill(server.front.workers[0].pid, signal.SIGKILL)
        await event(socket, "state", worker="restarting")
        await socket.send_bytes(SECOND)
        await tell(socket, "segment_end", id="later")
        assert (await event(socket, "playback_finished", id="later"))["position_ms"] == 1_000


async def test_the_end_of_the_session_closes_its_sockets() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        await server.call("DELETE", f"/v1/sessions/{session}")
        assert (await event(socket, "state"))["worker"] == "closed"
        closing = await socket.receive()
        assert (closing.type, closing.extra) == (WSMsgType.CLOSE, "the session has ended")


async def test_a_client_that_does_not_read_loses_the_oldest_events_and_holds_nobody_up() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        program = server.program(session)
        lazy = await server.socket(session)
        await until(lambda: len(program.listeners) == 1)
        for _ in range(20_000):
            program.want_keyframe(0)
            program.tell(socket_module.State("up"))
        ticks = program.traffic.ticks
        async with asyncio.timeout(5):
            await until(lambda: program.traffic.ticks > ticks + 3)
        await lazy.close()
        await until(lambda: program.listeners == [])
