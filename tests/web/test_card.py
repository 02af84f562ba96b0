import subprocess
import sys
from pathlib import Path

import pytest
from visavis.stream.errors import SetupError
from visavis.web import card
from visavis.web.card import ask


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
