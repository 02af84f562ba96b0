"""Triton kernels on the CPU: import this before them, and they run in Triton's interpreter."""

import os

import pytest

os.environ["TRITON_INTERPRET"] = "1"
triton = pytest.importorskip("triton", reason="Triton is not made for this machine")
