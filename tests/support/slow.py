"""An engine that needs more than a tick for a tick."""

import time
from collections.abc import Sequence

from support.pattern import PatternEngine
from visavis.render.engine import Crop, Due

STEP_SECONDS = 0.07


class SlowEngine(PatternEngine):
    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        time.sleep(STEP_SECONDS)
        return super().step(due)
