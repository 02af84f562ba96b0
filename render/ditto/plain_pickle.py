"""Pickles that hold plain values and numpy arrays, read without the pickle machine: nothing in them can run.

The operations of the file are gone through one by one. What would import, call or build anything other than a
list, dict, tuple, set or array is refused, and so is what would grow beyond the limits below.
"""

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.generic]
Plain: TypeAlias = "bool | int | float | str | bytes | list[Plain] | dict[str | int, Plain] | Array | None"
"""What comes out: tuples and sets are lists, arrays are read-only and of the machine's byte order."""

MOST_FILE_BYTES: Final = 4 << 20
MOST_OPERATIONS: Final = 1 << 18
MOST_VALUES: Final = 1 << 18
MOST_ARRAY_BYTES: Final = 64 << 20
DEEPEST: Final = 32
_DTYPES: Final = frozenset(
    kind + size for kind, sizes in {"f": "248", "i": "1248", "u": "1248", "b": "1"}.items() for size in sizes
)
_ORDERS: Final = frozenset("<>=|")
_MARK: Final = object()


class PickleError(ValueError):
    """The pickle holds what it must not, or is damaged; the message is the rest of a sentence on the file."""


@dataclass(slots=True, eq=False)
class _Dtype:
    code: str
    order: str = "="


@dataclass(slots=True, eq=False)
class _Array:
    value: Array | None = None


@dataclass(frozen=True, slots=True)
class _Name:
    """Something importable that the file names."""

    name: str


def read_pickle(blob: bytes) -> Plain:
    """The value in `blob`. Raises PickleError."""
    if len(blob) > MOST_FILE_BYTES:
        raise PickleError(f"has {len(blob):,} bytes, of which {MOST_FILE_BYTES:,} are allowed")
    reader = _Reader()
    try:
        for count, (operation, argument, _) in enumerate(pickletools.genops(blob)):
            if count > MOST_OPERATIONS:
                raise PickleError("has too many operations")
            reader.step(operation.name, argument)
        value = reader.pop()
    except PickleError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise PickleError("is damaged or no pickle") from error
    return _Copier().copy(value, DEEPEST)


