import asyncio
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from support.front import FAKE_VOICE, FAKE_WORKER, PATIENCE_S, Studio, event, studio, until
from visavis.web.app import application
from visavis.web.config import Config
from visavis.web.front import running_front
from visavis.web.gallery import Card, Gallery
from visavis.web.sessions import SessionOptions

Bad = tuple[str, str, object, int, str]

BAD: list[Bad] = [
    ("POST", "/v1/sessions", {"avatar": "nobody"}, 404, "choose one of ruby"),
    ("POST", "/v1/sessions", {"avatar": "ruby", "size": "1x1"}, 400, "choose one of 64x64"),
    ("POST", "/v1/sessions", {"avatar": 5}, 400, "the body does not fit"),
    ("POST", "/v1/sessions", {"colour": "red"}, 400, "colour"),
    ("POST", "/v1/sessions", {"seed": -1}, 400, "seed must lie between"),
    ("POST", "/v1/sessions", {"controls": {"emotion": "hungry"}}, 422, "emotion must be one of"),
    ("POST", "/v1/sessions", {"controls": {"gaze_x": 7}}, 422, "gaze_x must be between -1 and 1"),
    ("POST", "/v1/sessions", {"controls": {"emotion": {"sad": 2}}}, 422, "sad must be between 0 and 1"),
    ("POST", "/v1/sessions", ["ruby"], 400, "the body does not fit"),
    ("POST", "/v1/sessions", {"avatar": "broken"}, 500, "its mesh is torn; pack it again"),
    ("GET", "/v1/sessions/unknown", None, 404, "open one with POST /v1/sessions"),
    ("DELETE", "/v1/sessions/unknown", None, 404, "open one"),
    ("POST", "/v1/sessions/unknown/say", {"text": "Hi"}, 404, "open one"),
    ("POST", "/v1/sessions/unknown/interrupt", None, 404, "open one"),
    ("GET", "/v1/sessions/unknown/ws", None, 404, "open one"),
    ("GET", "/v1/avatars/nobody/preview", None, 404, "choose one of"),
    ("GET", "/v1/nothing", None, 404, "there is nothing at /v1/nothing"),
    ("PUT", "/v1/sessions", {}, 405, "does not take this method"),
]
SAYS: list[tuple[object, int, str]] = [
    ({"text": "a" * 10_000}, 400, "at most 5000"),
    ({"text": " "}, 400, "no text"),
    ({}, 400, "missing required field `text`"),
    ({"text": "Hi", "id": "x" * 65}, 400, "1 to 64"),
    ({"text": "Hi", "voice": "nobody"}, 400, "choose one of heart, emma"),
]


async def test_health_and_readiness() -> None:
    async with studio() as server:
        assert await server.call("GET", "/healthz") == (200, {"status": "alive"})
        ready = {"status": "ready", "engine": "fake", "workers": 1, "workers_up": 1}
        assert await server.call("GET", "/readyz") == (200, ready)
        server.front.workers[0].ready = None
        async with server.client.get("/readyz") as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


async def test_avatars_are_listed_with_what_a_page_needs() -> None:
    async with studio() as server:
        _, body = await server.call("GET", "/v1/avatars")
        assert body["avatars"][0] == {
            "name": "ruby",
            "title": "Ruby",
            "kind": "fake",
            "sizes": ["64x64", "128x128"],
            "preview": "/v1/avatars/ruby/preview",
        }
        async with server.client.get("/v1/avatars/ruby/preview") as answer:
            assert answer.status == 200
            assert len(await answer.read()) > 100


async def test_a_session_from_its_beginning_to_its_end() -> None:
    async with studio() as server:
        async with server.client.post("/v1/sessions", json={"avatar": "marcus", "size": "128x128"}) as answer:
            assert answer.status == 201
            made = await answer.json()
            path = made["urls"]["session"]
            assert answer.headers["Location"] == path == f"/v1/sessions/{made['id']}"
        assert (made["avatar"], made["size"], made["engine"], made["latency_ms"]) == (
            "marcus",
            "128x128",
            "fake",
            240,
        )
        assert made["ice_servers"] == []
        assert made["token"]
        assert made["urls"]["ws"] == f"{path}/ws"
        assert made["urls"]["whep"] == f"/whep/{made['id']}"
        await until(lambda: server.program(made["id"]).counts.generated > 0)
        status, shown = await server.call("GET", path)
        assert status == 200
        assert shown["state"] == "idle"
        assert shown["counters"] == {
            "generated": shown["counters"]["generated"],
            "repeated": 1,
            "late": 2,
            "underruns": 3,
        }
        assert shown["bitrate_bps"] > 0
        assert 0 <= shown["lateness_ms"]["p50"] <= shown["lateness_ms"]["p99"]
        assert await server.call("DELETE", path) == (204, None)
        assert (await server.call("GET", path))[0] == 404


async def test_the_first_tick_comes_soon_after_the_session_is_made() -> None:
    async with studio() as server:
        program = server.program((await server.open())["id"])
        async with asyncio.timeout(1):
            await until(lambda: program.traffic.ticks > 0)


