"""Write `tests/golden/onnx`: small networks of HuBERT's kind as torch exports them, at many versions.

    python -m visavis.scripts.golden.onnx_graphs [FOLDER]

Needs onnx, onnxscript and transformers, whose HuBERT with random weights is among them. Where code stood when
it was exported is taken out of the files.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn
from transformers import HubertConfig, HubertModel
from visavis.scripts.hubert_like import Size, export, network

FOLDER = Path(__file__).parents[2] / "tests/golden/onnx"


class Official(nn.Module):
    """Transformers' HuBERT, built as the large one is, with its input made equally loud, without a batch."""

    def __init__(self, attention: str) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.model = HubertModel(
            HubertConfig(
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=48,
                conv_dim=(8,) * 7,
                do_stable_layer_norm=True,
                feat_extract_norm="layer",
                conv_bias=True,
                num_conv_pos_embeddings=16,
                num_conv_pos_embedding_groups=4,
                attn_implementation=attention,
            )
        ).eval()

    def forward(self, samples: Tensor) -> Tensor:
        centred = samples - samples.mean(-1, keepdim=True)
        loud = (centred.square().mean(-1, keepdim=True) + 1e-7).sqrt()
        return self.model(centred / loud).last_hidden_state.squeeze(0)


def newer(made: nn.Module, path: Path, *, opset: int) -> None:
    """Through torch's newer exporter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            made,
            (0.1 * torch.randn(1, 6480),),
            str(path),
            input_names=["input_values"],
            output_names=["encoding_out"],
            opset_version=opset,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


GRAPHS: Mapping[str, Callable[[Path], None]] = {
    "layer-9": lambda path: export(network(Size.tiny()), path, opset=9, free=True),
    "layer-13": lambda path: export(network(Size.tiny()), path, opset=13, free=False),
    "layer-17": lambda path: export(network(Size.tiny()), path, opset=17, free=True),
    "layer-batched": lambda path: export(network(Size.tiny(), batched=True), path, opset=17, free=True),
    "group-11": lambda path: export(network(Size.tiny(group=True)), path, opset=11, free=True),
    "past-11": lambda path: export(network(Size.tiny(past=30)), path, opset=11, free=True),
    "newer-18": lambda path: newer(network(Size.tiny(past=30)), path, opset=18),
    "newer-20": lambda path: newer(network(Size.tiny()), path, opset=20),
    "official-11": lambda path: export(Official("eager"), path, opset=11, free=True),
    "official-14": lambda path: export(Official("sdpa"), path, opset=14, free=True),
    "official-18": lambda path: newer(Official("sdpa"), path, opset=18),
    "official-23": lambda path: newer(Official("sdpa"), path, opset=23),
}


def cleaned(path: Path) -> None:
    """Without anything but the graph."""
    model = onnx.load(path)
    graph = model.graph
    ports = (*graph.input, *graph.output, *graph.initializer)
    for one in (model, graph, *graph.node, *ports):
        one.doc_string = ""
        if hasattr(one, "metadata_props"):
            del one.metadata_props[:]
    del graph.value_info[:]
    onnx.save(model, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in GRAPHS.items():
        path = folder / f"{name}.onnx"
        write(path)
        cleaned(path)
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
