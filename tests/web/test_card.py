import subprocess
import sys
from pathlib import Path

import pytest
from visavis.stream.errors import SetupError
from visavis.web import card
from visavis.web.card import ask, trials


def test_the_child_says_what_the_front_reads() -> None:
    told = ask()
    assert told.torch
    assert told.problem == ""
    assert told.digest == ""


def test_a_child_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torn.py").write_text("raise ImportError('libtorn.so is missing')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(card, "CARD", "torn")
    with pytest.raises(SetupError, match=r"torch cannot be loaded: ImportError: libtorn\.so is missing"):
        ask()
    (tmp_path / "torn.py").write_text("print('chatter')")
    with pytest.raises(SetupError, match="torch cannot be loaded: it says nothing"):
        ask()


def test_a_child_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "_PATIENCE_S", 0)
    with pytest.raises(SetupError, match="did not answer within 0 s"):
        ask()


def test_a_python_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "no-such-python")
    with pytest.raises(SetupError, match="no process can be started"):
        ask()


def test_asking_loads_no_torch() -> None:
    program = "import sys; from visavis.web.card import ask; ask(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_trials_are_read_as_the_child_tells_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = '[{"format": "int8", "layers": 9, "decibels": 46.0, "cosine": 0.9999, "is_close": true, '
    told += '"sixteen_ms": 1.2, "eight_ms": 0.9}]'
    (tmp_path / "tries.py").write_text(f"import sys; print(sys.argv[1:], file=sys.stderr); print({told!r})")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(card, "TRIALS", "tries")
    (found,) = trials("anna", "random:1")
    assert (found.format, found.layers, found.eight_ms) == ("int8", 9, 0.9)


def test_trials_that_fail_are_quoted() -> None:
    with pytest.raises(SetupError, match="is no folder"):
        trials("anna", "nowhere")
