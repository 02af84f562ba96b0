"""Renders a presenter's layers: python -m scripts.presenters.render NAME [--view V] [--layer L] [--out DIR]

Without a view or a layer it makes every picture that the packer needs: DIR/NAME/VIEW_LAYER.png, RGBA with
straight alpha in display colours, and for hair and back VIEW_LAYER_depth.npy, float32 depth along the view in
model units, infinite where nothing is. Needs Python 3.11 with bpy 5.0.1, numpy, scipy, opencv and anny.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import bpy
import cv2
import numpy as np

from .camera import VIEWS
from .cast import CAST
from .looks import LOOKS
from .person import load_person
from .scene import LAYERS, build_scene
from .studio import set_camera, set_quality, use_device

DEPTH_SAMPLES = 8
PICTURES: Final = {
    "front": ("all", "skin", "hair", "back", "body"),
    "left": ("skin", "hair", "back"),
    "right": ("skin", "hair", "back"),
    "low": ("skin",),
    "open": ("skin",),
}
"""The layers of each view that the packer reads; `front_all` is for comparison."""
DEEP: Final = ("hair", "back")
"""Layers that come with their depth; they are hair."""
FINER: Final = 1.5
"""How much larger hair, and a beard in front, are drawn than they are kept: their strands are as narrow as a
pixel."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    person = load_person(CAST[options.name])
    folder = Path(options.out) / options.name
    folder.mkdir(parents=True, exist_ok=True)
    expression = ""
    for view, layer in _wanted(options.view, options.layer):
        if expression != ("open" if view == "open" else "rest"):
            scene = build_scene(person, view)
            use_device(options.device)
            expression = "open" if view == "open" else "rest"
        camera, deep = person.camera(view), layer in DEEP
        bearded = LOOKS[options.name].beard is not None
        finer = FINER if layer == "hair" or (bearded and (view, layer) == ("front", "skin")) else 1.0
        set_camera(camera, options.scale * finer, options.window)
        scene.show(layer, view)
        began = time.monotonic()
        path = folder / f"{view}_{layer}.png"
        _draw(path, options.spp, LOOKS[options.name].light.exposure)
        if finer > 1:
            set_camera(camera, options.scale, options.window)
            _shrink(path, camera.scaled(options.scale).size)
        if deep and not options.window:
            np.save(folder / f"{view}_{layer}_depth.npy", _depth(folder, scene))
        print(f"{options.name} {view}_{layer}: {time.monotonic() - began:.0f} s", flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.presenters.render", description=__doc__)
    parser.add_argument("name", choices=list(CAST))
    parser.add_argument("--view", choices=list(VIEWS), help="only this camera")
    parser.add_argument("--layer", choices=list(LAYERS), help="only this layer")
    parser.add_argument("--scale", type=float, default=1.0, help="size as a share of the master frame")
    parser.add_argument("--spp", type=int, default=24, help="samples a pixel")
    parser.add_argument("--out", default="layers", help="folder to write to")
    parser.add_argument("--device", choices=("CPU", "CUDA", "OPTIX"), default="CPU", help="what draws")
    parser.add_argument("--window", type=_window, help="left,top,right,bottom in master pixels")
    return parser.parse_args(arguments)


def _window(text: str) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(word) for word in text.split(","))
    return left, top, right, bottom


def _wanted(view: str | None, layer: str | None) -> list[tuple[str, str]]:
    """Views and layers to draw, all of one expression together."""
    views = [view] if view else list(PICTURES)
    return [(each, kind) for each in views for kind in ([layer] if layer else PICTURES[each])]


def _draw(path: Path, samples: int, exposure: float) -> None:
    set_quality(samples, exposure)
    render: Any = bpy.context.scene.render
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    render.image_settings.color_depth = "8"
    render.filepath = str(path.resolve())
    bpy.ops.render.render(write_still=True)


def _shrink(path: Path, size: tuple[int, int]) -> None:
    """The picture at `path` at a smaller `size` (width, height)."""
    large = np.asarray(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), np.float32)
    large[..., :3] *= large[..., 3:] / 255
    small = cv2.resize(large, size, interpolation=cv2.INTER_AREA)
    small[..., :3] *= 255 / np.maximum(small[..., 3:], 1)
    cv2.imwrite(str(path), np.round(np.clip(small, 0, 255)).astype(np.uint8))


def _depth(folder: Path, scene: Any) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Depth (H, W) of what the scene shows now, drawn as the colour of a glowing material."""
    layer = bpy.context.view_layer
    layer.material_override = _depth_material()
    set_quality(DEPTH_SAMPLES, 0.0)
    settings = bpy.context.scene.view_settings
    settings.view_transform, settings.look = "Raw", "None"
    bpy.context.scene.cycles.use_denoising = False
    render: Any = bpy.context.scene.render
    render.image_settings.file_format, render.image_settings.color_depth = "OPEN_EXR", "32"
    path = (folder / "depth.exr").resolve()
    render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    layer.material_override = None
    image = bpy.data.images.load(str(path))
    image.alpha_mode = "CHANNEL_PACKED"
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    path.unlink()
    value, _, _, alpha = np.moveaxis(pixels.reshape(height, width, 4)[::-1], -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(alpha > 1e-3, value / alpha, np.inf).astype(np.float32)


def _depth_material() -> Any:
    material = bpy.data.materials.new("depth")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    glow, out = nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeOutputMaterial")
    links.new(nodes.new("ShaderNodeCameraData").outputs["View Z Depth"], glow.inputs["Color"])
    links.new(glow.outputs[0], out.inputs[0])
    return material


if __name__ == "__main__":
    main()
