from typing import Any

from support.front import studio
from support.peers import SDP, viewer_offer, watching
from visavis.web.config import Config
from visavis.web.peer import WebRtcOptions

TRICKLE = {"Content-Type": "application/trickle-ice-sdpfrag"}
CANDIDATE = "a=mid:0\r\na=candidate:1 1 UDP 2130706431 127.0.0.1 50000 typ host\r\n"
TURN = Config(webrtc=WebRtcOptions(("stun:127.0.0.1", "turn:127.0.0.1"), "user", "secret"))


async def test_an_answer_has_all_that_clients_check() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        peer, offer = await viewer_offer()
        async with server.client.post(f"/whep/{session}", data=offer, headers=SDP) as answer:
            assert answer.status == 201
            assert answer.content_type == "application/sdp"
            assert answer.headers["Location"].startswith(f"/whep/{session}/")
            assert answer.headers["ETag"].startswith('"')
            assert answer.headers["Accept-Patch"] == "application/trickle-ice-sdpfrag"
            assert "Link" not in answer.headers
            text = await answer.text()
        assert text.count("a=sendonly") == 2
        assert "a=candidate" in text
        assert " 127.0.0.1 " in text
        await peer.close()


async def test_ice_servers_are_handed_out_with_offers_and_options() -> None:
    async with studio(TURN) as server:
        session = (await server.open())["id"]
        async with server.client.options(f"/whep/{session}") as answer:
            assert answer.status == 204
            assert answer.headers["Accept-Post"] == "application/sdp"
            assert answer.headers.getall("Link") == [
                '<stun:127.0.0.1>; rel="ice-server"',
                '<turn:127.0.0.1>; rel="ice-server"; username="user"; credential="secret"; '
                'credential-type="password"',
            ]


async def test_wrong_requests_get_the_status_that_the_protocol_names() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        peer, offer = await viewer_offer()
        await peer.close()
        vp8 = offer.replace("H264/90000", "VP9/90000")
        wrong: list[tuple[str, dict[str, str], str | bytes, int, str]] = [
            (f"/whep/{session}", {"Content-Type": "application/json"}, "{}", 415, "application/sdp"),
            (f"/whep/{session}", SDP, "nonsense", 400, "send a complete WebRTC offer"),
            (f"/whep/{session}", SDP, b"\xff\xfe", 400, "no text"),
            (f"/whep/{session}", SDP, vp8, 406, "sends H.264"),
            ("/whep/unknown", SDP, offer, 404, "open one"),
            (f"/whip/{session}", SDP, offer, 400, "offers sendonly audio"),
            (f"/whip/{session}", {}, offer, 415, "application/sdp"),
        ]
        for path, headers, body, status, advice in wrong:
            async with server.client.post(path, data=body, headers=headers) as answer:
                told = (await answer.json())["error"]["message"]
                assert (answer.status, advice in told) == (status, True), (path, told)
        async with server.client.get(f"/whep/{session}") as answer:
            assert answer.status == 405
        assert len(server.front.peers) == 0


async def status_of(server: Any, path: str, body: str, **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with server.client.patch(path, data=body, headers=TRICKLE | named) as answer:
        return answer.status


async def test_more_candidates_are_taken_under_the_answers_etag_only() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        peer, offer = await viewer_offer()
        async with server.client.post(f"/whep/{session}", data=offer, headers=SDP) as answer:
            path, etag = answer.headers["Location"], answer.headers["ETag"]
        assert await status_of(server, path, CANDIDATE, If_Match=etag) == 204
        assert await status_of(server, path, CANDIDATE) == 428
        assert await status_of(server, path, CANDIDATE, If_Match='"stale"') == 412
        assert await status_of(server, path, CANDIDATE, If_Match="*") == 422
        assert await status_of(server, path, "a=candidate:junk\r\n", If_Match=etag) == 400
        assert await status_of(server, path, CANDIDATE, If_Match=etag, Content_Type="text/plain") == 415
        assert await status_of(server, path + "x", CANDIDATE, If_Match=etag) == 404
        assert await status_of(server, path.replace("whep", "whip"), CANDIDATE, If_Match=etag) == 404
        await peer.close()


async def test_deleting_ends_the_connection_once() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with watching(server, session) as watcher:
            async with server.client.delete(watcher.location) as answer:
                assert answer.status == 200
            async with server.client.delete(watcher.location) as answer:
                assert answer.status == 404
