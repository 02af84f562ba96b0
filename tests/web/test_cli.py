import re
from pathlib import Path

import pytest
import visavis
from typer.testing import CliRunner
from visavis.stream.errors import AudioError, SetupError, UsageError, VisavisError
from visavis.web import app as app_module
from visavis.web.cli import app, exit_code
from visavis.web.config import Config
from visavis.web.devices import CPU

RUNNER = CliRunner()


@pytest.mark.parametrize("command", ["serve", "say", "render"])
def test_each_command_explains_itself(command: str) -> None:
    result = RUNNER.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "--avatar" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["serve", "--host", "0.0.0.0"], 1, "give --token"),
        (["serve", "--config", "none.toml"], 2, "cannot be read"),
        (["serve", "--port", "70000"], 2, "port must lie between"),
        (["serve", "--token", "short"], 2, "at least 8 characters"),
        (["serve", "--avatar", "nobody", "--port", "0"], 2, "choose one of marcus, ruby"),
        (["serve", "--latency", "fast"], 2, "choose one of low-latency, balanced, reference, offline"),
        (["serve", "--engine", "rig", "--weights", "x"], 2, "--weights belongs to --engine ditto"),
        (["serve", "--weights", "x", "--port", "0"], 2, "--weights belongs to --engine ditto, not to rig"),
        (["serve", "--engine", "ditto", "--weights", "none"], 2, "--weights none is no folder"),
        (["say"], 2, "give one of --text, --audio and --mic"),
        (["say", "--text", "a", "--mic"], 2, "give one of"),
        (["say", "--text", "   "], 2, "--text has nothing to say"),
        (["say", "--text", "a" * 5001], 2, "not 5001"),
        (["say", "--text", "a", "--session", "s", "--avatar", "ruby"], 2, "leave it out with --session"),
        (["say", "--text", "a", "--server", "http://127.0.0.1:9"], 1, "start one with: visavis serve"),
        (["say", "--text", "a", "--server", "127.0.0.1:9"], 1, "start one with: visavis serve"),
        (["say", "--text", "a", "--server", "http://[::1"], 2, "give one such as http://127.0.0.1:8080"),
        (["say", "--audio", "none.wav"], 2, "there is no file none.wav"),
        (["say", "--audio", "."], 2, ". is a folder; give a sound file"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(arguments: list[str], code: int, line: str) -> None:
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == code, result.output
    assert re.fullmatch(r"visavis: .+\n", result.stderr)
    assert line in result.stderr


def test_the_version_is_told() -> None:
    result = RUNNER.invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"visavis {visavis.__version__}\n")


@pytest.mark.parametrize("arguments", [["dance"], ["serve", "--port", "many"], ["serve", "--nonsense"]])
def test_wrong_use_is_exit_code_2(arguments: list[str]) -> None:
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    assert "Error" in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("x"), 2), (AudioError("x"), 1), (SetupError("x"), 1), (VisavisError("x"), 1)],
)
def test_what_the_caller_could_have_known_is_wrong_use(error: VisavisError, code: int) -> None:
    assert exit_code(error) == code


def test_serve_passes_on_flags_file_and_environment_and_prints_the_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Config] = []

    async def serve(config: Config, *, announce: object) -> None:
        seen.append(config)
        assert callable(announce)
        announce(["http://127.0.0.1:9000/"], [CPU, CPU])

    monkeypatch.setattr(app_module, "serve", serve)
    monkeypatch.setenv("VISAVIS_AVATAR", "marcus")
    config = tmp_path / "visavis.toml"
    config.write_text("[sessions]\nidle_close_s = 5\n")
    flags = ["--config", str(config), "--port", "9000", "--engine", "rig", "--devices", "cpu,cpu"]
    result = RUNNER.invoke(app, ["serve", *flags])
    assert result.exit_code == 0, result.output
    assert result.stdout == "visavis is ready: open http://127.0.0.1:9000/\n2 workers on the CPU\n"
    assert seen[0].listen.port == 9000
    assert (seen[0].worker.engine, seen[0].worker.devices) == ("rig", "cpu,cpu")
    assert seen[0].sessions.avatar == "marcus"
    assert seen[0].sessions.idle_close_s == 5


def test_ctrl_c_is_exit_code_130_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(_config: Config, *, announce: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app_module, "serve", serve)
    result = RUNNER.invoke(app, ["serve"])
    assert result.exit_code == 130
    assert "Traceback" not in result.output
