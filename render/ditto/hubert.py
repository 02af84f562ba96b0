"""The official audio encoder, an ONNX file, through onnxruntime."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.errors import SetupError
from ..onnx import ort
from ..weights import again, file_named
from .features import WIDTH

F32 = NDArray[np.float32]

INPUT: Final = "input_values"
"""(1, n) or (B, n) float32."""
OUTPUT: Final = "encoding_out"
"""(rows, 1024), or (B, rows, 1024)."""
_CUDA: Final = "CUDAExecutionProvider"


class Hubert:
    """An `AudioEncoder`. The official graph takes one window at a time; a graph with room for more gets all.

    Computes on the device `device` where onnxruntime has it, else on the CPU; `on_gpu` says which.
    """

    def __init__(self, path: Path, device: torch.device | str = "cpu", *, briefly: bool = False) -> None:
        """For a few windows `briefly`: with less memory, not much more than the file's size.

        Raises SetupError when `path` is not there, is no ONNX, or is another network.
        """
        self._session = session = _session(path, torch.device(device), briefly=briefly)
        self.on_gpu = _CUDA in session.get_providers()
        inputs, outputs = session.get_inputs(), session.get_outputs()
        names = ([one.name for one in inputs], [one.name for one in outputs])
        if names != ([INPUT], [OUTPUT]):
            raise SetupError(f"{path} has inputs and outputs {names}, not {([INPUT], [OUTPUT])}; {_advice()}")
        given, found = inputs[0].shape, outputs[0].shape
        if len(given) != 2 or len(found) not in (2, 3) or (isinstance(found[-1], int) and found[-1] != WIDTH):
            raise SetupError(f"{path} takes {given} and gives {found}, not rows of {WIDTH}; {_advice()}")
        self._batched = len(found) == 3 and given[0] != 1

    def __call__(self, samples: Tensor) -> Tensor:
        heard: F32 = np.ascontiguousarray(samples.cpu().numpy(), np.float32)
        if self._batched:
            return torch.from_numpy(self._run(heard))
        return torch.from_numpy(np.stack([self._run(one[None]).reshape(-1, WIDTH) for one in heard]))

    def _run(self, samples: F32) -> F32:
        return np.asarray(self._session.run([OUTPUT], {INPUT: samples})[0], np.float32)


def _session(path: Path, device: torch.device, *, briefly: bool) -> ort.InferenceSession:
    if not path.is_file():
        raise SetupError(f"{path} is missing; {_advice()}")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if briefly:
        # It would keep weights a second time, as its kernels like them.
        options.add_session_config_entry("session.disable_prepacking", "1")
    providers: list[str | tuple[str, dict[str, int]]] = ["CPUExecutionProvider"]
    if device.type == "cuda" and _CUDA in ort.get_available_providers():
        providers.insert(0, (_CUDA, {"device_id": device.index or 0}))
    try:
        return ort.InferenceSession(str(path), options, providers=providers)
    except Exception as error:  # onnxruntime's errors share no base but this
        raise SetupError(f"{path} is damaged or no ONNX; {_advice()}") from error


def _advice() -> str:
    return f"fetch it with {again(file_named('hubert'))}"
