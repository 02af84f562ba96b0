"""Looks around in a program for calls that belong together."""

import math
from collections.abc import Iterable
from typing import Final

from .file import Weight
from .program import LARGE, Call, Program, consumers

_CLOSE: Final = 1e-4
"""How near a number is to one that it is taken for."""


class Finder:
    """Looks back from a call to what it takes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.made = {name: call for call in program.calls for name in call.outputs}
        self.uses = consumers(program)

    def by(self, name: str, *kinds: str) -> Call | None:
        """The call that gives `name`, if it is one of those."""
        call = self.made.get(name)
        return call if call and call.kind in kinds else None

    def once(self, name: str, *kinds: str) -> Call | None:
        """As `by`, if nothing else takes `name`."""
        return self.by(name, *kinds) if self.uses.get(name) == 1 else None

    def scalar(self, name: str) -> float | None:
        """The one number that `name` is."""
        weight = self.program.weights.get(name)
        if weight is None or math.prod(weight.shape) != 1 or not weight.dtype.is_floating_point:
            return None
        return float(weight.read())

    def is_number(self, name: str, value: float) -> bool:
        found = self.scalar(name)
        return found is not None and math.isclose(found, value, rel_tol=_CLOSE)

    def uniform(self, name: str) -> bool | float | None:
        """What all of a weight is."""
        weight = self.program.weights.get(name)
        if weight is None or not 0 < math.prod(weight.shape) <= LARGE:
            return None
        values = weight.read()
        return values.flatten()[0].item() if bool((values == values.flatten()[0]).all()) else None

    def row(self, name: str, width: int) -> bool:
        """Whether it is a weight for each of `width` columns."""
        weight = self.program.weights.get(name)
        return weight is not None and weight.shape == (width,)

    def width(self, name: str) -> int:
        return self.program.shapes[name][-1]

    def sides(self, call: Call) -> Iterable[tuple[str, str]]:
        """Both orders of two inputs."""
        a, b = call.inputs
        return ((a, b), (b, a))

    def over_columns(self, call: Call | None) -> str | None:
        """What `call` takes the mean of, over the last dimension, which it keeps."""
        if call is None or call.kind != "ReduceMean" or not call.traits.get("keepdims", 1):
            return None
        taken, *told = call.inputs
        axes = self.program.weights[told[0]].read().tolist() if told else call.traits.get("axes")
        return taken if axes in ([-1], [len(self.program.shapes[taken]) - 1]) else None

    def new(self, name: str, weight: Weight) -> str:
        """A name for a weight that is made of others."""
        self.program.weights[name] = weight
        return name
