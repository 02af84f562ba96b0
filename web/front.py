"""The parts of a running front, and the order in which they start and stop."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ..stream.errors import AvatarError
from .auth import Auth, is_loopback
from .chores import Chores
from .config import Config
from .devices import chosen
from .gallery import Gallery, engine_for, open_gallery
from .metrics import Metrics
from .peer import Peers, prepare_process
from .sessions import Sessions
from .speak import Speaker
from .workers import Worker, check_ditto, keep_up, patience_s, worker_command

_LOG = logging.getLogger(__name__)

_SWEEP_S = 1.0


@dataclass(frozen=True, slots=True)
class Front:
    """What request handlers work with."""

    config: Config
    auth: Auth
    chores: Chores
    gallery: Gallery
    sessions: Sessions
    workers: tuple[Worker, ...]
    peers: Peers
    speaker: Speaker
    metrics: Metrics

    def now_ns(self) -> int:
        return time.monotonic_ns()


@asynccontextmanager
async def running_front(
    config: Config, *, worker: Sequence[str] = (), voice: Sequence[str] = (), gallery: Gallery | None = None
) -> AsyncGenerator[Front]:
    """A front with its processes, which are gone when the block is left.

    `worker` and `voice` are commands to run instead of our own processes. Raises AvatarError when the avatar
    shown by default is unknown, UsageError when an option does not belong to its engine or a device is not
    here, and SetupError when its engine lacks something or, in a group, when no worker starts.
    """
    prepare_process(loopback=is_loopback(config.listen.host))
    engine = await engine_for(config.worker.engine, config.sessions.avatar)
    config = replace(config, worker=replace(config.worker, engine=engine))
    gallery = gallery or await open_gallery(engine)
    if gallery.find(config.sessions.avatar) is None:
        advice = gallery.why_not(config.sessions.avatar)
        raise AvatarError(f"engine {engine} can draw no avatar {config.sessions.avatar[:40]!r}; {advice}")
    if engine == "ditto" and not worker:
        await asyncio.to_thread(check_ditto, config.worker.weights)
    devices = await asyncio.to_thread(chosen, config.worker.devices, engine)
    command = worker or worker_command(config.worker, len(devices))
    async with asyncio.TaskGroup() as processes, Chores() as chores:
        workers = tuple(
            Worker(
                chores,
                command,
                device,
                standby=config.worker.standby,
                patience_s=patience_s(config.worker),
            )
            for device in devices
        )
        peers = Peers(config.webrtc, chores)
        sessions = Sessions(config.sessions, workers=workers, on_close=peers.close_session)
        speaker = Speaker(config.speech, chores, voice)
        front = Front(
            config=config,
            auth=Auth(config.auth),
            chores=chores,
            gallery=gallery,
            sessions=sessions,
            workers=workers,
            peers=peers,
            speaker=speaker,
            metrics=Metrics(sessions, workers, peers),
        )
        tasks = [processes.create_task(keep_up(workers, sessions)), processes.create_task(speaker.run())]
        chores.spawn(_sweep(sessions), "sweep")
        try:
            yield front
        finally:
            sessions.close_all()
            await peers.close_all()
            for task in tasks:
                if not task.cancelling():
                    task.cancel()
            # They are stopping their processes; after an error the group would cancel them once more.
            await asyncio.wait(tasks)


async def _sweep(sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(_SWEEP_S)
        sessions.sweep(time.monotonic_ns())
