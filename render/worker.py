"""The worker process: audio and control in, packets and events out, over one socket.

    reader thread    messages from the front, in order
    work threads     draw, encode, open and close; most urgent first. An engine that batches is worked by the
                     first of them alone, and by it alone
    main thread      sends each tick when its time has come

One lock guards all bookkeeping; the heavy work runs outside it. Of the threads that have nothing to do one
watches the clock and the others sleep; whoever takes a task wakes another to look for more, so that no event
wakes them all: they would take the interpreter from the thread that draws.
"""

import argparse
import gc
import importlib
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import cast

from ..stream import link
from ..stream.clock import NS_PER_SECOND
from ..stream.errors import DeviceError, LinkError, SetupError, VisavisError
from .capacity import slots, threads
from .color import color_space
from .crew import Crew, wait_until
from .ditto.presets import check_options
from .encode import open_encoder
from .engine import Engine
from .idle import Idle
from .sessions import Duty, Sessions, Task

_LOG = logging.getLogger(__name__)
_READ_BYTES = 1 << 16
_PROBE = (320, 320)
_SWITCH_SECONDS = 0.001
"""How long one thread may keep the interpreter from another: a fraction of a tick."""
_RIG = "visavis.render.rig.engine:RigEngine"
_ENGINES = {"auto": _RIG, "rig": _RIG, "ditto": "visavis.render.ditto.factory:ditto_engine"}


