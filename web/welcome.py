"""What a server that is ready tells its operator: where to open it, and what its visitors will need."""

import socket
from collections.abc import Sequence

from .auth import is_loopback
from .config import Config
from .devices import Device, described
from .sender import host_addresses
from .tls import ListenOptions

_READY = "visavis is ready: open "
_TOKEN = "add the token to the address: ?token=YOUR_TOKEN"
_CERTIFICATE = (
    "without https no browser on another machine lends its microphone; make a certificate with "
    "scripts/make_cert and start again"
)


def page_addresses(listen: ListenOptions, port: int, *, secure: bool) -> tuple[str, ...]:
    """Where the page is: one address for each way to this machine when all are listened on, else the one."""
    hosts = [listen.host]
    if listen.host in ("0.0.0.0", "::", ""):
        found = host_addresses(listen.host != "::", listen.host != "0.0.0.0")
        hosts = [socket.gethostname(), *found]
    scheme = "https" if secure else "http"
    return tuple(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/" for host in hosts)


def welcome(config: Config, addresses: Sequence[str], devices: Sequence[Device]) -> str:
    """Lines for the terminal. The token itself is not among them, as they may end in a log."""
    lines = [_READY + addresses[0]]
    lines += [f"{'or ':>{len(_READY)}}{address}" for address in addresses[1:]]
    lines.append(described(devices))
    if config.auth.token:
        lines.append(_TOKEN)
    if not is_loopback(config.listen.host) and not addresses[0].startswith("https:"):
        lines.append(_CERTIFICATE)
    return "".join(f"{line}\n" for line in lines)
