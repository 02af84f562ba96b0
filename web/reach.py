"""How a client of ours reaches a server: its address, its certificate, and what is told when that fails."""

import ssl
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from ..stream.errors import SetupError, UsageError, VisavisError
from .tls import CERTS


def server_url(text: str) -> str:
    """The server's address without a slash at its end; http when `text` names no scheme.

    Raises UsageError for what is no address.
    """
    url = text.strip()
    url = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or not url.isprintable() or set(" ?#") & set(url):
        raise bad_address(text)
    return url.rstrip("/")


def bad_address(text: str) -> UsageError:
    return UsageError(f"{text!r} is no address of a server; give one such as http://127.0.0.1:8080")


def client_context(url: str, certs: Path = CERTS) -> ssl.SSLContext | None:
    """What https to `url` needs, or None for http. A certificate that scripts/make_cert made here is trusted
    beside those of the system.
    """
    if not url.startswith("https:"):
        return None
    context = ssl.create_default_context()
    with suppress(OSError):
        context.load_verify_locations(certs / "cert.pem")
    return context


def unreachable(url: str, error: aiohttp.ClientError) -> VisavisError:
    """What to tell of a request to `url` that got no answer."""
    match error:
        case aiohttp.InvalidURL():
            return bad_address(url)
        case aiohttp.ClientConnectorCertificateError():
            return _untrusted(url, error.certificate_error)
        case aiohttp.ClientConnectorSSLError():
            return SetupError(f"{url} does not speak https; use http://{urlsplit(url).netloc}")
        case aiohttp.ServerDisconnectedError():
            return SetupError(f"{url} closed the connection; a server with a certificate needs https://")
        case aiohttp.ClientConnectionError():
            return SetupError(f"no server answers at {url}; start one with: visavis serve")
        case _:
            return SetupError(f"{url} does not answer as a visavis server; check --server")


def _untrusted(url: str, error: Exception) -> SetupError:
    reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return SetupError(
        f"the certificate of {url} is not trusted ({reason}); copy the server's certs/cert.pem to certs/ "
        "here, or name its file with SSL_CERT_FILE"
    )