class _Reader:
    """The stack machine of a pickle, without the operations that reach outside."""

    def __init__(self) -> None:
        self._stack: list[Any] = []  # whatever the file puts there, also unfinished things
        self._memo: dict[int, Any] = {}
        self._copied = 0

    def pop(self) -> Any:  # as above
        value = self._stack.pop()
        if value is _MARK:
            raise PickleError("is damaged or no pickle")
        return value

    def step(self, name: str, argument: Any) -> None:  # the argument's type is the operation's
        if name in _VALUES:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise PickleError(f"wants to do what no plain value needs ({name})")

    def ignore(self, _: Any) -> None:
        """Of the frame around it."""

    def mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def discard(self, _: Any) -> None:
        self._stack.pop()

    def put(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    def memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, index: int) -> None:
        self._stack.append(self._memo[index])

    def make(self, kind: Callable[[], Any]) -> None:
        self._stack.append(kind())

    def tuple_of(self, count: int) -> None:
        items = [self.pop() for _ in range(count)]
        self._stack.append(tuple(reversed(items)))

    def tuple_to_mark(self, _: Any) -> None:
        self._stack.append(tuple(self._to_mark()))

    def list_to_mark(self, _: Any) -> None:
        self._stack.append(self._to_mark())

    def dict_to_mark(self, _: Any) -> None:
        items = self._to_mark()
        self._stack.append({})
        self._fill(items)

    def append(self, _: Any) -> None:
        self._extend([self.pop()])

    def append_to_mark(self, _: Any) -> None:
        self._extend(self._to_mark())

    def set_item(self, _: Any) -> None:
        value, key = self.pop(), self.pop()
        self._fill([key, value])

    def set_to_mark(self, _: Any) -> None:
        self._fill(self._to_mark())

    def global_(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._stack.append(_known(module, name))

    def stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        self._stack.append(_known(module, name))

    def reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        if not (isinstance(function, _Name) and isinstance(arguments, tuple)):
            raise PickleError("wants to call something that is no array")
        for one in cast(tuple[Any, ...], arguments):
            self._copied += len(one) if isinstance(one, str | list | tuple) else 0
        if self._copied > MOST_FILE_BYTES:
            raise PickleError("repeats itself more than an options file does: it was made to do harm")
        self._stack.append(_CALLS[function.name](*cast(tuple[Any, ...], arguments)))

    def build(self, _: Any) -> None:
        state = self.pop()
        match self._stack[-1]:
            case _Dtype() as dtype:
                dtype.order = _order(state)
            case _Array() as array:
                _, shape, dtype, fortran, raw = state
                array.value = _filled(raw, dtype, shape, "F" if fortran else "C")
            case _:
                raise PickleError("wants to set the insides of something that is no array")

    def _to_mark(self) -> list[Any]:
        items: list[Any] = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(item)
        items.reverse()
        return items

    def _extend(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            raise PickleError("is damaged or no pickle")
        target += items

    def _fill(self, items: list[Any]) -> None:
        target = self._stack[-1]
        keys, values = items[::2], items[1::2]
        if not isinstance(target, dict) or len(keys) != len(values):
            raise PickleError("is damaged or no pickle")
        for key, value in zip(keys, values, strict=True):
            if not (isinstance(key, str) or (isinstance(key, int) and abs(key) < 1 << 31)):
                raise PickleError("has a key that is neither text nor a small number")
            target[key] = value


def _known(module: object, name: object) -> _Name:
    if (module, name) not in _GLOBALS:
        raise PickleError(f"wants to run {str(module)[:40]}.{str(name)[:40]}: it was made to do harm")
    return _Name(_GLOBALS[(str(module), str(name))])


def _dtype(code: object, *_: object) -> _Dtype:
    if not isinstance(code, str) or code not in _DTYPES:
        raise PickleError(f"has an array of {str(code)[:20]!r}, which are no plain numbers")
    return _Dtype(code)


def _order(state: tuple[Any, ...]) -> str:
    """The byte order in a dtype's state, which must say nothing else of note."""
    _, order, *rest = state
    if order not in _ORDERS or any(one is not None for one in rest[:3]):
        raise PickleError("has an array of compound values")
    return order


def _filled(raw: object, dtype: object, shape: object, layout: str) -> Array:
    if not (isinstance(raw, bytes | bytearray) and isinstance(dtype, _Dtype) and isinstance(shape, tuple)):
        raise PickleError("has an array that is damaged")
    sides = [side for side in cast(tuple[object, ...], shape) if type(side) is int and 0 <= side < 1 << 31]
    if len(sides) != len(cast(tuple[object, ...], shape)) or len(sides) > 8 or layout not in ("C", "F"):
        raise PickleError("has an array that is damaged")
    kind = np.dtype(("" if dtype.order == "|" else dtype.order) + dtype.code)
    count = 1
    for side in sides:
        count *= side
    if count * kind.itemsize != len(raw):
        raise PickleError("has an array that is damaged")
    flat = np.frombuffer(raw, kind) if count else np.zeros(0, kind)
    return flat.reshape(sides, order="F" if layout == "F" else "C")


def _scalar(dtype: object, raw: object) -> Plain:
    return _filled(raw, dtype, (), "C").item()


def _from_buffer(raw: object, dtype: object, shape: object, layout: str) -> _Array:
    return _Array(_filled(raw, dtype, shape, layout))


def _empty(kind: object, *_: object) -> _Array:
    if kind != _Name("ndarray"):
        raise PickleError("has an array of an unusual kind")
    return _Array()


def _encoded(text: str, encoding: str) -> bytes:
    """How pickles of protocol 2 hold bytes."""
    if encoding != "latin1":
        raise PickleError("has text of an unusual encoding")
    return text.encode(encoding)


def _no_bytes() -> bytes:
    """How pickles of protocol 2 hold the bytes of an empty array."""
    return b""


def _set(items: object = ()) -> list[Any]:
    if not isinstance(items, list | tuple):
        raise PickleError("is damaged or no pickle")
    return list(cast(list[Any], items))


def _dict(items: object = ()) -> dict[Any, Any]:
    if items:
        raise PickleError("is damaged or no pickle")
    return {}


_CALLS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "dtype": _dtype,
        "reconstruct": _empty,
        "scalar": _scalar,
        "frombuffer": _from_buffer,
        "encode": _encoded,
        "bytes": _no_bytes,
        "set": _set,
        "dict": _dict,
    }
)
"""What a pickle may call, as our own functions: numpy's are never reached."""

