import ast
import hashlib
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from visavis.render.encode import probe
from visavis.render.encode_x264 import X264Encoder
from visavis.stream.errors import EncoderError, SetupError
from visavis.web import checkup
from visavis.web.findings import Level


def test_a_python_that_is_too_old_is_a_fault() -> None:
    assert checkup.python().level is Level.OK
    found = checkup.python("3.10.14")
    assert (found.level, found.said) == (Level.FAULT, "3.10.14 is not >=3.11")
    assert found.advice


def test_the_pythons_that_are_accepted_are_those_of_the_project() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert re.search(r'requires-python = "(.+)"', project)[1] == checkup.PYTHONS  # type: ignore[index]


def test_installed_packages_fit_the_project() -> None:
    assert checkup.packages().level is Level.OK


def test_packages_that_are_missing_or_of_another_version_are_named_with_what_to_install() -> None:
    numpy = version("numpy")
    wanted = [f"numpy<{numpy}", "no-such-package>=2", f"pytest=={version('pytest')}"]
    found = checkup.packages([*wanted, "nothing; python_version < '3'", "torch; extra == 'none'"])
    assert found.level is Level.FAULT
    assert found.said == f"numpy {numpy} is not <{numpy}, no-such-package is missing"
    assert found.advice == f"pip install 'numpy<{numpy}' 'no-such-package>=2'"


def test_of_many_misfits_a_few_are_named() -> None:
    found = checkup.packages([f"none-{letter}" for letter in "abcde"])
    assert found.said.endswith("none-c is missing and 2 more")


def test_a_checkout_that_is_not_installed_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "PROJECT", "visavis-elsewhere")
    found = checkup.packages()
    assert (found.level, found.advice) == (Level.NOTE, "run pip install -e .")


def test_the_encoder_is_the_one_that_encoded() -> None:
    found = checkup.encoder()
    assert found.level is Level.OK
    assert "libx264 of PyAV" in found.said


def test_an_encoder_that_fails_is_a_fault_with_what_it_said() -> None:
    def broken(*_size: int, **_options: object) -> X264Encoder:
        raise EncoderError("no such codec")

    found = checkup.encoder(lambda: probe((("first", broken),)))
    assert found.level is Level.FAULT
    assert "first: no such codec" in found.said
    later = checkup.encoder(lambda: probe((("first", broken), ("second", X264Encoder))))
    assert (later.level, later.said.partition(" ")[0]) == (Level.OK, "second")


def test_an_aiortc_that_does_not_take_our_hooks_is_a_fault() -> None:
    def misfit() -> None:
        raise SetupError("aiortc 9 does not work; install the pinned one")

    assert checkup.webrtc().level is Level.OK
    found = checkup.webrtc(misfit)
    assert (found.level, found.advice) == (Level.FAULT, "install the pinned one")


def test_onnxruntime_runs_the_net_and_names_its_providers() -> None:
    found = checkup.viseme_net()
    assert found.level is Level.OK
    assert re.search(r"runs the viseme net; it can use .*\bCPU\b", found.said)


def test_an_onnxruntime_that_does_not_run_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from visavis.render.rig import viseme

    (tmp_path / "damaged.onnx").write_bytes(b"no net")
    monkeypatch.setattr(viseme, "MODEL", tmp_path / "damaged.onnx")
    found = checkup.viseme_net()
    assert found.level is Level.FAULT
    assert "--force-reinstall onnxruntime" in found.advice


LOOP = """
from numba import int64, njit

@njit(int64(int64), cache=True)
def twice(x):
    return 2 * x
"""


def test_loops_are_compiled_once_numba_kept_them_for_this_very_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "loops" / "loop.py"
    source.parent.mkdir()
    source.write_text(LOOP)
    cold = checkup.drawing_loops(source.parent)
    assert cold.level is Level.NOTE
    assert "yet to compile 1 of 1 loops" in cold.said
    subprocess.run([sys.executable, "-c", "import loop"], check=True, cwd=source.parent)
    assert checkup.drawing_loops(source.parent).level is Level.OK
    source.write_text(LOOP.replace("2 * x", "x + x"))
    assert checkup.drawing_loops(source.parent).level is Level.NOTE


def test_loops_are_looked_for_where_the_user_has_numba_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    source = tmp_path / "loop.py"
    source.write_text(LOOP)
    assert checkup.drawing_loops(tmp_path).level is Level.NOTE
    subprocess.run([sys.executable, "-c", "import loop"], check=True, cwd=tmp_path)
    assert checkup.drawing_loops(tmp_path).level is Level.OK


def test_the_project_has_loops_to_look_for() -> None:
    marked = [
        node
        for source in checkup.RIG.glob("*.py")
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.keyword) and node.arg == "cache"
    ]
    assert re.search(rf"\b(all|of) {len(marked)} loops", checkup.drawing_loops().said)


def test_a_machine_has_room_for_as_many_sessions_as_its_worker_says() -> None:
    cores = len(os.sched_getaffinity(0))
    assert f"{cores} cores" in checkup.room(0).said
    assert f"room for {2 * cores} sessions" in checkup.room(0).said
    assert "room for 1 sessions" in checkup.room(1).said
    assert f"room for {2 * cores} sessions" in checkup.room(1000).said
    assert f"room for {2 * cores} sessions" in checkup.room(0, workers=cores).said
    assert f"room for {4 * cores} sessions" in checkup.room(0, workers=4 * cores).said


@pytest.mark.parametrize(("free_kib", "level"), [(600 << 10, Level.NOTE), (2 << 20, Level.OK)])
def test_little_memory_is_noted(tmp_path: Path, free_kib: int, level: Level) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: {free_kib} kB\n")
    found = checkup.room(0, meminfo)
    assert found.level is level
    assert f"{free_kib >> 10:,} of 8,192 MiB" in found.said


def test_where_memory_is_not_told_the_cores_are(tmp_path: Path) -> None:
    assert checkup.room(0, tmp_path / "none").level is Level.OK


def test_an_index_of_another_numba_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "loop.py"
    source.write_text(LOOP)
    name = f"loop.twice-4.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    index = tmp_path / "cache" / "numba" / "somewhere" / name
    index.parent.mkdir(parents=True)
    stamp = hashlib.sha256(source.read_bytes()).digest()
    index.write_bytes(b"0.1.0" + stamp)
    assert checkup.drawing_loops(tmp_path).level is Level.NOTE
    index.write_bytes(version("numba").encode() + stamp)
    assert checkup.drawing_loops(tmp_path).level is Level.OK
