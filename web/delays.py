"""The delay that each engine and preset makes, from what their stages say of themselves."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..render.ditto.delay import spec_of
from ..render.ditto.presets import LIVE, PRESETS, shape_of
from ..render.rig.delay import SPEC
from ..stream.clock import FEATURE_HOP
from ..stream.pacer import PacerOptions, latency_ms
from ..stream.stage import StageSpec, pipeline_latency

_TICK_MS = 40


@dataclass(frozen=True, slots=True)
class Delay:
    """`delay_ms` is the algorithm's; `latency_ms` is what POST /v1/sessions answers, with the lead of the
    sender. Frames come `step_ms` at a time. `default` marks what live sessions use unless told otherwise."""

    engine: str
    latency: str
    step_ms: int
    delay_ms: int
    latency_ms: int
    default: bool


def delays() -> Iterator[Delay]:
    """Of every engine, and every preset of it."""
    yield _delay("rig", "", 1, SPEC, default=True)
    for name in PRESETS:
        shape = shape_of(name)
        yield _delay("ditto", name, shape.hop, spec_of(shape), default=name == LIVE)


def _delay(engine: str, latency: str, ticks: int, spec: StageSpec, *, default: bool) -> Delay:
    assert spec.hop == FEATURE_HOP, "engines hear tick by tick"
    delay_ms = round(1000 * pipeline_latency([spec]))
    return Delay(engine, latency, ticks * _TICK_MS, delay_ms, latency_ms(spec, PacerOptions()), default)
