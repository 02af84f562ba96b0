"""Weights from disk: official files, read as tensors and nothing else, and kept as safetensors beside them.

A file is gone through once: container opened, every key, shape and dtype compared with the network's own,
spectral norm folded. What comes out is kept, and used for as long as the file is the same.
"""

import pickle
import pickletools
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn

from ...stream.errors import SetupError, UsageError
from ..weights import (
    WeightsFile,
    again,
    again_at,
    default_folder,
    fetch_command,
    file_named,
    impostor,
    locate,
    trouble,
)
from . import random_weights
from .appearance import AppearanceExtractor
from .configuration import load_configuration
from .decoder import Decoder
from .hubert import Hubert
from .kept import Beside
from .lmdm import MotionDecoder
from .motion_net import MotionExtractor
from .spectral import fold, official_layout
from .stitch import StitchNetwork
from .warp import WarpNetwork

RANDOM: Final = "random:"
NetworkT = TypeVar("NetworkT", bound=nn.Module)
NETWORKS: Final[Mapping[str, Callable[[], nn.Module]]] = MappingProxyType(
    {
        "appearance_extractor": AppearanceExtractor,
        "motion_extractor": MotionExtractor,
        "stitch_network": StitchNetwork,
        "warp_network": WarpNetwork,
        "decoder": Decoder,
        "lmdm": MotionDecoder,
    }
)
"""The networks of official size, by the names of their files."""
ENTRIES: Final = MappingProxyType({"stitch_network": "retarget_shoulder", "lmdm": "model_state_dict"})
"""Where the state dict lies in files that hold more."""
_SHORT: Final = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
_MOST_PICKLE_BYTES: Final = 8 << 20
_SHOWN: Final = 3
_BROKEN: Final = (
    *(pickle.UnpicklingError, zipfile.BadZipFile, RuntimeError, OSError, EOFError, ValueError, KeyError),
    *(IndexError, TypeError, AttributeError, AssertionError, NotImplementedError, OverflowError, MemoryError),
)
"""What torch and zipfile say to a damaged file."""

Weights: TypeAlias = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class RandomWeights:
    """Weights of official shape that draw noise, from a seed."""

    seed: int


Source: TypeAlias = Path | RandomWeights


@dataclass(frozen=True, slots=True)
class Inside:
    """What a file holds. `dtypes` by their short names; `problems` is a line each, empty when all is well."""

    entries: int
    parameters: int
    dtypes: tuple[str, ...]
    problems: tuple[str, ...]


def parse_source(text: str | None) -> Source:
    """`random:SEED`, a folder with weights, or None for the one that `weights fetch` fills.

    Raises UsageError for a text that is neither, SetupError for a folder without weights.
    """
    if text is not None and text.startswith(RANDOM):
        return _random(text.removeprefix(RANDOM))
    folder = default_folder() if text is None else Path(text).expanduser()
    if text is not None and not folder.is_dir():
        raise UsageError(f"--weights {text[:80]} is no folder; give the folder of the files, or {RANDOM}SEED")
    if not any(locate(file_named(name), folder) for name in NETWORKS):
        raise SetupError(f"{folder} holds no weights of Ditto: get them with {fetch_command(folder)}")
    return folder


def _random(text: str) -> RandomWeights:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) < 1 << 32):
        raise UsageError(
            f"--weights {RANDOM}{text[:20]} needs a number from 0 to {(1 << 32) - 1}, as {RANDOM}1"
        )
    return RandomWeights(int(text))


def load(
    name: str,
    source: Source,
    *,
    network: nn.Module | None = None,
    dtype: torch.dtype = torch.float32,
    keep: bool = True,
) -> Weights:
    """The state dict of `network`, the official one called `name` unless given, on the CPU.

    Parameters are of `dtype`, layers with buffers as they are. Unless `keep`, nothing is written beside the
    file. Raises SetupError, in one line that names the
    file, when it is missing, damaged or of another shape; UsageError for an unknown name.
    """
    network = network or blank(name)
    if isinstance(source, RandomWeights):
        return _cast(random_weights.state_dict(network, name, source.seed), network, dtype)
    path = find(name, source)
    beside = Beside.of(path, _SHORT[dtype])
    if (weights := beside.read()) is not None and _belongs(weights, network, dtype):
        return weights
    weights = _cast(fold(_official(name, path, network)), network, dtype)
    if keep:
        beside.keep(weights)
    return weights


def blank(name: str) -> nn.Module:
    """The official network `name` on torch's meta device, without memory."""
    if name not in NETWORKS:
        raise UsageError(f"there is no network {name[:40]!r}; choose one of {', '.join(NETWORKS)}")
    with torch.device("meta"):
        return NETWORKS[name]()


def loaded_network(kind: type[NetworkT], name: str, source: Source) -> NetworkT:
    """A network of official size with its weights in float32, ready to be used. Raises what `load` does."""
    with torch.device("meta"):
        network = kind()
    network.load_state_dict(load(name, source, network=network), assign=True)
    return network.eval().requires_grad_(False)


def find(name: str, folder: Path) -> Path:
    """The file `name` of the manifest in `folder`. Raises SetupError where it is missing."""
    file = file_named(name)
    if (path := locate(file, folder)) is None:
        raise SetupError(f"{folder / file.path} is missing: get it with {again(file, folder)}")
    return path


