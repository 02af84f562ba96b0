import os
import subprocess
import sys

import pytest
from visavis.render.machine import children, cpu_name, usage
from visavis.stream.errors import SetupError


def test_this_process_has_used_time_and_memory() -> None:
    before = usage(os.getpid())
    sum(number * number for number in range(3_000_000))
    after = usage(os.getpid())
    assert after.cpu_ms > before.cpu_ms
    assert 5_000_000 < after.rss_bytes < 10_000_000_000


def test_a_process_that_is_gone_cannot_be_measured() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    with pytest.raises(SetupError, match="cannot be measured"):
        usage(process.pid)


def test_children_are_found_by_their_command_line_only() -> None:
    waiting = "import sys; sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", waiting, "a-mark-of-mine"], stdin=subprocess.PIPE
    ) as process:
        assert children(os.getpid(), command="a-mark-of-mine") == [process.pid]
        assert children(os.getpid(), command="another-mark") == []
        assert children(process.pid, command="a-mark-of-mine") == []


def test_the_processor_has_a_name() -> None:
    assert cpu_name()
