"""A `ditto` engine of tiny networks with random weights, and an avatar for it: quick, and all noise."""

import hashlib
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import cv2
import msgspec
import numpy as np
import safetensors.numpy
import torch
from torch import Tensor
from visavis.render.avatar import (
    MANIFEST,
    PREVIEW,
    SCHEMA,
    TENSORS,
    Avatar,
    Manifest,
    View,
    find_avatar,
    store,
)
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.networks import Networks, fused
from visavis.render.ditto.putback import SIDE
from visavis.render.ditto.random_encoder import random_encoder
from visavis.render.ditto.random_weights import loaded
from visavis.render.ditto.stitch import StitchNetwork, StitchSize
from visavis.render.ditto.tensors import APPEARANCE, CANONICAL, EYE_BALL, EYE_OPEN, MATRIX, MOTION
from visavis.render.ditto.warp import WarpNetwork, WarpSize
from visavis.render.ditto.windows import WindowShape

SEED = 7
STEPS = 4
CELLS = 8
"""Of the feature volume, along width and height: crops have eight times as many pixels."""
PLATE = (192, 256)
torch.set_num_threads(1)
"""More gain nothing at this size, and wait for each other where cores are busy."""


class Attentive:
    """An audio encoder each of whose rows hears the whole window, as the real one's do."""

    def __init__(self, seed: int) -> None:
        self._local = random_encoder(seed)

    def __call__(self, samples: Tensor) -> Tensor:
        rows = self._local(samples)
        return rows + rows.mean(dim=1, keepdim=True)


def networks(seed: int = SEED) -> Networks:
    warp, decoder = fused(
        loaded(WarpNetwork(WarpSize.tiny()), "warp_network", seed),
        loaded(Decoder(DecoderSize.tiny()), "decoder", seed),
        torch.device("cpu"),
    )
    return Networks(
        audio=Attentive(seed),
        lmdm=loaded(MotionDecoder(LmdmSize.tiny()), "lmdm", seed),
        stitch=loaded(StitchNetwork(StitchSize.tiny()), "stitch_network", seed),
        warp=warp,
        decoder=decoder,
        device=torch.device("cpu"),
        side=CELLS,
    )


def engine(hop: int = 2, fuse: int | None = None, *, slots: int = 4) -> DittoEngine:
    shape = WindowShape(hop=hop, fuse=hop if fuse is None else fuse)
    return DittoEngine(networks(), shape=shape, steps=STEPS, slots=slots)


class TinyEngine(DittoEngine):
    """For `--engine support.tiny:TinyEngine`: draws ditto avatars by a corner of their volume, and whole
    pictures, as a GPU does."""

    def __init__(self) -> None:
        shape = WindowShape(hop=2, fuse=2)
        super().__init__(networks(), shape=shape, steps=STEPS, largest=PLATE)

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        super().open(slot, cut(avatar), size=size, seed=seed, index=index)


def cut(avatar: Avatar) -> Avatar:
    """`avatar` with the corner of its volume that tiny networks read; one without any as it is."""
    if avatar.kind != "ditto":
        return avatar
    size = WarpSize.tiny().motion
    corner = avatar.tensors[APPEARANCE][:, : size.channels, : size.depth, :CELLS, :CELLS]
    return replace(avatar, tensors=MappingProxyType({**avatar.tensors, APPEARANCE: corner}))


def write(name: str, *, seed: int = SEED, plate: tuple[int, int] = PLATE) -> Path:
    """The folder of a new ditto avatar in the user's store, on a plate (width, height) of one colour: a face
    of numbers for a TinyEngine."""
    width, height = plate
    random = np.random.default_rng(seed)
    ground = np.full((height, width, 3), random.integers(60, 200, 3), np.uint8)
    size = 0.75 * min(plate)
    left, top = (width - size) / 2, (height - size) / 2
    files = {
        "plate.png": _encoded(ground),
        PREVIEW: _encoded(ground),
        TENSORS: safetensors.numpy.save(_tensors(random, (32, 16, 64, 64), size / SIDE, left, top)),
    }
    manifest = Manifest(
        schema=SCHEMA,
        kind="ditto",
        name=name,
        title=name.title(),
        frames=1,
        units=(),
        views=(View(width, height, "plate.png", (0, 0), (1, 1), (0, 0, width, height)),),
        files={file: hashlib.sha256(blob).hexdigest() for file, blob in files.items()},
        weights="tiny",
    )
    folder = store() / name
    folder.mkdir(parents=True)
    for file, blob in (files | {MANIFEST: msgspec.json.encode(manifest)}).items():
        (folder / file).write_bytes(blob)
    return folder


def avatar(seed: int = SEED) -> Avatar:
    """A face of numbers, on the plate of a presenter."""
    size = WarpSize.tiny().motion
    volume = (size.channels, size.depth, CELLS, CELLS)
    tensors = _tensors(np.random.default_rng(seed), volume, 0.5, 100, 50)
    found = find_avatar("ruby")
    manifest = msgspec.structs.replace(found.manifest, kind="ditto", name=f"tiny-{seed}")
    return replace(found, manifest=manifest, tensors=MappingProxyType(tensors))


def _tensors(
    random: np.random.Generator, volume: tuple[int, ...], scale: float, left: float, top: float
) -> dict[str, np.ndarray]:
    return {
        APPEARANCE: random.standard_normal((1, *volume)).astype(np.float16),
        MOTION: random.normal(0, 0.3, (1, 265)).astype(np.float32),
        CANONICAL: random.normal(0, 0.3, (1, 63)).astype(np.float32),
        MATRIX: np.array([[[scale, 0, left], [0, scale, top], [0, 0, 1]]], np.float32),
        EYE_OPEN: random.uniform(0.3, 1, (1, 2)).astype(np.float32),
        EYE_BALL: random.normal(0, 0.1, (1, 6)).astype(np.float32),
    }


def _encoded(pixels: np.ndarray) -> bytes:
    _, blob = cv2.imencode(".png", pixels)
    return blob.tobytes()
