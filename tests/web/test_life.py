import sys
from contextlib import suppress

import pytest
from support.front import FAKE_WORKER
from visavis.stream.errors import LinkError
from visavis.stream.link import Opened, Ready, ToFront
from visavis.web.child import Child
from visavis.web.life import Life

SAYS = """
import socket, sys
from visavis.stream import link
with socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1])) as connection:
    connection.sendall(b"".join(map(link.to_frame, [{messages}])))
"""
READY = "link.Ready('odd', 240, 'clip', 1)"


async def begun(*command: str) -> Life:
    return Life(await Child.spawn("worker", command))


async def saying(messages: str) -> Life:
    return await begun(sys.executable, "-c", SAYS.format(messages=messages))


async def test_it_is_warm_when_it_says_so() -> None:
    life = await begun(*FAKE_WORKER)
    assert life.ready is None
    await life.warm_up()
    assert life.ready == Ready("fake", 240, "clip", 3)
    assert life.child.alive
    await life.child.stop()


async def test_what_it_says_with_that_word_and_after_it_comes_as_messages_until_it_is_gone() -> None:
    life = await saying(f"{READY}, link.Opened('a'), link.Opened('b')")
    await life.warm_up()
    assert life.ready == Ready("odd", 240, "clip", 1)
    said: list[ToFront] = []
    with suppress(LinkError):
        while True:
            said += await life.receive()
    assert said == [Opened("a"), Opened("b")]
    with pytest.raises(LinkError, match="it ended"):
        await life.receive()
    await life.child.stop()


async def test_one_that_takes_too_long_is_told() -> None:
    life = await begun(sys.executable, "-c", "import time; time.sleep(60)")
    with pytest.raises(TimeoutError):
        await life.warm_up(0.1)
    life.child.kill()
    await life.child.stop()


@pytest.mark.parametrize(("messages", "reason"), [("link.Opened('a')", "before it was ready"), ("", "ended")])
async def test_one_that_does_not_get_warm_is_told(messages: str, reason: str) -> None:
    life = await saying(messages)
    with pytest.raises(LinkError, match=reason):
        await life.warm_up()
    await life.child.stop()
