import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.errors import AudioError, ProtocolError
from visavis.web import wire

START = '{"type": "start", "sample_rate": 16000}'


def wav(rate: int, *, channels: int = 1) -> bytes:
    fmt = (
        (1).to_bytes(2, "little")
        + channels.to_bytes(2, "little")
        + rate.to_bytes(4, "little")
        + (rate * 2 * channels).to_bytes(4, "little")
        + (2 * channels).to_bytes(2, "little")
        + (16).to_bytes(2, "little")
    )
    header = b"RIFF\xff\xff\xff\xffWAVEfmt " + len(fmt).to_bytes(4, "little") + fmt
    return header + b"data\xff\xff\xff\xff"


def started(rate: int = 16_000) -> wire.Wire:
    connection = wire.Wire()
    connection.text(json.dumps({"type": "start", "sample_rate": rate}))
    return connection


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ('{"type":"start"}', wire.Start(24_000, "s16le")),
        (START, wire.Start(16_000)),
        ('{"type":"segment_start","id":"a"}', wire.SegmentStart("a")),
        ('{"type":"segment_end"}', wire.SegmentEnd()),
        ('{"type":"segment_end","id":"a"}', wire.SegmentEnd("a")),
        ('{"type":"interrupt"}', wire.Interrupt()),
        ('{"type":"say","text":"Hi","voice":"emma","id":"x"}', wire.Say("Hi", "emma", "x")),
        ('{"type":"controls","emotion":"happy"}', wire.ControlChange({"emotion": "happy"})),
        ('{"type":"keep_alive"}', wire.KeepAlive()),
    ],
)
def test_each_message_type_is_read(text: str, request_: wire.Request) -> None:
    assert wire.Wire().text(text) == request_


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "carry JSON"),
        ("UklGRiQAAABXQVZF", "send sound in binary frames"),
        ("[1]", "JSON object"),
        ("{}", "without a type"),
        (
            '{"type":"dance"}',
            "known are controls, interrupt, keep_alive, say, segment_end, segment_start, start",
        ),
        ('{"type":7}', "without a type"),
        ('{"type":"start","rate":8000}', "it takes sample_rate, format"),
        ('{"type":"start","sample_rate":"fast"}', "it takes sample_rate, format"),
        ('{"type":"say"}', "it takes text, voice, id"),
        ('{"type":"say","text":"  "}', "no text"),
        ('{"type":"interrupt","id":""}', "1 to 64"),
        ('{"type":"interrupt","id":"a\\u0000"}', "printable"),
        ('{"type":"keep_alive","now":true}', "no fields"),
        ("[" * 100_000, "carry JSON"),
        (" " * (wire.MAX_MESSAGE_BYTES + 1), "smaller pieces"),
    ],
)
def test_a_bad_message_is_refused_with_advice(text: str, advice: str) -> None:
    with pytest.raises(ProtocolError, match=advice):
        wire.Wire().text(text)


def test_a_say_of_more_than_5000_characters_is_refused_with_the_limit() -> None:
    fits = json.dumps({"type": "say", "text": "a" * 5_000})
    assert isinstance(wire.Wire().text(fits), wire.Say)
    with pytest.raises(ProtocolError, match="10000 characters are too many for one say; send at most 5000"):
        wire.Wire().text(json.dumps({"type": "say", "text": "a" * 10_000}))


@pytest.mark.parametrize("rate", [0, 7_999, 48_001, -1, 1 << 40])
def test_a_rate_outside_8_to_48_khz_is_refused_and_the_connection_may_start_again(rate: int) -> None:
    connection = wire.Wire()
    with pytest.raises(AudioError, match="between 8000 and 48000 Hz"):
        connection.text(json.dumps({"type": "start", "sample_rate": rate}))
    connection.text(START)
    assert connection.binary(b"\0\0") == wire.Sound(b"\0\0", 16_000)


