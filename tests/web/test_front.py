import asyncio
import os
from pathlib import Path

import pytest
from support import tiny
from support.front import FAKE_VOICE, FAKE_WORKER, GALLERY, studio, until
from support.peers import watching
from visavis.stream.errors import AvatarError, SetupError
from visavis.web import front as front_module
from visavis.web.chores import first_of
from visavis.web.config import Config
from visavis.web.front import running_front
from visavis.web.sessions import SessionOptions
from visavis.web.workers import WorkerOptions


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_default_avatar_that_is_unknown_ends_the_start_with_the_known_ones() -> None:
    config = Config(sessions=SessionOptions(avatar="nobody"))
    with pytest.raises(AvatarError, match="no avatar 'nobody'; choose one of "):
        async with running_front(config, worker=FAKE_WORKER, voice=FAKE_VOICE, gallery=GALLERY):
            raise AssertionError("it started")


async def test_an_avatar_of_another_engine_ends_the_start_with_the_name_of_that_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    config = Config(worker=WorkerOptions(engine="ditto"))
    with pytest.raises(
        AvatarError, match="engine ditto can draw no avatar 'ruby'; ruby is drawn by engine rig"
    ):
        async with running_front(config, worker=FAKE_WORKER, voice=FAKE_VOICE):
            raise AssertionError("it started")


async def test_a_ditto_avatar_without_weights_ends_the_start_before_any_worker_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    tiny.write("ada")
    with pytest.raises(SetupError, match="holds no weights of Ditto: get them with visavis weights fetch"):
        async with running_front(Config(sessions=SessionOptions(avatar="ada")), voice=FAKE_VOICE):
            raise AssertionError("it started")


async def test_leaving_the_front_ends_its_processes_sessions_and_connections() -> None:
    async with studio() as server:
        pid = server.front.workers[0].pid
        session = (await server.open())["id"]
        async with watching(server, session) as watcher:
            await until(lambda: len(watcher.pictures_ns) > 0)
            server.front.sessions.close_all()
            assert server.front.sessions.programs == []
    assert pid is not None
    assert not alive(pid)
    assert len(server.front.peers) == 0


async def test_a_worker_that_cannot_start_ends_the_front_with_the_reason() -> None:
    broken = ("python3", "-c", "raise SystemExit('no engine here')")
    with pytest.raises(ExceptionGroup) as group:
        async with running_front(Config(), worker=broken, voice=FAKE_VOICE, gallery=GALLERY):
            await asyncio.Event().wait()
    error = first_of(group.value)
    assert isinstance(error, SetupError)
    assert "no engine here" in str(error)


async def test_unused_sessions_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_module, "_SWEEP_S", 0.01)
    async with running_front(Config(), worker=FAKE_WORKER, voice=FAKE_VOICE, gallery=GALLERY) as front:
        swept = asyncio.Event()
        monkeypatch.setattr(type(front.sessions), "sweep", lambda _self, _now_ns: swept.set())
        async with asyncio.timeout(5):
            await swept.wait()
