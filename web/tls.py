"""Where the server listens, and the certificate it shows there."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from ..stream.errors import SetupError

CERTS = Path("certs")


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """`cert` and `key` are PEM files; without them certs/*.pem is taken when there is a pair, else plain http
    is served. A page from another machine needs https for its microphone.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    cert: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ValueError("port must lie between 0 and 65535; 0 takes any that is free")
        if bool(self.cert) != bool(self.key):
            raise ValueError("cert and key belong together; give both")


def tls_context(options: ListenOptions, certs: Path = CERTS) -> ssl.SSLContext | None:
    """What https needs, or None for http. Raises SetupError for a certificate that cannot be used."""
    pair = (Path(options.cert), Path(options.key)) if options.cert else _found(certs)
    if pair is None:
        return None
    cert, key = pair
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise SetupError(
            f"certificate {cert} with key {key} cannot be used ({error}); make a pair with scripts/make_cert"
        ) from error
    return context


def _found(certs: Path) -> tuple[Path, Path] | None:
    """The one certificate in `certs` that has its key beside it: cert.pem with key.pem, or x.pem with
    x-key.pem.
    """
    named = (certs / "cert.pem", certs / "key.pem")
    if all(path.is_file() for path in named):
        return named
    for key in sorted(certs.glob("*-key.pem")):
        cert = key.with_name(key.name.replace("-key.pem", ".pem"))
        if cert.is_file():
            return cert, key
    return None
