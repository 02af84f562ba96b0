"""Triton's compiler for a card that is not there: kernels that are launched are compiled, and do not run.

Not for a process in which Triton interprets (`support.interpreter`).
"""

import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

_OBJDUMP = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a program of a kernel takes: `registers` a thread, of which `spilled_bytes` do not fit, and
    `shared_bytes` of memory. `ptx` is its code."""

    name: str
    grid: tuple[int, ...]
    registers: int
    spilled_bytes: int
    shared_bytes: int
    ptx: str


def no_card(capability: int = 90) -> list[Compiled]:
    """From now on this process compiles for `capability`, an H200's unless told otherwise, and runs no
    kernel. The list grows with each that is new."""
    found: dict[str, Compiled] = {}
    every: list[Compiled] = []
    run: Callable[..., Any] = JITFunction.run

    def compile_only(self: JITFunction[Any], *args: Any, grid: tuple[int, ...], **options: Any) -> None:
        kernel = run(self, *args, grid=grid, **{**options, "warmup": True})
        if kernel.hash not in found:
            found[kernel.hash] = _described(self.fn.__name__, grid, kernel)
            every.append(found[kernel.hash])

    driver.set_active(_Absent(capability))
    JITFunction.run = compile_only
    return every


@dataclass(frozen=True, slots=True)
class _Absent:
    """What Triton asks of a driver before it compiles."""

    capability: int

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def _described(name: str, grid: tuple[int, ...], kernel: Any) -> Compiled:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        told = subprocess.run(
            [_OBJDUMP, "-res-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    used = re.search(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", told)
    assert used is not None, told
    registers, stack, local = map(int, used.groups())
    return Compiled(name, grid, registers, stack + local, kernel.metadata.shared, kernel.asm["ptx"])
