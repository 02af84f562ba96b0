import contextlib
import math
from collections.abc import Callable, Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sound import byte_pieces, cuts
from visavis.stream import link
from visavis.stream.controls import EMOTIONS, Controls
from visavis.stream.errors import LinkError

Inbox = Callable[[], link.WorkerInbox | link.FrontInbox]

names = st.text(max_size=8)
blobs = st.binary(max_size=30)
numbers = st.integers(-(2**63), 2**64 - 1)
small = st.integers(0, 10**6)
flags = st.booleans()
controls = st.builds(
    Controls, emotion=st.sampled_from(EMOTIONS), intensity=st.floats(0, 2), head_yaw=st.floats(-20, 20)
)
spans = st.builds(link.TickSpan, names, numbers, numbers, flags)
cues = st.lists(st.tuples(small, small, small), max_size=3).map(tuple)

to_worker = st.one_of(
    st.builds(link.Park),
    st.builds(link.Open, names, names, small, small, *[numbers] * 5, controls),
    st.builds(link.Audio, names, names, small, blobs, cues),
    st.builds(link.EndSegment, names, names),
    st.builds(link.Interrupt, names, numbers),
    st.builds(link.SetControls, names, controls),
    st.builds(link.Keyframe, names),
    st.builds(link.Bitrate, names, numbers),
    st.builds(link.Close, names),
)
to_front = st.one_of(
    st.builds(link.Ready, names, small, names, small),
    st.builds(link.Opened, names),
    st.builds(link.Fault, names, names, names, flags),
    st.builds(
        link.Tick,
        session=names,
        epoch=numbers,
        index=numbers,
        video=blobs,
        keyframe=flags,
        repeated=flags,
        audio=st.tuples(blobs, blobs),
        spans=st.lists(spans, max_size=3).map(tuple),
    ),
    st.builds(link.Interrupted, names, numbers, numbers),
    st.builds(link.Starved, names, names),
    st.builds(link.Gauges, names, *[numbers] * 5),
    st.builds(link.EngineCounts, *[numbers] * 5),
)
WAYS = pytest.mark.parametrize(
    ("inbox", "messages"),
    [(link.WorkerInbox, st.lists(to_worker, max_size=5)), (link.FrontInbox, st.lists(to_front, max_size=5))],
    ids=["to the worker", "to the front"],
)
INBOXES = pytest.mark.parametrize("inbox", [link.WorkerInbox, link.FrontInbox])


def received(inbox: link.WorkerInbox | link.FrontInbox, parts: Iterable[bytes]) -> list[object]:
    return [message for part in parts for message in inbox.feed(part)]


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def packed(*fields: object) -> bytes:
    return framed(msgspec.msgpack.encode(fields))


@WAYS
@given(data=st.data())
@settings(max_examples=150)
def test_messages_come_out_as_they_went_in_however_the_bytes_were_cut(
    inbox: Inbox, messages: st.SearchStrategy[list[link.ToWorker]], data: st.DataObject
) -> None:
    sent = data.draw(messages)
    stream = b"".join(link.to_frame(message) for message in sent)
    assert received(inbox(), byte_pieces(stream, data.draw(cuts(len(stream))))) == sent


@pytest.mark.parametrize(
    ("union", "strategy"), [(link.ToWorker, to_worker), (link.ToFront, to_front)], ids=["worker", "front"]
)
def test_every_message_of_the_link_is_tried_here(union: object, strategy: object) -> None:
    tried = {one.__repr__().split("(")[1].split(",")[0].rstrip(")") for one in strategy.element_strategies}
    assert tried == {kind.__name__ for kind in union.__args__}


@WAYS
@given(data=st.data())
@settings(max_examples=150)
def test_a_damaged_byte_raises_a_link_error_and_nothing_else(
    inbox: Inbox, messages: st.SearchStrategy[list[link.ToWorker]], data: st.DataObject
) -> None:
    stream = bytearray(b"".join(link.to_frame(message) for message in data.draw(messages)) or b"\0")
    for at in data.draw(st.lists(st.integers(0, len(stream) - 1), min_size=1, max_size=3)):
        stream[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(LinkError):
        received(inbox(), byte_pieces(bytes(stream), data.draw(cuts(len(stream)))))


@INBOXES
@given(bodies=st.lists(st.binary(max_size=40), max_size=4), rest=st.binary(max_size=8))
def test_foreign_bytes_raise_a_link_error_and_nothing_else(
    inbox: Inbox, bodies: list[bytes], rest: bytes
) -> None:
    with contextlib.suppress(LinkError):
        received(inbox(), [b"".join(framed(body) for body in bodies) + rest])


NO_MESSAGES = {
    "nothing": framed(b""),
    "no value": framed(b"\xc1"),
    "no fields": packed(),
    "an unknown kind": packed("Nonsense", "s"),
    "a kind that is no text": packed(1, "s"),
    "an object": framed(msgspec.msgpack.encode({"type": "Close", "session": "s"})),
    "broken text for the worker": framed(b"\x92\xa5Close\xa2\xff\xff"),
    "broken text for the front": framed(b"\x92\xa6Opened\xa2\xff\xff"),
    "a byte too much for the worker": framed(msgspec.msgpack.encode(["Close", "s"]) + b"\x00"),
    "a byte too much for the front": framed(msgspec.msgpack.encode(["Opened", "s"]) + b"\x00"),
    "endless nesting for the worker": framed(b"\x93\xa5Close\xa1s" + b"\x91" * 50_000 + b"\xc0"),
    "endless nesting for the front": framed(b"\x93\xa6Opened\xa1s" + b"\x91" * 50_000 + b"\xc0"),
    "four billion cues": framed(b"\x96\xa5Audio\xa1s\xa1g\x01\xc4\x00\xdd\xff\xff\xff\xff"),
    "an unknown emotion": packed("SetControls", "s", {"emotion": "angry"}),
    "a control that is no number": packed("SetControls", "s", {"intensity": math.nan}),
    "an unknown control": packed("SetControls", "s", {"smile": 1}),
    "half an epoch": packed("Interrupt", "s", 1.5),
}


@INBOXES
@pytest.mark.parametrize("stream", list(NO_MESSAGES.values()), ids=list(NO_MESSAGES))
def test_what_is_no_message_is_a_link_error(inbox: Inbox, stream: bytes) -> None:
    with pytest.raises(LinkError, match="no message"):
        received(inbox(), [stream])


def test_each_end_refuses_what_only_the_other_end_may_hear() -> None:
    with pytest.raises(LinkError, match="no message"):
        received(link.WorkerInbox(), [link.to_frame(link.Opened("s"))])
    with pytest.raises(LinkError, match="no message"):
        received(link.FrontInbox(), [link.to_frame(link.Close("s"))])


def test_messages_before_a_broken_one_still_arrive() -> None:
    messages = link.WorkerInbox().feed(link.to_frame(link.Close("a")) + framed(b""))
    assert next(messages) == link.Close("a")
    with pytest.raises(LinkError):
        next(messages)


@INBOXES
def test_an_announced_giant_is_refused_before_it_arrives(inbox: Inbox) -> None:
    largest = link.MAX_MESSAGE_BYTES.to_bytes(4, "big")
    assert received(inbox(), [largest]) == []
    with pytest.raises(LinkError, match="the two ends do not match"):
        received(inbox(), [(link.MAX_MESSAGE_BYTES + 1).to_bytes(4, "big")])


def test_a_message_over_the_limit_is_not_sent() -> None:
    overhead = len(link.to_frame(link.Audio("s", "g", 48_000, bytes(1 << 16)))) - 4 - (1 << 16)
    most = link.MAX_MESSAGE_BYTES - overhead
    assert len(link.to_frame(link.Audio("s", "g", 48_000, bytes(most)))) == link.MAX_MESSAGE_BYTES + 4
    with pytest.raises(LinkError, match="over the link's limit of 16777216"):
        link.to_frame(link.Audio("s", "g", 48_000, bytes(most + 1)))


def test_the_length_stands_in_four_bytes_before_the_message() -> None:
    frame = link.to_frame(link.Close("s"))
    assert frame == b"\x00\x00\x00\x09\x92\xa5Close\xa1s"
