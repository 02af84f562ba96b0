"""The decoder in 8 bits, fitted to faces of one's own and measured on them.

    python -m visavis.render.ditto.eight_bits --avatar NAME [--weights FOLDER or random:SEED]

prints what each format would give, as JSON; nothing is kept.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.clock import FEATURE_HOP, FEATURE_HZ, PROGRAM_HOP
from ...stream.errors import AvatarError, SetupError, VisavisError
from ...stream.media import TickAudio
from ...stream.visemes import VISEMES
from ..avatar import Avatar, find_avatar, own_avatars
from ..engine import Due
from .checkpoints import Source, find, load, loaded_network, parse_source
from .core.calibration import Limits, calibrate, compared, drawn
from .core.choice import ops_for
from .core.decoder import FastDecoder
from .core.low_bits import FORMATS, Format, LowBits, keep, kept, path_beside
from .core.replay import Replay
from .decoder import Decoder
from .engine import DittoEngine
from .networks import Networks, best_device, load_networks
from .painter import BATCH
from .provenance import digest_of
from .timing import measured

_LOG = logging.getLogger(__name__)

FACES: Final = 4
"""That a plan is made of, at most."""
FRAMES: Final = 16
"""Of each of them."""
EVERY: Final = 5
"""Ticks from one of these frames to the next."""
MARGIN_DB: Final = 4.0
"""Closer than it must be, on the frames that a plan is fitted to: on others pictures are further off."""
_ROUNDS: Final = 20
_PITCH_HZ, _SYLLABLES_HZ, _HARMONICS = 120, 4, 30
_ROWS_A_TICK: Final = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """What 8 bits of `format` give on a face: `layers` of the decoder read them, pictures are `decibels` and
    `cosine` close to those of 16 bits, and the decoder takes so long for a frame in a batch of 8. `is_close`
    says whether they are as close as they must be."""

    format: Format
    layers: int
    decibels: float
    cosine: float
    is_close: bool
    sixteen_ms: float
    eight_ms: float


def with_low_bits(networks: Networks, source: Source, format: Format) -> Networks:
    """`networks` of `source` whose decoder reads 8 bits of `format` wherever pictures of the user's own faces
    stay close. The plan is kept beside the weights. Raises SetupError where there are no such faces."""
    decoder = loaded_network(Decoder, "decoder", source)
    file = find("decoder", source) if isinstance(source, Path) else None
    digest = digest_of({"decoder": load("decoder", source)}) if file else ""
    plan = kept(path_beside(file, format), digest) if file else None
    if plan is None:
        plan = _planned(networks, decoder.to(networks.device), own_faces(), format)
        if file:
            _keep(plan, path_beside(file, format), digest)
    decoder.cpu()
    fast = FastDecoder(decoder, ops_for(networks.device).decoder, dtype=networks.decoder.dtype, low_bits=plan)
    return replace(networks, decoder=fast.to(networks.device))


def own_faces() -> list[Avatar]:
    """The first of the user's own avatars that Ditto draws. Raises SetupError where there are none."""
    found: list[Avatar] = []
    for name in own_avatars():
        try:
            avatar = find_avatar(name)
        except AvatarError as error:
            _LOG.warning("avatar %s is left out: %s", name, error)
            continue
        found += [avatar] if avatar.kind == DittoEngine.kind else []
    if not found:
        raise SetupError(
            "8 bits are fitted to your own faces: add one first, visavis avatar add NAME PICTURE"
        )
    return found[:FACES]


@torch.no_grad()
def features_of(networks: Networks, avatar: Avatar) -> Tensor:
    """What the decoder reads (FRAMES, H, W, 256) while `avatar` speaks."""
    engine = DittoEngine(replace(networks, eager=True), slots=1, cache_bytes=0)
    delay = engine.spec.lookahead // engine.spec.hop
    seen: list[Tensor] = []
    hook = networks.decoder.register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))
    sound = babble((delay + FRAMES * EVERY) * FEATURE_HOP)
    try:
        engine.open(0, avatar, size=avatar.sizes[0], seed=1, index=0)
        surfaces = engine.pictures.surfaces(0, 1) if engine.pictures else [None]
        for index in range(delay + FRAMES * EVERY):
            drawn_now = index >= delay and (index - delay) % EVERY == 0
            engine.step([Due(0, _tick(index, sound), draw=drawn_now, surface=surfaces[0])])
        engine.close(0)
    finally:
        hook.remove()
    return torch.cat(seen)