async def test_an_avatar_of_another_engine_is_told_with_what_it_takes() -> None:
    card = Card("ada", "Ada", "ditto", ((64, 64),), Path(__file__))
    ruby = Card("ruby", "Ruby", "fake", ((64, 64),), Path(__file__))
    async with (
        running_front(
            Config(), worker=FAKE_WORKER, voice=FAKE_VOICE, gallery=Gallery([ruby], [card])
        ) as front,
        TestClient(TestServer(application(front))) as client,
        client.post("/v1/sessions", json={"avatar": "ada"}) as answer,
    ):
        body = await answer.json()
    assert (answer.status, body["error"]["code"]) == (404, "not_found")
    assert "ada is drawn by engine ditto" in body["error"]["message"]


async def test_an_empty_body_opens_the_default_avatar() -> None:
    async with studio(Config(sessions=SessionOptions(avatar="marcus"))) as server:
        status, made = await server.call("POST", "/v1/sessions")
        assert (status, made["avatar"], made["size"]) == (201, "marcus", "64x64")


async def test_every_bad_request_is_told_what_to_do() -> None:
    async with studio() as server:
        for method, path, body, status, advice in BAD:
            answer = await server.call(method, path, body)
            assert answer[0] == status, (method, path, body, answer)
            assert advice in answer[1]["error"]["message"], answer
            assert answer[1]["error"]["code"]
        session = (await server.open())["id"]
        await until(lambda: bool(server.front.speaker._voices))
        for body, status, advice in SAYS:
            answer = await server.call("POST", f"/v1/sessions/{session}/say", body)
            assert answer[0] == status, (body, answer)
            assert advice in answer[1]["error"]["message"], answer


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe", b"[" * 100_000, b"nonsense"])
async def test_a_body_that_is_no_json_is_refused(raw: bytes) -> None:
    async with studio() as server, server.client.post("/v1/sessions", data=raw) as answer:
        assert answer.status == 400
        assert "send JSON" in (await answer.json())["error"]["message"]


async def test_a_body_of_ten_megabytes_is_refused() -> None:
    body = BytesIO(bytes(10 << 20))
    async with studio() as server, server.client.post("/v1/sessions", data=body) as answer:
        assert answer.status == 413
        assert "send smaller pieces" in (await answer.json())["error"]["message"]


async def test_a_full_server_says_when_to_come_back() -> None:
    async with studio(Config(sessions=SessionOptions(max_sessions=1))) as server:
        await server.open()
        async with server.client.post("/v1/sessions") as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
            assert (await answer.json())["error"]["code"] == "full"


async def test_controls_change_one_by_one_and_a_bad_one_changes_nothing() -> None:
    async with studio() as server:
        path = f"/v1/sessions/{(await server.open())['id']}"
        assert (await server.call("PATCH", path, {"emotion": "happy"}))[1]["emotion"] == "happy"
        status, body = await server.call("PATCH", path, {"intensity": 9})
        assert (status, body["error"]["message"]) == (422, "intensity must be between 0 and 2, not 9.0")
        status, body = await server.call("PATCH", path, {"intensity": 0.5})
        assert (status, body["emotion"], body["intensity"]) == (200, "happy", 0.5)


async def speech(server: Studio, session: str, text: str, **more: object) -> Any:
    return await server.call("POST", f"/v1/sessions/{session}/say", {"text": text, **more})


async def test_a_text_is_spoken_and_an_interrupt_answers_with_the_position() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        socket = await server.socket(session)
        assert await speech(server, session, "One two three.", id="a") == (202, {"id": "a"})
        finished = await event(socket, "playback_finished", id="a")
        assert (finished["position_ms"], finished["interrupted"]) == (300, False)
        await speech(server, session, " ".join(["word"] * 100), id="b")
        await event(socket, "playback_started", id="b")
        assert (await server.call("GET", f"/v1/sessions/{session}"))[1]["state"] == "speaking"
        assert await server.call("POST", f"/v1/sessions/{session}/interrupt", {"id": "a"}) == (
            200,
            {"id": None, "position_ms": 0},
        )
        status, stopped = await server.call("POST", f"/v1/sessions/{session}/interrupt")
        assert (status, stopped["id"]) == (200, "b")
        finished = await event(socket, "playback_finished", id="b")
        assert finished["interrupted"]
        assert finished["position_ms"] == stopped["position_ms"] < 10_000


async def test_a_text_without_a_name_gets_one() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        _, body = await speech(server, session, "Hello")
        assert body["id"]


async def test_metrics_speak_of_the_sessions() -> None:
    async with studio() as server:
        program = server.program((await server.open())["id"])
        await until(lambda: program.traffic.ticks > 2)
        async with asyncio.timeout(PATIENCE_S), server.client.get("/metrics") as answer:
            text = await answer.text()
            assert answer.status == 200
        assert 'visavis_sessions{worker="0"} 1.0' in text
        assert 'visavis_worker_up{worker="0"} 1.0' in text
