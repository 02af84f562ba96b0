"""The tiles that kernels have fit a card: compiled for it, though none is here, sums stay in registers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.interpreter import triton

assert triton is not None
COMPILE = """
import json
from support.no_card import no_card
kernels = no_card(90)
from support.core import official_low_bits, official_shapes
import torch
CALL
print(json.dumps([(k.name, k.registers, k.spilled_bytes, k.shared_bytes, k.ptx) for k in kernels]))
"""
SHARED_BYTES = 227 << 10
SPILLED_BYTES = 192
"""Once, after the sums: the quickest tiles have as many sums as fit."""
CONVOLUTIONS = {"_convolved", "_modulated"}


MULTIPLIED = re.compile(r"wgmma[.]mma_async\S+k\d+[.](\S+)")
"""The types of sums and of both factors."""
CAST = re.compile(r"cvt[.]\S*e4m3x2[.]f32")
"""To floats of 8 bits."""


def compiled(call: str, folder: Path) -> list[tuple[str, int, int, int, str]]:
    """Name, registers, bytes spilled and shared, and code of each kernel that `call` launches."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(folder), "PYTHONPATH": str(Path(__file__).parents[3])}
    told = subprocess.run(
        [sys.executable, "-c", COMPILE.replace("CALL", call)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    return json.loads(told.stdout)


@pytest.mark.slow
def test_all_kernels_fit_an_h200_at_the_official_size(tmp_path: Path) -> None:
    kernels = compiled("official_shapes()", tmp_path)
    convolutions = CONVOLUTIONS | {"_uneven"}
    assert {name for name, *_ in kernels} > convolutions
    for name, registers, spilled_bytes, shared_bytes, code in kernels:
        multiplies = bool(MULTIPLIED.search(code))
        assert registers <= 255
        assert spilled_bytes <= (SPILLED_BYTES if multiplies else 0), name
        assert shared_bytes <= SHARED_BYTES
        assert multiplies == (name in convolutions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "types"), [("float8_e4m3fn", "f32.e4m3.e4m3"), ("int8", "s32.s8.s8")], ids=["e4m3", "int8"]
)
def test_those_of_eight_bits_multiply_eight_bits(dtype: str, types: str, tmp_path: Path) -> None:
    kernels = compiled(f"official_low_bits(torch.{dtype})", tmp_path)
    assert {name for name, *_ in kernels} > CONVOLUTIONS
    for name, registers, spilled_bytes, shared_bytes, code in kernels:
        assert registers <= 255
        assert spilled_bytes <= (SPILLED_BYTES if MULTIPLIED.search(code) else 0), name
        assert shared_bytes <= SHARED_BYTES
        assert set(MULTIPLIED.findall(code)) == ({types} if name in CONVOLUTIONS else set())
    casts = {(name, cast) for name, *_, code in kernels for cast in CAST.findall(code)}
    writers = ("_shared", "_modulate", "_modulated") if dtype == "float8_e4m3fn" else ()
    assert casts == {(name, "cvt.rn.satfinite.e4m3x2.f32") for name in writers}
