import re

import pytest
from aiohttp import WSServerHandshakeError
from support.front import studio
from visavis.web.auth import AuthOptions
from visavis.web.config import Config
from visavis.web.tls import ListenOptions

TOKEN = "open-sesame"
LOCKED = Config(auth=AuthOptions(token=TOKEN, origins=("https://studio.example",)))
BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def test_with_a_token_the_api_is_closed_and_pages_and_health_are_open() -> None:
    async with studio(LOCKED) as server:
        for path in ("/v1/avatars", "/v1/sessions/x", "/whep/x/y", "/metrics"):
            async with server.client.get(path) as answer:
                assert answer.status == 401, path
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert "send Authorization: Bearer" in (await answer.json())["error"]["message"]
        for path in ("/healthz", "/readyz", "/"):
            async with server.client.get(path) as answer:
                assert answer.status == 200, path


async def test_whatever_is_not_listed_as_open_is_closed_even_what_nobody_thought_of() -> None:
    async with studio(LOCKED) as server:
        app = server.client.app
        assert app is not None
        routes = [route for route in app.router.routes() if route.method not in ("HEAD", "OPTIONS")]
        assert len(routes) > 15
        for route in routes:
            assert route.resource is not None
            path = re.sub(r"\{[^}]*\}", "x", route.resource.canonical)
            async with server.client.request(route.method, path) as answer:
                is_open = route.resource.canonical in {"/", "/static", "/healthz", "/readyz"}
                assert (answer.status != 401) is is_open, route
        for path in ("/v2/sessions", "/debug", "/healthz/x", "/staticky", "/v1", "/%76%31/avatars"):
            async with server.client.get(path) as answer:
                assert answer.status == 401, path


async def test_the_token_is_taken_from_header_and_query() -> None:
    async with studio(LOCKED) as server:
        async with server.client.get("/v1/avatars", headers=BEARER) as answer:
            assert answer.status == 200
        async with server.client.get(f"/v1/avatars?token={TOKEN}") as answer:
            assert answer.status == 200
        async with server.client.get("/v1/avatars?token=wrong") as answer:
            assert answer.status == 401


async def test_a_session_token_opens_its_session_and_nothing_else() -> None:
    async with studio(LOCKED) as server:
        async with server.client.post("/v1/sessions", headers=BEARER) as answer:
            one = await answer.json()
        async with server.client.post("/v1/sessions", headers=BEARER) as answer:
            two = await answer.json()
        mine = {"Authorization": f"Bearer {one['token']}"}
        async with server.client.get(f"/v1/sessions/{one['id']}", headers=mine) as answer:
            assert answer.status == 200
        async with server.client.get(f"/v1/sessions/{two['id']}", headers=mine) as answer:
            assert answer.status == 401
        async with server.client.get("/v1/avatars", headers=mine) as answer:
            assert answer.status == 401
        socket = await server.client.ws_connect(f"/v1/sessions/{one['id']}/ws?token={one['token']}")
        await socket.close()
        with pytest.raises(WSServerHandshakeError) as refusal:
            await server.client.ws_connect(f"/v1/sessions/{one['id']}/ws")
        assert refusal.value.status == 401


async def test_a_name_that_was_made_to_point_here_is_not_answered() -> None:
    named = {"Host": "rebound.example"}
    async with studio() as server, server.client.get("/healthz", headers=named) as answer:
        assert answer.status == 403
        assert (await answer.json())["error"]["code"] == "bad_host"


async def test_a_server_for_others_answers_to_any_name() -> None:
    config = Config(listen=ListenOptions(host="0.0.0.0"), auth=AuthOptions(token=TOKEN))
    named = {"Host": "face.example"}
    async with studio(config) as server, server.client.get("/healthz", headers=named) as answer:
        assert answer.status == 200


async def test_pages_of_other_servers_may_not_call_nor_open_sockets() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        evil = {"Origin": "https://evil.example"}
        async with server.client.post("/v1/sessions", headers=evil) as answer:
            assert answer.status == 403
            assert "list it in origins" in (await answer.json())["error"]["message"]
        with pytest.raises(WSServerHandshakeError) as refusal:
            await server.client.ws_connect(f"/v1/sessions/{session}/ws", headers=evil)
        assert refusal.value.status == 403


async def test_listed_pages_may_call_and_see_the_headers_they_need() -> None:
    async with studio(LOCKED) as server:
        origin = {"Origin": "https://studio.example"}
        asks = origin | {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        async with server.client.options("/v1/sessions", headers=asks) as answer:
            assert answer.status == 204
            assert answer.headers["Access-Control-Allow-Origin"] == "https://studio.example"
            assert "POST" in answer.headers["Access-Control-Allow-Methods"]
            assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
        async with server.client.options("/whep/x", headers=asks) as answer:
            assert answer.headers["Accept-Post"] == "application/sdp"
        async with server.client.post("/v1/sessions", headers=BEARER | origin) as answer:
            assert answer.status == 201
            exposed = answer.headers["Access-Control-Expose-Headers"]
            assert all(name in exposed for name in ("Location", "Link", "ETag", "Accept-Patch"))
            assert answer.headers["Access-Control-Allow-Origin"] == "https://studio.example"
        async with server.client.get("/v1/sessions", headers=origin) as answer:
            assert answer.status in (401, 405)
            assert "Access-Control-Allow-Origin" in answer.headers


async def test_our_own_page_may_call() -> None:
    async with studio() as server:
        origin = str(server.client.make_url("/")).rstrip("/")
        async with server.client.post("/v1/sessions", headers={"Origin": origin}) as answer:
            assert answer.status == 201


async def test_an_error_of_ours_in_a_handler_is_told_without_its_insides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with studio() as server:

        def broken() -> bytes:
            raise ZeroDivisionError("secret")

        monkeypatch.setattr(type(server.front.metrics), "text", lambda _self: broken())
        async with server.client.get("/metrics") as answer:
            assert answer.status == 500
            assert "secret" not in await answer.text()