def babble(samples: int) -> NDArray[np.float32]:
    """(`samples`,) at 16 kHz, of a voice's pitch and in the time of syllables."""
    time = np.arange(samples) / FEATURE_HZ
    voice = sum(np.sin(2 * np.pi * _PITCH_HZ * n * time) / n for n in range(1, _HARMONICS))
    return (0.15 * np.sin(np.pi * _SYLLABLES_HZ * time) ** 2 * voice).astype(np.float32)


def trials(networks: Networks, decoder: Decoder, avatar: Avatar) -> list[Trial]:
    """Of every format, on `avatar`: half of its frames to fit, the others to measure. `decoder` is that of
    `networks`, in float32 on their device."""
    features = features_of(networks, avatar)
    fitting, measuring = features[::2], features[1::2]
    sixteen = networks.decoder
    found: list[Trial] = []
    for format in FORMATS:
        plan = _fitted(networks, decoder, [fitting], format)
        low = FastDecoder(decoder, ops_for(networks.device).decoder, dtype=sixteen.dtype, low_bits=plan)
        close = compared(drawn(low, [measuring]), drawn(sixteen, [measuring]))
        spent = _spent(networks, {"sixteen": sixteen, "eight": low}, measuring)
        found.append(
            Trial(
                format,
                len(plan.fits),
                round(close.decibels, 2),
                close.cosine,
                Limits().allow(close),
                spent["sixteen"],
                spent["eight"],
            )
        )
    return found


def _planned(networks: Networks, decoder: Decoder, faces: Sequence[Avatar], format: Format) -> LowBits:
    _LOG.info("8 bits are being fitted to %s; this takes a while", ", ".join(face.name for face in faces))
    plan = _fitted(networks, decoder, [features_of(networks, face) for face in faces], format)
    _LOG.info("%d layers of the decoder read %s", len(plan.fits), format)
    return plan


def _fitted(networks: Networks, decoder: Decoder, features: Sequence[Tensor], format: Format) -> LowBits:
    batches = [batch for one in features for batch in one.float().split(BATCH)]
    ops, dtype = ops_for(networks.device).decoder, networks.decoder.dtype
    limits = Limits(decibels=Limits().decibels + MARGIN_DB)
    return calibrate(decoder, ops, batches, dtype=dtype, format=format, limits=limits)


def _spent(networks: Networks, decoders: dict[str, FastDecoder], features: Tensor) -> dict[str, float]:
    """Milliseconds a frame of each, in a batch."""
    device, batch = networks.device, features[:BATCH]
    side = 8 * batch.shape[1]
    out = torch.empty(len(batch), side, side, 4, device=device, dtype=networks.decoder.dtype)
    mask = torch.ones(side, side, device=device, dtype=out.dtype)

    @torch.no_grad()
    def draw(_: int, by: FastDecoder) -> None:
        by(batch.to(out.dtype), mask, out=out)

    replays = {
        name: Replay(partial(draw, by=one), device, buckets=(len(batch),)) for name, one in decoders.items()
    }
    steps = {name: partial(replay, len(batch)) for name, replay in replays.items()}
    spent = measured(steps, device, rounds=_ROUNDS)
    return {name: one.figures(len(batch))["ms_a_frame"] for name, one in spent.items()}


def _keep(plan: LowBits, path: Path, digest: str) -> None:
    try:
        keep(plan, path, digest)
    except OSError as error:
        _LOG.warning("the plan cannot be kept in %s (%s); it is made again next time", path, error.strerror)


def _tick(index: int, sound: NDArray[np.float32]) -> TickAudio:
    heard = sound[index * FEATURE_HOP : (index + 1) * FEATURE_HOP]
    return TickAudio(
        index,
        sent=np.zeros(PROGRAM_HOP, np.float32),
        heard=heard,
        rows=np.zeros((_ROWS_A_TICK, len(VISEMES)), np.float32),
        known=np.zeros(_ROWS_A_TICK, np.bool_),
        spans=(),
        speech=True,
    )


def main(arguments: list[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="visavis.render.ditto.eight_bits")
    parser.add_argument("--avatar", required=True)
    parser.add_argument("--weights")
    options = parser.parse_args(arguments)
    try:
        source, device = parse_source(options.weights), best_device()
        decoder = loaded_network(Decoder, "decoder", source).to(device)
        found = trials(load_networks(source, device), decoder, find_avatar(options.avatar))
    except VisavisError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(msgspec.json.encode([asdict(one) for one in found]).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
