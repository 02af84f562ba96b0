"""Write a trained net as the ONNX file that the viseme stage runs, four rows at a time.

    python -m scripts.visemes.export net.pt viseme.onnx

Weights are stored as int8 with a scale for each output channel, and unpacked once when the file is loaded.
Inputs: `mel` (1, 40, 4); `past` (1, 40, 4) and `state` (1, C, P), the ends of what every convolution saw.
Outputs: `logits` (1, 15 H, 4), one set of 15 for each look-ahead of its shape; `next_state`.
"""

import argparse
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from visavis.render.rig.viseme import MELS
from visavis.stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES

from .net import FIRST_KERNEL, Block, Net, load

F32 = NDArray[np.float32]


SILENCE_BIAS: Final = 2.2
"""Added to the logit of silence: training leaves short gaps unlabelled, which makes the net too ready to
speak. Costs 1 % of speech rows and stills the mouth in noisy pauses.
"""


class Graph:
    """Nodes and constants as they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(
        self, kind: str, inputs: list[str], name: str, outputs: list[str] | None = None, **traits: object
    ) -> str:
        self.nodes.append(helper.make_node(kind, inputs, outputs or [name], name=name, **traits))
        return name

    def packed(self, name: str, weight: F32) -> str:
        """`weight` (out, ...) as int8 and scales, unpacked in the graph."""
        scale = np.abs(weight).reshape(len(weight), -1).max(1).clip(1e-8) / 127
        scale = scale.reshape(-1, *[1] * (weight.ndim - 1)).astype(np.float32)
        small = self.constant(f"{name}.int8", np.round(weight / scale).astype(np.int8))
        wide = self.add("Cast", [small], f"{name}.wide", to=TensorProto.FLOAT)
        return self.add("Mul", [wide, self.constant(f"{name}.scale", scale)], f"{name}.weight")

    def conv(self, name: str, x: str, weight: str, bias: F32, **traits: object) -> str:
        return self.add(
            "Conv", [x, weight, self.constant(f"{name}.bias", bias.astype(np.float32))], name, **traits
        )

    def concat(self, name: str, parts: list[str]) -> str:
        return self.add("Concat", parts, name, axis=2)

    def tail(self, name: str, x: str, rows: int) -> str:
        """The last `rows` rows of `x`."""
        bounds = [np.array([-rows]), np.array([np.iinfo(np.int64).max]), np.array([2])]
        places = [
            self.constant(f"{name}.{part}", bound)
            for part, bound in zip(("from", "to", "axis"), bounds, strict=True)
        ]
        return self.add("Slice", [x, *places], name)


def array(tensor: torch.Tensor) -> F32:
    return tensor.detach().cpu().numpy().astype(np.float32)


def graph_of(net: Net) -> onnx.ModelProto:
    """`net` as a streaming model; its normalisations are folded into the weights beside them."""
    g = Graph()
    pasts = [block.past for block in net.blocks]
    mean, spread = array(net.mean)[:, 0], array(net.spread)[:, 0]
    weight = array(net.first.weight) / spread[:, None]
    bias = array(net.first.bias) - (weight * mean[:, None]).sum((1, 2))
    rows = g.concat("rows", ["past", "mel"])
    g.tail("next_past", rows, FIRST_KERNEL - 1)
    x = g.add("Relu", [g.conv("first", rows, g.packed("first", weight), bias)], "first.on")
    states = [f"state.{place}" for place in range(len(pasts))]
    g.add("Split", ["state", g.constant("pasts", np.array(pasts))], "split", states, axis=2)
    for place, block in enumerate(net.blocks):
        x = _block(g, f"block{place}", block, x, states[place])
    g.concat("next_state", [f"block{place}.kept" for place in range(len(pasts))])
    last = g.add("Relu", [x], "last")
    bias = array(net.heads.bias)
    bias[SILENCE :: len(VISEMES)] += SILENCE_BIAS
    g.conv("logits", last, g.packed("heads", array(net.heads.weight)), bias)
    return _model(g, net, sum(pasts))


def _block(g: Graph, name: str, block: Block, x: str, state: str) -> str:
    seen = g.concat(f"{name}.seen", [state, x])
    g.tail(f"{name}.kept", seen, block.past)
    gain = array(block.norm.weight) / np.sqrt(array(block.norm.running_var) + block.norm.eps)
    shift = array(block.norm.bias) - array(block.norm.running_mean) * gain
    time = g.constant(f"{name}.time.weight", array(block.time.weight) * gain[:, None, None])
    mixed = g.conv(
        f"{name}.time", seen, time, shift, group=block.time.groups, dilations=[block.time.dilation[0]]
    )
    widen, squeeze = (array(part.weight) for part in (block.widen, block.squeeze))
    wide = g.conv(f"{name}.widen", mixed, g.packed(f"{name}.widen", widen), array(block.widen.bias))
    on = g.add("Relu", [wide], f"{name}.on")
    added = g.conv(f"{name}.squeeze", on, g.packed(f"{name}.squeeze", squeeze), array(block.squeeze.bias))
    return g.add("Add", [x, added], name)


def _model(g: Graph, net: Net, state: int) -> onnx.ModelProto:
    def port(name: str, channels: int, rows: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, rows])

    past, channels = FIRST_KERNEL - 1, net.shape.channels
    inputs = [port("mel", MELS, ROWS_PER_TICK), port("past", MELS, past), port("state", channels, state)]
    outputs = [
        port("logits", len(VISEMES) * len(net.shape.lookahead_rows), ROWS_PER_TICK),
        port("next_past", MELS, past),
        port("next_state", channels, state),
    ]
    graph = helper.make_graph(g.nodes, "viseme", inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="visavis")
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("weights", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    net = load(options.weights)
    onnx.save(graph_of(net), options.target)
    print(f"{options.target}: {options.target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
