"""What HTTP clients are told: JSON bodies, and errors that say what to do."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

from ..stream.errors import (
    CapacityError,
    ControlError,
    SetupError,
    UsageError,
    VisavisError,
)
from .whep import NotAcceptable

RETRY_S = 5
_STATUS: tuple[tuple[type[VisavisError], int], ...] = (
    (ControlError, 422),
    (NotAcceptable, 406),
    (UsageError, 400),
    (CapacityError, 503),
    (SetupError, 503),
)


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


class ErrorBody(msgspec.Struct, frozen=True):
    code: str
    message: str


class ErrorAnswer(msgspec.Struct, frozen=True):
    error: ErrorBody


def answer(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """`body`, a struct or plain containers, as JSON."""
    return web.Response(
        body=msgspec.json.encode(body), status=status, headers=headers, content_type="application/json"
    )


def refused(refusal: Refusal) -> web.Response:
    body = ErrorAnswer(ErrorBody(refusal.code, str(refusal)))
    return answer(body, status=refusal.status, headers=refusal.headers)


def refusal_of(error: VisavisError) -> Refusal:
    """How an error of ours is told: what the client did wrong is 4xx, what may work later is 503."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    headers = {"Retry-After": str(RETRY_S)} if status == 503 else {}
    return Refusal(status, error.code, str(error), headers)


def not_found(what: str, advice: str) -> Refusal:
    return Refusal(404, "not_found", f"there is no {what}; {advice}")


def method_message(status: int, path: str) -> str:
    """A sentence for the errors that the HTTP library makes itself."""
    known = {
        404: f"there is nothing at {path}; see the README for the paths",
        405: f"{path} does not take this method; see the README for what it takes",
        413: "the request is too large; send smaller pieces",
    }
    return known.get(status, f"the request cannot be served ({status})")