def inspect(file: WeightsFile, path: Path) -> Inside:
    """What `path` holds, against what `file` of the manifest should. Raises SetupError for one that cannot be
    read at all.
    """
    match path.suffix:
        case ".onnx":
            Hubert(path)
            return Inside(0, 0, (), ())
        case ".pkl":
            load_configuration(path)
            return Inside(0, 0, (), ())
        case _:
            weights = _unpacked(file.name, path)
            dtypes = sorted({str(value.dtype).removeprefix("torch.") for value in weights.values()})
            parameters = sum(value.numel() for value in weights.values())
            problems = differences(weights, official_layout(blank(file.name)))
            return Inside(
                len(weights), parameters, tuple(dtypes), tuple(f"{path} {problem}" for problem in problems)
            )


def differences(weights: Mapping[str, Tensor], table: Mapping[str, Tensor]) -> list[str]:
    """How `weights` differ from `table` in keys, shapes and dtypes: the rest of a sentence each."""
    shared = [key for key in table if key in weights]
    shapes = [
        f"{key} {tuple(weights[key].shape)} instead of {tuple(table[key].shape)}"
        for key in shared
        if weights[key].shape != table[key].shape
    ]
    dtypes = [
        f"{key} {weights[key].dtype} instead of {table[key].dtype}"
        for key in shared
        if weights[key].dtype != table[key].dtype
    ]
    found = {
        "lacks": [key for key in table if key not in weights],
        "has unexpected": [key for key in weights if key not in table],
        "has other shapes:": shapes,
        "has other dtypes:": dtypes,
    }
    return [f"{words} {_few(keys)}" for words, keys in found.items() if keys]


def _few(keys: list[str]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(key[:80] for key in keys[:_SHOWN]) + more


def _belongs(weights: Weights, network: nn.Module, dtype: torch.dtype) -> bool:
    wanted = _cast(network.state_dict(), network, dtype)
    return not differences(weights, {key: one.to("meta") for key, one in wanted.items()})


def _official(name: str, path: Path, network: nn.Module) -> Weights:
    weights = _unpacked(name, path)
    if wrong := differences(weights, official_layout(network)):
        raise SetupError(f"{path} {wrong[0]}: it belongs to another version; {_advice(path)}")
    return weights


def _unpacked(name: str, path: Path) -> Weights:
    """The state dict in the official container at `path`, its keys without `module.` in the stitch file."""
    content = _read(path)
    entry = ENTRIES.get(name, "")
    if entry in content:
        content = content[entry]
    elif entry and not all(isinstance(value, Tensor) for value in content.values()):
        raise SetupError(f"{path} has no {entry}: it is another file; {_advice(path)}")
    if not isinstance(content, dict):
        raise SetupError(f"{path} holds no weights; {_advice(path)}")
    weights = cast(dict[object, object], content)
    for key, value in weights.items():
        if not (isinstance(key, str) and isinstance(value, Tensor)):
            raise SetupError(f"{path} holds {str(key)[:40]!r}, which is no tensor; {_advice(path)}")
    tensors = cast(Weights, weights)
    return (
        {key.replace("module.", ""): one for key, one in tensors.items()}
        if name == "stitch_network"
        else tensors
    )


def _read(path: Path) -> dict[Any, Any]:  # of whatever the file holds
    """What torch.save put into `path`. Nothing in the file runs, and nothing unfolds beyond its size."""
    try:
        if wrong := impostor(path):
            raise SetupError(f"{path} {wrong}")
        with path.open("rb") as stream:
            if wrong := _suspicion(stream, path.stat().st_size):
                raise SetupError(f"{path} {wrong}; {_advice(path)}")
        # The one place that may: everything in the file was looked at, and only tensors are made.
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)  # noqa: TID251
    except FileNotFoundError as error:
        raise SetupError(f"{path} is missing: {_advice(path)}") from error
    except PermissionError as error:
        raise SetupError(f"{path} {trouble(error)}") from error
    except _BROKEN as error:
        raise SetupError(f"{path} is damaged or no checkpoint; {_advice(path)}") from error
    if not isinstance(content, dict):
        raise SetupError(f"{path} holds no weights; {_advice(path)}")
    return cast(dict[Any, Any], content)


def _suspicion(stream: Any, size: int) -> str:  # a binary file
    """Why the zip in `stream` must not be unpacked, as the rest of a sentence; empty when nothing speaks
    against it.
    """
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
        if packed or sum(member.file_size for member in members) > size:
            return "unfolds to more than its size: it was made to do harm"
        pickles = [member for member in members if member.filename.endswith("/data.pkl")]
        if len(pickles) != 1 or pickles[0].file_size > _MOST_PICKLE_BYTES:
            return "is no checkpoint that torch.save wrote"
        blob = archive.read(pickles[0])
    for operation, argument, _ in pickletools.genops(blob):
        if operation.name == "STACK_GLOBAL" or (operation.name == "GLOBAL" and not _harmless(str(argument))):
            return f"wants to run {str(argument or 'something')[:60]}: it was made to do harm"
    return ""


def _harmless(name: str) -> bool:
    """Of what torch itself judges again: its own names, and the dict of a state dict."""
    module, _, attribute = name.partition(" ")
    return (
        module == "torch"
        or module.startswith("torch.")
        or (module, attribute) == ("collections", "OrderedDict")
    )


def _advice(path: Path) -> str:
    return f"fetch it again with {again_at(path)}"


def _cast(weights: Weights, network: nn.Module, dtype: torch.dtype) -> Weights:
    """Parameters in `dtype`. Layers with buffers stay as they are, batch norms for one: half precision would
    spoil statistics and tables, and torch wants all of such a layer in one dtype. All are copies, so that no
    file stays open.
    """
    fixed = {
        name
        for name, layer in network.named_modules()
        if next(layer.buffers(recurse=False), None) is not None
    }
    return {
        key: value.to(value.dtype if key.rpartition(".")[0] in fixed else dtype, copy=True).contiguous()
        for key, value in weights.items()
    }