def test_another_format_is_refused() -> None:
    with pytest.raises(AudioError, match="send s16le"):
        wire.Wire().text('{"type":"start","format":"opus"}')


def test_sound_before_start_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r'send \{"type":"start"'):
        wire.Wire().binary(b"\0\0")


def test_a_second_start_is_refused_and_the_first_stays() -> None:
    connection = started()
    with pytest.raises(ProtocolError, match="started at 16000 Hz already"):
        connection.text('{"type":"start","sample_rate":8000}')
    assert connection.binary(b"\0\0").rate == 16_000


def test_a_message_that_is_too_large_is_refused_and_sound_goes_on() -> None:
    connection = started()
    with pytest.raises(ProtocolError, match=f"over the limit of {wire.MAX_MESSAGE_BYTES}"):
        connection.binary(bytes(10 << 20))
    assert connection.binary(b"\1\2").pcm == b"\1\2"


@given(cuts=st.lists(st.integers(0, 400), max_size=20))
def test_sound_is_the_same_however_it_is_cut(cuts: list[int]) -> None:
    sound = bytes(index % 251 for index in range(300))
    whole = wav(22_050) + sound
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    connection = started()
    heard = [connection.binary(whole[start:end]) for start, end in itertools.pairwise(edges)]
    assert b"".join(part.pcm for part in heard) == sound
    assert {part.rate for part in heard if part.pcm} == {22_050}


def test_half_a_sample_at_the_end_of_a_segment_does_not_shift_the_next() -> None:
    connection = started()
    assert connection.binary(b"\1\2\3").pcm == b"\1\2"
    connection.text('{"type":"segment_end"}')
    assert connection.binary(b"\4\5").pcm == b"\4\5"


def test_an_interrupt_that_does_nothing_keeps_the_half_sample() -> None:
    connection = started()
    connection.binary(b"\1\2\3")
    connection.text('{"type":"interrupt","id":"unknown"}')
    assert connection.binary(b"\4").pcm == b"\3\4"


@pytest.mark.parametrize("header", [wav(16_000, channels=2), wav(96_000)], ids=["stereo", "96 kHz"])
def test_a_wav_that_does_not_fit_is_refused_once_and_its_rest_is_not_taken_for_sound(header: bytes) -> None:
    connection = started()
    with pytest.raises(AudioError):
        connection.binary(header + b"\1\2")
    assert connection.binary(b"\3\4").pcm == b""
    connection.text('{"type":"segment_end"}')
    assert connection.binary(b"\5\6").pcm == b"\5\6"


@given(st.lists(st.one_of(st.text(max_size=200), st.binary(max_size=200)), max_size=8))
def test_whatever_arrives_only_documented_errors_leave(frames: list[str | bytes]) -> None:
    connection = wire.Wire()
    told: list[str] = []
    for frame in frames:
        try:
            if isinstance(frame, str):
                connection.text(frame)
            else:
                connection.binary(frame)
        except (ProtocolError, AudioError) as error:
            told.append(wire.failure_of(error).message)
    assert all(told)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    ["start", "segment_start", "segment_end", "interrupt", "say", "controls", "keep_alive"]
)
FIELDS = st.sampled_from(["sample_rate", "format", "id", "text", "voice", "emotion"])


@given(kind=TYPES, fields=st.dictionaries(FIELDS, JSON, max_size=4))
def test_wrong_fields_give_only_documented_errors(kind: str, fields: dict[str, Any]) -> None:
    try:
        request = wire.Wire().text(json.dumps({**fields, "type": kind}))
    except (ProtocolError, AudioError):
        return
    assert isinstance(request, wire.Request)


def test_events_are_json_with_a_type() -> None:
    assert json.loads(wire.to_text(wire.PlaybackFinished("a", 1200, True))) == {
        "type": "playback_finished",
        "id": "a",
        "position_ms": 1200,
        "interrupted": True,
    }
    assert json.loads(wire.to_text(wire.State("restarting"))) == {"type": "state", "worker": "restarting"}
