"""What every request passes: is it meant for us, may its page call, has it a token, and what if it fails."""

import logging

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from ..stream.errors import VisavisError
from .answers import Refusal, method_message, refusal_of, refused
from .auth import Auth, bearer, names_loopback

_LOG = logging.getLogger(__name__)

_EXPOSED = "Location, Link, ETag, Accept-Patch, Retry-After"
_ALLOWED_HEADERS = "Authorization, Content-Type, If-Match"
_ALLOWED_METHODS = "GET, POST, PATCH, DELETE, OPTIONS"
OPEN = frozenset({"/", "/static", "/healthz", "/readyz"})
"""What needs no token: the page and health. Everything else does, and so does what is not there."""


def guards(auth: Auth, *, loopback: bool) -> list[Middleware]:
    """The middlewares, outermost first. With `loopback`, only names of this machine are answered to."""

    @web.middleware
    async def tell_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except VisavisError as error:
            return refused(refusal_of(error))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            message = method_message(error.status, request.path)
            allow = error.headers.get(hdrs.ALLOW)
            headers = {"Allow": allow} if allow is not None else None
            return refused(Refusal(error.status, f"http_{error.status}", message, headers))
        except ConnectionError:
            raise
        except Exception:
            # The boundary between one request and the rest of the server.
            _LOG.exception("%s %s failed", request.method, request.path)
            return refused(Refusal(500, "failed", "the server failed; its log says why"))

    @web.middleware
    async def share(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and auth.welcomes(origin, request.host) and not response.prepared:
            _allow(response, origin)
        return response

    @web.middleware
    async def check_caller(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get(hdrs.ORIGIN)
        if loopback and not names_loopback(request.host):
            raise Refusal(403, "bad_host", f"{request.host[:80]!r} is not this machine; use http://localhost")
        if not auth.welcomes(origin, request.host):
            raise Refusal(
                403, "bad_origin", f"pages of {str(origin)[:80]} may not call this server; list it in origins"
            )
        return _preflight(request) if _is_preflight(request) else await handler(request)

    @web.middleware
    async def check_token(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _is_open(request) and request.method != hdrs.METH_OPTIONS:
            token = bearer(request.headers.get(hdrs.AUTHORIZATION), request.query.get("token"))
            if not auth.admits(token, request.match_info.get("session")):
                raise Refusal(
                    401,
                    "unauthorized",
                    "a token is needed: send Authorization: Bearer TOKEN, or ?token=TOKEN",
                    {hdrs.WWW_AUTHENTICATE: "Bearer"},
                )
        return await handler(request)

    return [share, tell_errors, check_caller, check_token]


def _is_open(request: web.Request) -> bool:
    """By the resource that answers, so that no spelling of a path makes it another one."""
    resource = request.match_info.route.resource
    return resource is not None and resource.canonical in OPEN


def _is_preflight(request: web.Request) -> bool:
    return request.method == hdrs.METH_OPTIONS and hdrs.ACCESS_CONTROL_REQUEST_METHOD in request.headers


def _preflight(request: web.Request) -> web.StreamResponse:
    headers: dict[str, str] = {
        hdrs.ACCESS_CONTROL_ALLOW_METHODS: _ALLOWED_METHODS,
        hdrs.ACCESS_CONTROL_ALLOW_HEADERS: _ALLOWED_HEADERS,
        hdrs.ACCESS_CONTROL_MAX_AGE: "600",
    }
    if request.path.startswith(("/whep/", "/whip/")):
        headers["Accept-Post"] = "application/sdp"
    return web.Response(status=204, headers=headers)


def _allow(response: web.StreamResponse, origin: str) -> None:
    response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
    response.headers[hdrs.ACCESS_CONTROL_EXPOSE_HEADERS] = _EXPOSED
    response.headers.add(hdrs.VARY, hdrs.ORIGIN)
