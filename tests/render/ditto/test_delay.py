import subprocess
import sys

import pytest
from support import tiny
from visavis.render.ditto.delay import LENGTH, LOOKAHEAD, WindowShape, spec_of, ticks_after
from visavis.render.ditto.features import Cadence, Chunk
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.stage import pipeline_latency


@pytest.mark.parametrize(("hop", "fuse"), [(1, 1), (2, 2), (4, 2), (40, 40), (70, 8)])
def test_an_engine_says_the_delay_of_its_shape(hop: int, fuse: int) -> None:
    spec = spec_of(WindowShape(hop=hop, fuse=fuse))
    assert tiny.engine(hop, fuse).spec == spec
    assert spec.window == (LENGTH + hop) * FEATURE_HOP
    assert 1000 * pipeline_latency([spec]) == 40 * (hop + fuse + LOOKAHEAD)


def test_features_look_as_far_ahead_as_the_delay_says() -> None:
    assert Chunk().lookahead == LOOKAHEAD
    spec = Cadence(2).spec
    assert spec.lookahead // FEATURE_HOP == LOOKAHEAD
    assert ticks_after(WindowShape(hop=2, fuse=2)) == 5


@pytest.mark.parametrize(("hop", "fuse"), [(0, 0), (81, 0), (80, 1), (2, 79), (2, -1)])
def test_windows_that_cannot_lie_so_are_refused(hop: int, fuse: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        WindowShape(hop=hop, fuse=fuse)


def test_delays_are_known_without_torch() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from visavis.render.ditto.presets import PRESETS, shape_of\n"
        "print(*(shape_of(name).delay for name in PRESETS))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "10", "20", "78"]
