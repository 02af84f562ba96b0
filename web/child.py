"""A child process of ours at the other end of a socket, with its own words in our log."""

import asyncio
import logging
import os
import signal
import socket
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress

_LOG = logging.getLogger(__name__)

_LEVELS = logging.getLevelNamesMapping()
_READ_BYTES = 1 << 18
_WRITE_HIGH_BYTES = 1 << 20
_STOP_S = 1.5
_LAST_WORDS_S = 0.2
_FRUGAL = {
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
    **{"ORT_DISABLE_TELEMETRY": "1"},
}
"""Children bring threads of their own: pools inside libraries only get in their way, and a heap for each
thread never shrinks. Nor may onnxruntime report on its user. The user's own settings win.
"""


class _Reader(asyncio.StreamReader):
    """Knows that nothing more will come, also while there is something left to read."""

    ended = False

    def feed_eof(self) -> None:
        self.ended = True
        super().feed_eof()

    def set_exception(self, exc: Exception) -> None:
        self.ended = True
        super().set_exception(exc)


class Child:
    """A running process. It finds its end of the socket under the number after `--fd`.

    It leads a process group of its own, so that a Ctrl-C at the terminal reaches only us, and it ends by
    itself when we do: its socket closes.
    """

    def __init__(self, name: str, process: Process, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self.name = name
        self.last_line = ""
        self._pumped = asyncio.Event()
        self._process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    async def spawn(
        cls, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> "Child":
        """Start `command --fd N`, with `environment` over our own."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                fd = theirs.fileno()
                process = await _started([*command, "--fd", str(fd)], fd, environment or {})
        except BaseException:
            ours.close()
            raise
        try:
            reader, writer = await _connected(ours)
        except BaseException:
            process.kill()
            ours.close()
            await process.wait()
            raise
        writer.transport.set_write_buffer_limits(high=_WRITE_HIGH_BYTES)
        return cls(name, process, reader, writer)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def connected(self) -> bool:
        """Whether it holds its end of the socket: that it hung up is known before that it ended."""
        return self.alive and not self._reader.ended

    @property
    def exit_code(self) -> int | None:
        """None while it is alive; below 0 for the signal that ended it."""
        return self._process.returncode

    async def read(self) -> bytes:
        """Some bytes; none once the child is gone."""
        try:
            return await self._reader.read(_READ_BYTES)
        except ConnectionError:
            return b""

    def write(self, data: bytes) -> None:
        """Queue `data`. What a dead child is told is lost."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Return when the child has taken in most of what was written, or is gone."""
        try:
            await self._writer.drain()
        except ConnectionError:
            return

    async def pump_log(self) -> None:
        """Log what the child prints, line by line, until it ends.

        A line that begins with a level is logged at it, and so is what follows without one, such as a trace.
        """
        output = self._process.stdout
        assert output is not None
        level = logging.INFO
        try:
            while line := await _line(output):
                text = line.decode(errors="replace").rstrip()
                if text:
                    self.last_line = text
                    level = _LEVELS.get(text.partition(" ")[0], level)
                    _LOG.log(level, "%s[%d]: %s", self.name, self.pid, text)
        finally:
            self._pumped.set()

    def kill(self) -> None:
        """End the child and what it started."""
        if self.alive:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    async def stop(self) -> None:
        """Close the socket, which asks the child to end; kill it when it does not do so soon."""
        self._writer.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            _LOG.warning("%s[%d] did not end when asked; killing it", self.name, self.pid)
        finally:
            self.kill()
        await self._process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                await self._pumped.wait()


async def _connected(ours: socket.socket) -> tuple[_Reader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = _Reader(limit=_READ_BYTES, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_unix_connection(lambda: protocol, sock=ours)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _started(command: Sequence[str], fd: int, environment: Mapping[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        *command,
        pass_fds=(fd,),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        process_group=0,
        env={**_FRUGAL, **os.environ, **environment},
    )


async def _line(output: asyncio.StreamReader) -> bytes:
    """The next line, or what there is of one that has no end in sight."""
    try:
        return await output.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await output.read(error.consumed)