_GLOBALS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("numpy", "ndarray"): "ndarray",
        ("numpy", "dtype"): "dtype",
        **{(f"numpy.{core}.multiarray", "_reconstruct"): "reconstruct" for core in ("core", "_core")},
        **{(f"numpy.{core}.multiarray", "scalar"): "scalar" for core in ("core", "_core")},
        **{(f"numpy.{core}.numeric", "_frombuffer"): "frombuffer" for core in ("core", "_core")},
        ("_codecs", "encode"): "encode",
        ("collections", "OrderedDict"): "dict",
        ("__builtin__", "bytes"): "bytes",
        **{(module, kind): "set" for module in ("builtins", "__builtin__") for kind in ("set", "frozenset")},
    }
)

_VALUES: Final = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
        *("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    )
)
_CONSTANTS: Final = MappingProxyType({"NONE": None, "NEWTRUE": True, "NEWFALSE": False})
_STEPS: Final[Mapping[str, Callable[[_Reader, Any], None]]] = MappingProxyType(
    {
        **dict.fromkeys(("PROTO", "FRAME", "STOP"), _Reader.ignore),
        "MARK": _Reader.mark,
        "POP": _Reader.discard,
        **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Reader.put),
        "MEMOIZE": _Reader.memoize,
        **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Reader.get),
        "EMPTY_TUPLE": lambda reader, _: reader.make(tuple),
        **dict.fromkeys(("EMPTY_LIST", "EMPTY_SET"), lambda reader, _: reader.make(list)),
        "EMPTY_DICT": lambda reader, _: reader.make(dict),
        "TUPLE1": lambda reader, _: reader.tuple_of(1),
        "TUPLE2": lambda reader, _: reader.tuple_of(2),
        "TUPLE3": lambda reader, _: reader.tuple_of(3),
        "TUPLE": _Reader.tuple_to_mark,
        **dict.fromkeys(("LIST", "FROZENSET"), _Reader.list_to_mark),
        "DICT": _Reader.dict_to_mark,
        "APPEND": _Reader.append,
        **dict.fromkeys(("APPENDS", "ADDITEMS"), _Reader.append_to_mark),
        "SETITEM": _Reader.set_item,
        "SETITEMS": _Reader.set_to_mark,
        "GLOBAL": _Reader.global_,
        "STACK_GLOBAL": _Reader.stack_global,
        "REDUCE": _Reader.reduce,
        "BUILD": _Reader.build,
    }
)


class _Copier:
    """Copies a value that may share and hold itself, within limits of number, size and depth."""

    def __init__(self) -> None:
        self._values = 0
        self._array_bytes = 0

    def copy(self, value: Any, deeper: int) -> Plain:  # whatever the reader made
        self._values += 1
        if self._values > MOST_VALUES or deeper < 0:
            raise PickleError("unfolds to more values than an options file has: it was made to do harm")
        match value:
            case None | bool() | int() | float() | str() | bytes():
                return value
            case bytearray():
                return bytes(value)
            case list() | tuple():
                return [self.copy(one, deeper - 1) for one in cast(list[Any], value)]
            case dict():
                items = cast(dict[str | int, Any], value).items()
                return {key: self.copy(one, deeper - 1) for key, one in items}
            case _Array(value=np.ndarray() as array):
                self._array_bytes += array.nbytes
                if self._array_bytes > MOST_ARRAY_BYTES:
                    raise PickleError("unfolds to larger arrays than an options file has")
                native = np.array(array, array.dtype.newbyteorder("="), order="C")
                native.flags.writeable = False
                return native
            case _:
                raise PickleError("holds something that is no plain value")
