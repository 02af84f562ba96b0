import pytest
from support import tiny
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.presets import PRESETS, shape_of
from visavis.render.engine import Engine
from visavis.render.rig.engine import RigEngine
from visavis.render.sessions import Sessions
from visavis.web.delays import Delay, delays


def engine(delay: Delay) -> Engine:
    if delay.engine == "rig":
        return RigEngine()
    shape = shape_of(delay.latency)
    return DittoEngine(tiny.networks(), shape=shape, steps=tiny.STEPS, slots=1)


@pytest.mark.parametrize("delay", list(delays()), ids=lambda delay: f"{delay.engine} {delay.latency}")
def test_a_session_says_the_same_delay(delay: Delay) -> None:
    assert Sessions(engine(delay), slots=1).latency_ms == delay.latency_ms


def test_every_engine_and_every_preset_has_its_row_and_each_engine_one_default() -> None:
    rows = {(one.engine, one.latency): one for one in delays()}
    assert list(rows) == [("rig", ""), *(("ditto", name) for name in PRESETS)]
    assert [key for key, row in rows.items() if row.default] == [("rig", ""), ("ditto", "balanced")]
    low = rows["ditto", "low-latency"]
    assert (low.step_ms, low.delay_ms, low.latency_ms) == (80, 240, 320)
