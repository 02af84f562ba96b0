from datetime import UTC, datetime, timedelta

import jwt
import pytest
from visavis.web.auth import Auth, AuthOptions, bearer, is_loopback, names_loopback, utc_now

TOKEN = "open-sesame"


def test_without_a_token_everybody_is_admitted() -> None:
    auth = Auth(AuthOptions())
    assert not auth.needed
    assert auth.admits(None)


def test_the_servers_token_opens_everything_and_another_nothing() -> None:
    auth = Auth(AuthOptions(token=TOKEN))
    assert auth.admits(TOKEN)
    assert auth.admits(TOKEN, "any")
    assert not auth.admits(None)
    assert not auth.admits("open-sesamE")
    assert not auth.admits("ö" * 11, "any")
    assert not auth.admits("\udcff" * 11, "any")


def test_a_session_token_opens_its_session_only() -> None:
    auth = Auth(AuthOptions(token=TOKEN))
    token, _ = auth.grant("one", utc_now())
    assert auth.admits(token, "one")
    assert not auth.admits(token, "two")
    assert not auth.admits(token)


def test_a_session_token_ends() -> None:
    auth = Auth(AuthOptions(token=TOKEN, token_minutes=30))
    now = datetime(2020, 1, 1, tzinfo=UTC)
    token, until = auth.grant("one", now)
    assert until == now + timedelta(minutes=30)
    assert not auth.admits(token, "one")


def test_a_token_of_another_server_or_without_an_end_is_refused() -> None:
    auth, other = Auth(AuthOptions(token=TOKEN)), Auth(AuthOptions(token=TOKEN))
    token, _ = other.grant("one", utc_now())
    assert not auth.admits(token, "one")
    assert not auth.admits(jwt.encode({"sub": "one"}, None, algorithm="none"), "one")


def test_a_short_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 characters"):
        AuthOptions(token="short")


@pytest.mark.parametrize(
    ("origin", "host", "welcome"),
    [
        (None, "localhost:8080", True),
        ("http://localhost:8080", "localhost:8080", True),
        ("http://LOCALHOST:8080", "localhost:8080", True),
        ("http://localhost:9090", "localhost:8080", False),
        ("https://evil.example", "localhost:8080", False),
        ("null", "localhost:8080", False),
        ("http://[bad", "localhost:8080", False),
        ("https://studio.example", "localhost:8080", True),
    ],
)
def test_only_our_own_pages_and_listed_ones_may_call(origin: str | None, host: str, welcome: bool) -> None:
    auth = Auth(AuthOptions(origins=("https://studio.example",)))
    assert auth.welcomes(origin, host) is welcome


def test_a_star_lets_any_page_call() -> None:
    assert Auth(AuthOptions(origins=("*",))).welcomes("https://any.example", "localhost")


@pytest.mark.parametrize(
    ("header", "query", "token"),
    [
        ("Bearer abc", None, "abc"),
        ("bearer  abc ", "q", "abc"),
        ("Basic abc", "q", None),
        (None, "q", "q"),
        (None, None, None),
    ],
)
def test_the_token_comes_from_the_header_or_else_the_query(
    header: str | None, query: str | None, token: str | None
) -> None:
    assert bearer(header, query) == token


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("x", False),
    ],
)
def test_loopback_addresses_are_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("header", "ours"),
    [
        ("127.0.0.1:8080", True),
        ("localhost", True),
        ("[::1]:8080", True),
        ("rebound.example:8080", False),
        ("localhost.evil.example", False),
        ("", False),
        ("[bad", False),
    ],
)
def test_a_host_header_that_does_not_name_this_machine_is_seen(header: str, ours: bool) -> None:
    assert names_loopback(header) is ours
