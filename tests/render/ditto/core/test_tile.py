"""The tiles that kernels have fit a card: compiled for it, though none is here, sums stay in registers."""

import json
import os
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
from support.core import official_shapes
official_shapes()
print(json.dumps([(k.name, k.registers, k.spilled_bytes, k.shared_bytes, "wgmma" in k.ptx) for k in kernels]))
"""
SHARED_BYTES = 227 << 10
CONVOLUTIONS = {"_convolved", "_modulated"}


@pytest.mark.slow
def test_all_kernels_fit_an_h200_at_the_official_size(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    told = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-2000:]
    kernels = json.loads(told.stdout)
    assert {name for name, *_ in kernels} > CONVOLUTIONS
    for name, registers, spilled_bytes, shared_bytes, multiplies in kernels:
        assert registers <= 255
        assert spilled_bytes <= (64 if multiplies else 0), name
        assert shared_bytes <= SHARED_BYTES
        assert multiplies == (name in CONVOLUTIONS)
