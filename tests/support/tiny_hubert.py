"""A small random ONNX with the inputs and outputs of the official audio encoder."""

import numpy as np
from visavis.render.ditto.features import ROW_HOP, ROW_WINDOW, WIDTH
from visavis.render.ditto.hubert import INPUT, OUTPUT

from .onnx import model, node, port

CHANNELS = 8


def tiny_hubert(seed: int = 0, *, batched: bool = False, output: str = OUTPUT, width: int = WIDTH) -> bytes:
    """The bytes of the file: of (1, n) and (rows, 1024), or `batched` of (B, n) and (B, rows, 1024)."""
    random = np.random.RandomState(seed)
    constants = {
        "middle": np.array([1]),
        "first": np.array([0]),
        "hear": (random.standard_normal((CHANNELS, 1, ROW_WINDOW)) * 0.2).astype(np.float32),
        "tell": (random.standard_normal((width, CHANNELS, 1)) * 0.3).astype(np.float32),
    }
    nodes = [
        node("Unsqueeze", ["input_values", "middle"], ["sound"]),
        node("Conv", ["sound", "hear"], ["heard"], strides=[ROW_HOP]),
        node("Tanh", ["heard"], ["bent"]),
        node("Conv", ["bent", "tell"], ["told"]),
        node("Transpose", ["told"], [output if batched else "rows"], perm=[0, 2, 1]),
    ]
    if not batched:
        nodes.append(node("Squeeze", ["rows", "first"], [output]))
    return model(
        nodes,
        inputs=[port(INPUT, ["batch" if batched else 1, "samples"])],
        outputs=[port(output, ["batch", "rows", width] if batched else ["rows", width])],
        constants=constants,
    )
