"""Who may do what: the server's token, short-lived session tokens, and the pages that may call us at all."""

import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import jwt

_ALGORITHM = "HS256"
_MIN_TOKEN_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class AuthOptions:
    """`token` opens everything and is needed unless only this machine can connect. `origins` lists pages of
    other servers that may call this one, such as https://studio.example; `*` lets any.
    """

    token: str = ""
    origins: tuple[str, ...] = ()
    token_minutes: int = 60

    def __post_init__(self) -> None:
        if self.token and len(self.token) < _MIN_TOKEN_CHARACTERS:
            raise ValueError(f"token must have at least {_MIN_TOKEN_CHARACTERS} characters")
        if self.token_minutes < 1:
            raise ValueError("token_minutes must be at least 1")


class Auth:
    """Checks tokens. Without a configured one everybody may do everything."""

    def __init__(self, options: AuthOptions) -> None:
        self._options = options
        self._secret = secrets.token_bytes(32)

    @property
    def needed(self) -> bool:
        return bool(self._options.token)

    def grant(self, session: str, now: datetime) -> tuple[str, datetime]:
        """A token for `session` alone, and when it ends."""
        until = now + timedelta(minutes=self._options.token_minutes)
        claims = {"sub": session, "exp": until}
        return jwt.encode(claims, self._secret, algorithm=_ALGORITHM), until

    def admits(self, token: str | None, session: str | None = None) -> bool:
        """True when `token` opens the server, or `session` if one is named."""
        if not self.needed:
            return True
        # A header's bytes beyond ASCII may arrive as lone surrogates, which nothing can encode.
        if token is None or not token.isprintable():
            return False
        if hmac.compare_digest(token.encode(), self._options.token.encode()):
            return True
        return session is not None and self._session_of(token) == session

    def welcomes(self, origin: str | None, host: str) -> bool:
        """True when a page of `origin` may call a server that it knows as `host`; programs send no origin."""
        if origin is None:
            return True
        if "*" in self._options.origins or origin in self._options.origins:
            return True
        try:
            return urlsplit(origin).netloc.lower() == host.lower()
        except ValueError:
            return False

    def _session_of(self, token: str) -> str | None:
        try:
            claims = jwt.decode(
                token, self._secret, algorithms=[_ALGORITHM], options={"require": ["exp", "sub"]}
            )
        except jwt.InvalidTokenError:
            return None
        session: object = claims["sub"]
        return session if isinstance(session, str) else None


def bearer(header: str | None, query: str | None) -> str | None:
    """The token of a request: from `Authorization: Bearer ...`, else from `?token=`."""
    if header is not None:
        scheme, _, token = header.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None
    return query


def is_loopback(host: str) -> bool:
    """True when `host` names this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_loopback(host_header: str) -> bool:
    """True when a Host header names this machine. Anything else at a loopback address is a page that had its
    own name point here.
    """
    try:
        return is_loopback(urlsplit(f"//{host_header}").hostname or "")
    except ValueError:
        return False


def utc_now() -> datetime:
    return datetime.now(UTC)
