"""Checks of what a server would be started with: its port, its certificate, its avatar."""

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from ..render.avatar import find_avatar
from ..stream.errors import AvatarError, SetupError, UsageError
from .auth import is_loopback
from .devices import chosen, described
from .findings import Finding, fault, from_error, note, ok
from .gallery import engine_for, open_gallery
from .tls import CERTS, ListenOptions, tls_context


def port(listen: ListenOptions) -> Finding:
    """Whether the port is free."""
    place = f"{listen.host}:{listen.port}"
    if not listen.port:
        return ok("port", f"any that is free on {listen.host}")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        said = f"{place} cannot be listened on ({error.strerror or os.strerror(error.errno or errno.EIO)})"
        if error.errno == errno.EADDRINUSE:
            return fault("port", said, "stop what listens there, perhaps another visavis, or choose --port")
        return fault("port", said, "choose another --host or --port")
    return ok("port", f"{place} is free")


def certificate(listen: ListenOptions, certs: Path = CERTS) -> Finding:
    """Whether https can be served, where it matters."""
    try:
        context = tls_context(listen, certs)
    except SetupError as error:
        return from_error("certificate", error, needed=True)
    if context is not None:
        return ok("certificate", "https, with the certificate that is there")
    if is_loopback(listen.host):
        return ok("certificate", "none, plain http: enough for browsers on this machine")
    return note(
        "certificate",
        "none: no browser on another machine lends its microphone",
        "make one with scripts/make_cert",
    )


def engine(engine: str, avatar: str) -> str:
    """The engine that a server would run with these options; where avatars cannot be read, `rig`, and
    `shown` says why."""
    try:
        return asyncio.run(engine_for(engine, avatar))
    except SetupError:
        return "rig"


def workers(devices: str | int, engine: str) -> tuple[Finding, int]:
    """How many workers a server would run, and on what."""
    try:
        found = chosen(devices, engine)
    except UsageError as error:
        return from_error("workers", error, needed=True), 1
    return ok("workers", described(found)), len(found)


def foreign(engine: str) -> Iterator[Finding]:
    """An engine that is not ours is not loaded here: nobody knows what it does."""
    if engine not in ("rig", "ditto"):
        advice = "start visavis serve with it, and see"
        yield note("engine", f"{engine} is not one of ours: whether it loads is not looked at", advice)


def shown(engine: str, avatar: str) -> Finding:
    """Whether `engine` can draw the `avatar` that is shown when a client does not say."""
    try:
        gallery = asyncio.run(open_gallery(engine))
        if gallery.find(avatar) is None:
            return fault("avatar", f"engine {engine} can draw no {avatar[:40]!r}", gallery.why_not(avatar))
        found = find_avatar(avatar)
    except (AvatarError, SetupError) as error:
        return from_error("avatar", error, needed=True)
    sizes = ", ".join(f"{width}x{height}" for width, height in found.sizes)
    return ok("avatar", f"{found.name} ({sizes}), drawn by engine {engine}")
