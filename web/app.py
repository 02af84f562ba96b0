"""The server as a whole: its application, its address, and its life from start to signal."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from ..stream.errors import SetupError
from .auth import is_loopback
from .chores import first_of
from .config import Config
from .devices import Device
from .front import Front, running_front
from .guard import guards
from .routes import Api
from .studio import Studio
from .tls import ListenOptions, tls_context
from .welcome import page_addresses

_LOG = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
SWITCH_INTERVAL_S = 0.0005
"""A thread that computes gives the loop its turn this often: the pace of the media depends on it."""
_BODY_BYTES = 256 << 10
_LINGER_S = 1.0
_POLL_S = 0.02


def application(front: Front) -> web.Application:
    """Every path of the server."""
    loopback = is_loopback(front.config.listen.host)
    app = web.Application(client_max_size=_BODY_BYTES, middlewares=guards(front.auth, loopback=loopback))
    app.add_routes(Api(front).routes())
    app.add_routes(Studio(front).routes())
    if STATIC.is_dir():
        app.router.add_get("/", _page)
        app.router.add_static("/static", STATIC)
    app.on_response_prepare.append(_ask_again)
    return app


async def serve(
    config: Config,
    *,
    announce: Callable[[Sequence[str], Sequence[Device]], None],
    worker: Sequence[str] = (),
    voice: Sequence[str] = (),
) -> None:
    """Run until a signal. `announce` gets the addresses of the page, and the workers' devices, once sessions
    can be opened.

    Raises SetupError when the machine lacks something.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    context = tls_context(config.listen)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        async with running_front(config, worker=worker, voice=voice) as front:
            # A client that leaves ends its request, which may wait long for a worker or its turn to speak.
            runner = web.AppRunner(
                application(front),
                access_log=None,
                shutdown_timeout=_LINGER_S,
                handler_cancellation=True,
            )
            await runner.setup()
            try:
                site = web.TCPSite(runner, config.listen.host, config.listen.port, ssl_context=context)
                await _start(site, config.listen)
                await _until_ready(front, stop)
                _settle_memory()
                if not stop.is_set():
                    port = runner.addresses[0][1]
                    addresses = page_addresses(config.listen, port, secure=context is not None)
                    announce(addresses, [worker.device for worker in front.workers])
                await stop.wait()
                _LOG.info("stopping")
            finally:
                front.sessions.close_all()
                await runner.cleanup()
    except ExceptionGroup as errors:
        raise first_of(errors) from errors


async def _page(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(STATIC / "index.html")


async def _ask_again(request: web.Request, response: web.StreamResponse) -> None:
    """Browsers ask whether the page or a module changed, so that versions never mix."""
    if request.path == "/" or request.path.startswith("/static/"):
        response.headers["Cache-Control"] = "no-cache"


async def _start(site: web.TCPSite, listen: ListenOptions) -> None:
    try:
        await site.start()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise SetupError(
            f"{listen.host}:{listen.port} cannot be listened on ({reason}); choose another --port"
        ) from error


async def _until_ready(front: Front, stop: asyncio.Event) -> None:
    while not front.sessions.ready and not stop.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_S):
                await stop.wait()


def _settle_memory() -> None:
    """What start-up made stays for good: spare the collector going through it while media flows."""
    gc.collect()
    gc.freeze()
