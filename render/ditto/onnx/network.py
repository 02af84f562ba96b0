"""A program of an ONNX graph on a device: whole batches, in half precision where that is enough.

Products are computed in half precision. Sums of squares, powers and roots are not, nor what layers add up to.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from .file import Weight
from .ops import Operation, Site
from .program import OPERATIONS, Call, Program

PRODUCTS: Final = frozenset({"Conv", "MatMul", "Gemm", "Linear", "Attend", "Attention", "Einsum"})
"""In the network's precision."""
PRECISE: Final = frozenset(
    {"ReduceMean", "ReduceSum", "ReduceL2", "ReduceProd", "Pow", "Sqrt", "Exp", "Log", "Reciprocal", "CumSum"}
    | {"BatchNormalization", "InstanceNormalization", "GroupNormalization"}
)
"""In single precision. All else is computed in what it comes in; norms and softmax add up in single."""

Argument = Tensor | str | None
"""A weight, or the name of what another step gives."""


@dataclass(frozen=True, slots=True)
class Step:
    """`dtype` is what floats are brought to; `over` are values that nothing later takes."""

    operation: Operation
    site: Site
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]
    dtype: torch.dtype | None
    over: tuple[str, ...]


class Network:
    """Windows (B, n) float32 to rows (B, rows, width) float32, each as the graph has it of that one alone."""

    def __init__(self, program: Program, device: torch.device, dtype: torch.dtype) -> None:
        """Weights are read one by one, so that the host never holds all of them."""
        self._input, self._output = program.input, program.output
        self._kept = dict[tuple[str, torch.dtype], Tensor]()
        self._device, self.dtype = device, dtype
        trial = {program.input: torch.empty(2, *program.shapes[program.input], device="meta")}
        kept = program.shapes.keys() - {program.output}
        last = {name: call for call in program.calls for name in call.inputs}
        self._steps = [
            self._step(
                program, call, trial, {one for one in call.inputs if last[one] is call and one in kept}
            )
            for call in program.calls
        ]

    @property
    def nbytes(self) -> int:
        """Of memory that weights take."""
        return sum(one.nbytes for one in self._kept.values())

    @property
    def steps(self) -> int:
        return len(self._steps)

    def __call__(self, windows: Tensor) -> Tensor:
        rows = self.outcome(windows[:, None])
        return (rows.flatten(1, 2) if rows.ndim == 4 else rows).float()

    @torch.no_grad()
    def outcome(self, given: Tensor) -> Tensor:
        """What the graph gives for each of `given` (B, ...)."""
        values = {self._input: given}
        with _exactly(self.dtype):
            for step in self._steps:
                _run(step, values)
        return values[self._output]

    def _step(self, program: Program, call: Call, trial: dict[str, Tensor], over: set[str]) -> Step:
        """Also runs it without memory, which tells what dtype comes."""
        operation, site = OPERATIONS[call.kind], call.site(program.live)
        dtype = self.dtype if call.kind in PRODUCTS else torch.float32 if call.kind in PRECISE else None
        comes = [trial[one].dtype for one in call.inputs if one in trial and trial[one].is_floating_point()]
        wanted = dtype or next((one for one in comes if one != torch.float16), comes[0] if comes else None)
        arguments = list[Argument]()
        for at, name in enumerate(call.inputs):
            if not name:
                arguments.append(None)
            elif site.live[at]:
                arguments.append(name)
            elif at in operation.told:
                arguments.append(program.weights[name].read())
            else:
                arguments.append(self._placed(name, program.weights[name], wanted))
        step = Step(operation, site, tuple(arguments), call.outputs, dtype, tuple(over))
        _run(step, trial, lambda one: one.to("meta"))
        return step

    def _placed(self, name: str, weight: Weight, wanted: torch.dtype | None) -> Tensor:
        """On the device, in the dtype `wanted` if it fits in there."""
        dtype = wanted if wanted and weight.dtype.is_floating_point else weight.dtype
        if (name, dtype) not in self._kept:
            self._kept[name, dtype] = self._moved(weight, dtype)
        return self._kept[name, dtype]

    def _moved(self, weight: Weight, dtype: torch.dtype) -> Tensor:
        there = weight.read().to(self._device)
        found = there.to(dtype).contiguous()
        fits = dtype != torch.float16 or bool(found.isfinite().all() or not there.isfinite().all())
        return found if fits else there


def _run(step: Step, values: dict[str, Tensor], place: Callable[[Tensor], Tensor] | None = None) -> None:
    arguments = list[Tensor | None]()
    for at, one in enumerate(step.arguments):
        value = values[one] if isinstance(one, str) else one
        if value is not None and place and not step.site.live[at] and at not in step.operation.told:
            value = place(value)
        if value is not None and step.dtype and value.is_floating_point():
            value = value.to(step.dtype)
        arguments.append(value)
    made = step.operation.run(step.site, *arguments)
    for name in step.over:
        del values[name]
    values.update(zip(step.outputs, made if isinstance(made, tuple) else (made,), strict=False))


@contextmanager
def _exactly(dtype: torch.dtype) -> Generator[None]:
    """Single precision is not what cuDNN takes for it unless told."""
    if dtype != torch.float32:
        yield
        return
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield
