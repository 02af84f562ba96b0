"""onnxruntime, with its reports on its user switched off: that works only before it is loaded."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime as ort

__all__ = ["ort"]
