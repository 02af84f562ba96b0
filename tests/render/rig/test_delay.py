import subprocess
import sys

from visavis.render.rig.delay import SPEC
from visavis.render.rig.engine import RigEngine
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.stage import pipeline_latency


def test_it_is_the_engines_own() -> None:
    assert RigEngine.spec == SPEC
    assert SPEC.hop == FEATURE_HOP
    assert 1000 * pipeline_latency([SPEC]) == 160


def test_it_is_known_without_the_compiler() -> None:
    program = "import sys; sys.modules['numba'] = None; import visavis.render.rig.delay"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