class Worker:
    """Threads round `Sessions`; lives as long as the front holds the other end of `connection`."""

    def __init__(
        self,
        engine: Engine,
        connection: socket.socket,
        *,
        slots: int,
        threads: int,
        idle: Idle | None = None,
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._slots = slots
        self._threads = threads
        self._sessions = Sessions(engine, slots=slots, idle=idle)
        self._lock = threading.Lock()
        self._crews = {duty: Crew(self._lock) for duty in Duty}
        self._armed = threading.Condition(self._lock)
        self._send_lock = threading.Lock()
        self._stopped = False

    def serve(self) -> None:
        """Warm up, say Ready, and run until the front hangs up."""
        encoder = open_encoder(*_PROBE, bitrate_bps=300_000, color=color_space(*_PROBE))
        name = encoder.name
        encoder.close()
        self._engine.warm()
        # What is there now stays: to look through all of it for what is not would hold up every tick.
        gc.collect()
        gc.freeze()
        ready = link.Ready(
            engine=self._engine.kind,
            latency_ms=self._sessions.latency_ms,
            encoder=name,
            slots=self._slots,
            parks=self._engine.parks,
            batches=self._engine.max_batch > 1,
        )
        self._send([ready])
        for number in range(self._threads):
            self._start(partial(self._work_loop, number), f"work-{number}")
        self._start(self._read_loop, "reader")
        self._send_loop()

    def _start(self, loop: Callable[[], None], name: str) -> None:
        """Run `loop` on a thread of its own. The worker ends with it: half alive it would help nobody."""

        def run() -> None:
            try:
                loop()
            except Exception:
                _LOG.exception("thread %s failed, and the worker ends", name)
            finally:
                self._stop()

        threading.Thread(target=run, name=name, daemon=True).start()

    def _read_loop(self) -> None:
        inbox = link.WorkerInbox()
        try:
            while data := self._connection.recv(_READ_BYTES):
                for message in inbox.feed(data):
                    with self._lock:
                        replies = self._sessions.receive(message, time.monotonic_ns())
                        self._call()
                    self._send(replies)
        except (OSError, LinkError) as error:
            _LOG.info("the link to the front ended: %s", error)

    def _work_loop(self, number: int) -> None:
        duty = Duty.ALL
        if self._engine.max_batch > 1:
            duty = Duty.REST if number else Duty.ENGINE
        while self._work_once(duty):
            pass

    def _work_once(self, duty: Duty) -> bool:
        """One task, once there is one; False when the worker ends. Nothing of it is held while the next one
        is waited for: it may keep memory of a card that is going to be parked.
        """
        task = self._next(duty)
        if task is None:
            return False
        self._sessions.perform(task)
        if isinstance(task.error, DeviceError):
            raise task.error
        with self._lock:
            replies = self._sessions.finish(task, time.monotonic_ns())
            self._call()
            self._armed.notify()
        self._send(replies)
        return True

    def _next(self, duty: Duty) -> Task | None:
        crew = self._crews[duty]
        with self._lock:
            while not self._stopped:
                task, wake_ns = self._sessions.next_task(time.monotonic_ns(), duty)
                if task is not None:
                    crew.call()
                    return task
                crew.rest(wake_ns)
        return None

    def _call(self) -> None:
        """There may be something to do."""
        for crew in self._crews.values():
            crew.call()

    def _send_loop(self) -> None:
        while True:
            with self._lock:
                if self._stopped:
                    return
                messages = self._sessions.outgoing(time.monotonic_ns())
                if not messages:
                    wait_until(self._armed, self._sessions.next_send_ns())
            self._send(messages)

    def _send(self, messages: Iterable[link.ToFront]) -> None:
        try:
            for message in messages:
                frame = link.to_frame(message)
                with self._send_lock:
                    self._connection.sendall(frame)
        except OSError:
            self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for crew in self._crews.values():
                crew.dismiss()
            self._armed.notify_all()


def load_engine(
    name: str,
    *,
    weights: str | None = None,
    latency: str | None = None,
    low_bits: str | None = None,
    eager: bool = False,
) -> Engine:
    """The engine called `name`: `auto`, `rig`, `ditto`, or `package.module:Class` for one of your own, which
    may lie in the current folder. `weights` tells a `ditto` where its checkpoints are, `latency` which of its
    presets to use, `low_bits` what its decoder may read, and `eager` to capture nothing on a GPU.

    Raises SetupError when it cannot be had, UsageError when an option does not belong to it.
    """
    check_options(name, weights=weights, latency=latency, low_bits=low_bits, eager=eager)
    # Named by text: the front reaches this file, and must never load what only one engine needs.
    module, _, attribute = _ENGINES.get(name, name).partition(":")
    if not attribute:
        raise SetupError(f"no engine is called {name!r}; use auto, rig, ditto, or package.module:Class")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        engine = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise SetupError("engine ditto needs torch; install it: pip install 'visavis[ditto]'") from error
        raise SetupError(f"engine {name!r} cannot be loaded: {error}") from error
    except (ImportError, AttributeError) as error:
        raise SetupError(f"engine {name!r} cannot be loaded: {error}") from error
    if name == "ditto":
        return cast(Engine, engine(weights, latency, low_bits=low_bits, eager=eager))
    return cast(Engine, engine())


def main(arguments: list[str] | None = None) -> int:
    """Entry of the process. `--fd` is the inherited end of a socket pair whose other end the front holds;
    `--workers` says how many share this machine; after
    `--idle-unload-s` without a session the engine is parked, never with 0.
    """
    parser = argparse.ArgumentParser(prog="visavis.render.worker")
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--weights")
    parser.add_argument("--latency")
    parser.add_argument("--low-bits")
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--idle-unload-s", type=int, default=0)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    sys.setswitchinterval(_SWITCH_SECONDS)
    with socket.socket(fileno=options.fd) as connection:
        try:
            engine = load_engine(
                options.engine,
                weights=options.weights,
                latency=options.latency,
                low_bits=options.low_bits,
                eager=options.eager,
            )
            share = options.workers
            room = min(slots(share), engine.most_slots or slots(share))
            idle = Idle(options.idle_unload_s * NS_PER_SECOND or None)
            Worker(engine, connection, slots=room, threads=threads(share), idle=idle).serve()
        except VisavisError as error:
            _LOG.error("%s", error)
            return link.HOPELESS
    return 0


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Not sys.exit: what a GPU's libraries do last would wait for ever for a card that is parked.
    os._exit(code)
