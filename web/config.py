"""Every option of the server in one place: built-in values, then a TOML file, the environment, and flags.

    [listen]    host, port, cert, key
    [auth]      token, origins, token_minutes
    [worker]    engine, weights, latency, low_bits, eager, devices, idle_unload_s, standby
    [sessions]  avatar, max_sessions, idle_close_s
    [webrtc]    ice_servers, ice_username, ice_credential
    [speech]    voice

In the environment a key is VISAVIS_ and its name in capitals, such as VISAVIS_PORT; lists are separated by
commas. VISAVIS_HOME is no option of the server: it says where avatars and weights are kept.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path

import msgspec

from ..render import home
from ..stream.errors import SetupError, UsageError
from .auth import AuthOptions, is_loopback
from .peer import WebRtcOptions
from .sessions import SessionOptions
from .speak import SpeechOptions
from .tls import ListenOptions
from .workers import WorkerOptions

PREFIX = "VISAVIS_"

Value = str | int | bool | tuple[str, ...]
Values = dict[str, Value]
"""Options by name; names are unique over all tables."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a server is started with."""

    listen: ListenOptions = field(default_factory=ListenOptions)
    auth: AuthOptions = field(default_factory=AuthOptions)
    worker: WorkerOptions = field(default_factory=WorkerOptions)
    sessions: SessionOptions = field(default_factory=SessionOptions)
    webrtc: WebRtcOptions = field(default_factory=WebRtcOptions)
    speech: SpeechOptions = field(default_factory=SpeechOptions)

    def __post_init__(self) -> None:
        if not is_loopback(self.listen.host) and not self.auth.token:
            raise SetupError(
                f"{self.listen.host} can be reached from other machines, so a token is needed: give --token, "
                "or set VISAVIS_TOKEN (8 characters or more)"
            )


def option_names() -> dict[str, str]:
    """Every option's name and the table it stands in."""
    tables = {entry.name: type(getattr(_PLAIN, entry.name)) for entry in fields(Config)}
    return {option.name: table for table, options in tables.items() for option in fields(options)}


def load_config(
    path: Path | None, environment: Mapping[str, str], flags: Mapping[str, Value | None]
) -> Config:
    """The configuration. Raises UsageError for an unknown key or a value that does not fit."""
    values: dict[str, object] = {}
    if path is not None:
        values |= _from_file(path)
    values |= _from_environment(environment)
    values |= {name: value for name, value in flags.items() if value is not None}
    return _composed(values)


def _composed(values: Mapping[str, object]) -> Config:
    tables: dict[str, dict[str, object]] = {entry.name: {} for entry in fields(Config)}
    for name, value in values.items():
        tables[_TABLES[name]][name] = value
    try:
        return msgspec.convert(tables, Config, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"configuration: {error}") from error


def _from_file(path: Path) -> dict[str, object]:
    try:
        text = path.read_text()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); name a TOML file with --config"
        ) from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    values: dict[str, object] = {}
    for table, content in document.items():
        if table not in {entry.name for entry in fields(Config)} or not isinstance(content, dict):
            known = ", ".join(f"[{entry.name}]" for entry in fields(Config))
            raise UsageError(f"{path}: {table} is no table of the configuration; known are {known}")
        for name, value in content.items():
            if _TABLES.get(name) != table:
                raise UsageError(f"{path}: [{table}] has no key {name}{_hint(name)}")
            values[name] = value
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == home.VARIABLE:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in _TABLES:
            raise UsageError(f"{variable} is no option{_hint(name)}; unset it")
        is_list = isinstance(_default(name), tuple)
        values[name] = [part.strip() for part in text.split(",") if part.strip()] if is_list else text
    return values


def _default(name: str) -> object:
    return getattr(getattr(_PLAIN, _TABLES[name]), name)


def _hint(name: str) -> str:
    close = get_close_matches(name, _TABLES, 1)
    return f"; did you mean {close[0]} in [{_TABLES[close[0]]}]?" if close else ""


_PLAIN = Config()
_TABLES = option_names()
