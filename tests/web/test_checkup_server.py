import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import tiny
from visavis.render.avatar import PREVIEW
from visavis.web.checkup_server import certificate, engine, foreign, port, shown, workers
from visavis.web.findings import Level
from visavis.web.tls import ListenOptions

OPEN = ListenOptions(host="0.0.0.0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_port_that_somebody_listens_on_is_a_fault_and_free_again_afterwards() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = ListenOptions(port=taken.getsockname()[1])
        found = port(listen)
        assert found.level is Level.FAULT
        assert "Address already in use" in found.said
        assert "--port" in found.advice
    assert port(listen).level is port(listen).level is Level.OK


def test_any_port_is_always_free() -> None:
    assert port(ListenOptions(port=0)).level is Level.OK


@pytest.mark.parametrize("host", ["203.0.113.1", "no host at all"])
def test_a_host_that_is_not_this_machine_is_a_fault(host: str) -> None:
    found = port(ListenOptions(host=host, port=8080))
    assert found.level is Level.FAULT
    assert "--host" in found.advice


def test_http_is_enough_on_this_machine_and_noted_for_others(tmp_path: Path) -> None:
    assert certificate(ListenOptions(), tmp_path).level is Level.OK
    found = certificate(OPEN, tmp_path)
    assert (found.level, found.advice) == (Level.NOTE, "make one with scripts/make_cert")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_is_tried(tmp_path: Path) -> None:
    wanted = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    command = ["openssl", *wanted.split(), "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True)
    found = certificate(OPEN, tmp_path)
    assert (found.level, found.said.partition(",")[0]) == (Level.OK, "https")
    for path in tmp_path.glob("*.pem"):
        path.write_text("damaged")
    broken = certificate(OPEN, tmp_path)
    assert broken.level is Level.FAULT
    assert "scripts/make_cert" in broken.advice


def test_the_avatar_that_is_shown_can_be_drawn(home: Path) -> None:
    found = shown("rig", "ruby")
    assert found.level is Level.OK
    assert found.said.startswith("ruby (720x1280, ")


@pytest.mark.parametrize(
    ("kind", "avatar", "advice"),
    [
        ("rig", "nobody", "choose one of marcus, ruby"),
        ("rig", "ada", "visavis serve --avatar ada"),
        ("ditto", "ruby", "visavis serve --avatar ruby"),
    ],
)
def test_an_avatar_that_cannot_be_drawn_is_a_fault(home: Path, kind: str, avatar: str, advice: str) -> None:
    tiny.write("ada")
    found = shown(kind, avatar)
    assert found.level is Level.FAULT
    assert advice in found.advice


def test_an_avatar_that_is_damaged_is_a_fault(home: Path) -> None:
    (tiny.write("ada") / PREVIEW).unlink()
    assert shown("ditto", "ada").level is Level.FAULT


def test_the_engine_is_the_one_that_a_server_would_run(home: Path) -> None:
    tiny.write("ada")
    assert [engine("auto", "ada"), engine("auto", "ruby"), engine("rig", "ada")] == ["ditto", "rig", "rig"]


def test_a_store_that_cannot_be_read_is_a_fault_and_no_end(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.write("ada")
    listed = Path.iterdir

    def refuse(folder: Path) -> Iterator[Path]:
        if folder == home / "avatars":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert engine("auto", "ada") == "rig"
    found = shown("rig", "ruby")
    assert found.level is Level.FAULT
    assert "set VISAVIS_HOME" in found.advice


def test_an_engine_of_somebody_else_is_noted() -> None:
    assert [one.level for one in foreign("my.module:Engine")] == [Level.NOTE]
    assert list(foreign("rig")) == list(foreign("ditto")) == []


def test_workers_are_counted_with_what_they_run_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("visavis.web.devices._DRIVER", tmp_path / "gpus")
    found, count = workers("cpu,cpu", "rig")
    assert (found.level, found.said, count) == (Level.OK, "2 workers on the CPU", 2)
    found, count = workers("cuda:0", "ditto")
    assert (found.level, count) == (Level.FAULT, 1)
    assert found.said.startswith("devices: there is no GPU 0 (nvidia-smi is not installed")
    assert found.advice == "name others with --devices"
