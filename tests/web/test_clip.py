import io
import json
import math
import wave
from pathlib import Path

import av
import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result
from visavis.web import clip
from visavis.web.cli import app

PATTERN = ["--engine", "support.pattern:PatternEngine", "--size", "512x512"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["render", *arguments])


@pytest.fixture
def wav(tmp_path: Path) -> str:
    path = tmp_path / "voice.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes((1000 * np.sin(np.arange(16_100))).astype("<i2").tobytes())
    return str(path)


@pytest.fixture
def out(tmp_path: Path) -> str:
    return str(tmp_path / "clip.mp4")


def frames(path: str) -> int:
    with av.open(path) as container:
        return sum(1 for _ in container.decode(video=0))


def test_a_sound_file_becomes_a_clip_and_one_line_says_so(wav: str, out: str) -> None:
    result = run("--audio", wav, "-o", out, *PATTERN)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{out}: 1.04 s, 26 frames of 512x512, made in ")
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""
    assert frames(out) == 26


def test_json_tells_the_figures(wav: str, out: str) -> None:
    result = run("--audio", wav, "--out", out, "--avatar", "marcus", "--seed", "7", "--json", *PATTERN)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report.pop("seconds") > 0
    assert report.pop("frames_per_second") > 0
    assert report == {
        "output": out,
        "avatar": "marcus",
        "engine": "pattern",
        "size": "512x512",
        "seed": 7,
        "frames": 26,
        "audio_s": 1.00625,
        "video_s": 1.04,
    }


def test_the_size_is_the_avatars_own_unless_told(wav: str, out: str) -> None:
    result = run("--audio", wav, "-o", out, "--json", *PATTERN[:2])
    assert json.loads(result.stdout)["size"] == "720x1280"


def test_text_is_spoken(out: str) -> None:
    result = run("--text", "Good morning. How are you?", "-o", out, "--json", *PATTERN)
    report = json.loads(result.stdout)
    assert result.exit_code == 0, result.stderr
    assert 1 < report["audio_s"] < 4
    assert report["frames"] == frames(out) == math.ceil(report["audio_s"] * 25)
    with av.open(out) as container:
        sound = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
    assert np.abs(sound).max() > 0.05


def test_a_text_is_spoken_the_same_way_again(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        assert run("--text", "Hello.", "-o", str(tmp_path / name), *PATTERN).exit_code == 0
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --audio FILE or --text TEXT"),
        (["--audio", "{wav}", "--text", "hello"], "give either"),
        (["--audio", "{wav}", "--voice", "heart"], "--voice belongs to --text"),
        (["--text", "  "], "--text has nothing to say"),
        (["--text", "x" * 100_001], "1 to 100000 characters"),
        (["--audio", "{wav}", "--fps", "30"], "use --fps 25"),
        (["--audio", "missing.wav"], "there is no file missing.wav"),
        (["--audio", "."], ". is a folder; give a sound file"),
        (["--audio", "{wav}", "--size", "100x100"], "choose one of 720x1280, 512x512"),
        (["--audio", "{wav}", "--size", "big"], "choose one of 720x1280, 512x512"),
        (["--audio", "{wav}", "--avatar", "nobody"], "choose one of marcus, ruby"),
        (["--audio", "{wav}", "--weights", "random:1"], "--weights belongs to --engine ditto"),
        (["--audio", "{wav}", "--latency", "offline"], "--latency belongs to --engine ditto"),
        (
            ["--audio", "{wav}", "--latency", "fast"],
            "choose one of low-latency, balanced, reference, offline",
        ),
        (["--text", "hello", "--voice", "nobody"], "this machine has no voice 'nobody'"),
        (["--text", "\N{SNOWMAN}"], "nothing in this text"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    wav: str, out: str, arguments: list[str], message: str
) -> None:
    given = [argument.format(wav=wav) for argument in arguments]
    result = run(*PATTERN[:2], *given, "-o", out)
    assert result.exit_code == 2
    assert result.stderr.startswith("visavis: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not Path(out).exists()


def test_a_clip_is_named_mp4(wav: str, tmp_path: Path) -> None:
    notes = tmp_path / "news.txt"
    notes.write_text("keep me")
    result = run("--audio", wav, "-o", str(notes), *PATTERN)
    assert result.exit_code == 2
    assert "ends in .mp4, not news.txt" in result.stderr
    assert notes.read_text() == "keep me"


@pytest.mark.parametrize("where", ["{folder}", "{folder}/missing/a.mp4"])
def test_a_place_that_cannot_be_written_is_wrong_use(wav: str, tmp_path: Path, where: str) -> None:
    result = run("--audio", wav, "-o", where.format(folder=tmp_path), *PATTERN)
    assert result.exit_code == 2
    assert "a folder that exists" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"), [(b"not a sound", "no sound file"), (b"", "no sound file")], ids=["text", "empty"]
)
def test_a_file_that_is_no_sound_fails_with_exit_code_1(
    tmp_path: Path, out: str, content: bytes, message: str
) -> None:
    path = tmp_path / "voice.mp3"
    path.write_bytes(content)
    result = run("--audio", str(path), "-o", out, *PATTERN)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path(out).exists()


def test_an_unknown_engine_fails_with_what_to_use(wav: str, out: str) -> None:
    result = run("--audio", wav, "-o", out, "--engine", "warp")
    assert result.exit_code == 1
    assert "use auto, rig" in result.stderr


def test_damaged_packets_are_told(tmp_path: Path, out: str) -> None:
    path = tmp_path / "voice.m4a"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", 16_000, layout="mono")
        noise = np.random.default_rng(1).normal(0, 0.1, (1, 64_000)).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(noise, "fltp", "mono")
        frame.sample_rate = 16_000
        container.mux([*stream.encode(frame), *stream.encode(None)])
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 3000] = bytes([255]) * 3000
    path.write_bytes(raw)
    result = run("--audio", str(path), "-o", out, *PATTERN)
    assert result.exit_code == 0
    assert "damaged packets" in result.stderr


def test_a_terminal_shows_progress_on_the_error_stream(
    wav: str, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(
        clip, "Console", lambda stderr: Console(file=screen, force_terminal=stderr, width=100)
    )
    result = run("--audio", wav, "-o", out, "--json", *PATTERN)
    assert json.loads(result.stdout)["frames"] == 26
    assert "clip.mp4" in screen.getvalue()
    assert "26/26" in screen.getvalue()
