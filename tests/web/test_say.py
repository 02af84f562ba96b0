import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.front import Studio, event, studio, until, write_wav
from support.peers import watching
from visavis.stream.errors import SetupError, UsageError, VisavisError
from visavis.web.auth import AuthOptions
from visavis.web.config import Config
from visavis.web.say import Address, Order, Target, converse
from visavis.web.sources import FileSound, Level, Piece


def text_order(text: str, **more: object) -> Order:
    return Order(text=text, wait=bool(more.get("wait")))


def address(server: Studio, **more: str | None) -> Address:
    url = str(server.client.make_url("/")).rstrip("/")
    return Address(url, more.get("session"), more.get("avatar"), more.get("token"))


async def test_a_text_is_said_in_a_session_of_its_own_that_ends_afterwards(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with studio() as server:
        await converse(text_order("One two."), address(server, avatar="marcus"), as_json=True)
        played = json.loads(capsys.readouterr().out)
        assert played["id"].startswith("say-")
        assert (played["position_ms"], played["interrupted"]) == (200, False)
        assert server.front.sessions.programs == []


async def test_the_page_to_watch_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    async with studio() as server:
        await converse(text_order("One."), address(server), as_json=False)
        told = capsys.readouterr().err
        assert "watch at http://127.0.0.1:" in told
        assert "/?session=" in told
        assert "played 0.10 s" in told


@pytest.mark.parametrize("paced", [True, False], ids=["paced", "fast"])
async def test_a_file_is_played_from_its_first_to_its_last_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], paced: bool
) -> None:
    write_wav(tmp_path / "a.wav", 1.5)
    async with studio() as server:
        order = Order(sound=FileSound(tmp_path / "a.wav"), paced=paced)
        await converse(order, address(server), as_json=True)
        played = json.loads(capsys.readouterr().out)
        assert abs(played["position_ms"] - 1_500) <= 1


async def test_a_running_session_is_used_and_left_running(capsys: pytest.CaptureFixture[str]) -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        listener = await server.socket(session)
        await converse(text_order("One."), address(server, session=session), as_json=True)
        assert (await event(listener, "playback_finished"))["position_ms"] == 100
        assert json.loads(capsys.readouterr().out)["session"] == session
        assert len(server.front.sessions.programs) == 1


async def test_an_interrupt_ends_it_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    async with studio() as server, asyncio.TaskGroup() as group:
        order = text_order(" ".join(["word"] * 200))
        talking = group.create_task(converse(order, address(server), as_json=True))
        await until(lambda: any(one.intake.speaking for one in server.front.sessions.programs))
        await server.front.sessions.programs[0].intake.interrupt()
        await talking
        assert json.loads(capsys.readouterr().out)["interrupted"]


class Voice:
    """A microphone that hears two words, then waits."""

    rate = 24_000
    seconds = None

    async def pieces(self, level: Level) -> AsyncIterator[Piece]:
        for _ in range(2):
            level(0.5)
            yield Piece(bytes(4_800))
            yield Piece(b"", last=True)
        await asyncio.Event().wait()


async def test_a_microphone_is_heard_until_ctrl_c_and_its_session_ends_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with studio() as server:
        async with asyncio.TaskGroup() as group:
            talking = group.create_task(
                converse(Order(sound=Voice(), live=True), address(server), as_json=True)
            )
            heard = ""
            while heard.count("position_ms") < 2:
                await asyncio.sleep(0.02)
                heard += capsys.readouterr().out
            talking.cancel()
        assert [json.loads(line)["position_ms"] for line in heard.splitlines()] == [100, 100]
        assert server.front.sessions.programs == []


async def test_it_can_wait_for_somebody_to_watch() -> None:
    async with studio() as server:
        session = (await server.open())["id"]
        async with asyncio.TaskGroup() as group:
            order = text_order("One.", wait=True)
            talking = group.create_task(converse(order, address(server, session=session), as_json=True))
            await until(lambda: server.program(session).traffic.ticks > 5)
            assert not talking.done()
            async with watching(server, session):
                async with asyncio.timeout(10):
                    await talking


async def refusal(server: Studio, order: Order, error: type[VisavisError], **more: str | None) -> str:
    with pytest.raises(error) as raised:
        await converse(order, address(server, **more), as_json=True)
    return str(raised.value)


async def test_what_the_server_refuses_is_told_in_its_words() -> None:
    async with studio() as server:
        assert "choose one of" in await refusal(server, text_order("One."), UsageError, avatar="nobody")
        assert "is the session over" in await refusal(server, text_order("One."), SetupError, session="gone")
        order = Order("One.", "nobody")
        assert "choose one of heart, emma" in await refusal(server, order, VisavisError)
        gone = text_order("One.", wait=True)
        assert "there is no session" in await refusal(server, gone, UsageError, session="gone")


async def test_a_session_that_ends_while_a_microphone_is_open_is_told() -> None:
    async with studio() as server, asyncio.TaskGroup() as group:
        talking = group.create_task(refusal(server, Order(sound=Voice(), live=True), SetupError))
        await until(lambda: any(one.intake.speaking for one in server.front.sessions.programs))
        server.front.sessions.close_all()
        assert "the session has ended" in await talking


async def test_a_token_opens_the_server_and_the_page_gets_one_for_its_session() -> None:
    config = Config(auth=AuthOptions(token="open-sesame"))
    async with studio(config) as server:
        assert "a token is needed" in await refusal(server, text_order("One."), UsageError)
        await converse(text_order("One."), address(server, token="open-sesame"), as_json=True)


def test_addresses_follow_the_servers() -> None:
    secure = Target("https://face.example/base", "s", "t")
    assert secure.socket == "wss://face.example/base/v1/sessions/s/ws"
    assert secure.page == "https://face.example/base/?session=s&token=t"
    assert Target("http://h:1", "s", None).page == "http://h:1/?session=s"


async def test_a_server_that_is_none_of_ours_is_told() -> None:
    async with studio() as server:
        url = str(server.client.make_url("/static"))
        with pytest.raises(UsageError):
            await converse(text_order("One."), Address(url, None, None, None), as_json=True)
