"""Calls that belong together made one, as torch has them: norms, bends, products and sums, attention.

Exporters write them out in steps, each of which would be a launch, and rounded, in half precision.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from .file import Trait, Weight
from .finder import Finder
from .program import Call, Program

Pattern = Callable[[Finder, Call], Call | None]


def fused(program: Program) -> Program:
    """The same, in fewer calls."""
    for pattern in (_layer_norm, _gelu, _product, _biased, _scaled, _normed, _unmasked, _attended):
        program = _rewritten(program, pattern)
    return _side_by_side(program).pruned()


def _rewritten(program: Program, pattern: Pattern) -> Program:
    """Every call that `pattern` has something better for, replaced."""
    finder = Finder(program)
    calls = list[Call]()
    for call in program.calls:
        better = pattern(finder, call) or call
        for name in better.outputs:
            finder.made[name] = better
        calls.append(better)
    program.calls = calls
    return program.pruned()


def _with(call: Call, kind: str, inputs: tuple[str, ...], **traits: Trait) -> Call:
    return replace(call, kind=kind, inputs=inputs, traits=traits, version=17)


def _layer_norm(find: Finder, call: Call) -> Call | None:
    """(x - mean) / sqrt(mean of squares + eps)."""
    if call.kind != "Div" or not (root := find.by(call.inputs[1], "Sqrt")):
        return None
    off, more = find.by(call.inputs[0], "Sub"), find.by(root.inputs[0], "Add")
    if not off or not more or find.over_columns(find.made.get(off.inputs[1])) != off.inputs[0]:
        return None
    for name, eps in find.sides(more):
        squared = find.over_columns(find.made.get(name))
        if squared and _is_square(find, squared, call.inputs[0]) and (found := find.scalar(eps)) is not None:
            return _with(call, "LayerNormalization", (off.inputs[0],), axis=-1, epsilon=found)
    return None


def _is_square(find: Finder, name: str, of: str) -> bool:
    call = find.by(name, "Pow", "Mul")
    if call is None:
        return False
    # Exporters take the difference a second time where it is squared.
    a, b = find.by(call.inputs[0], "Sub"), find.by(of, "Sub")
    same = call.inputs[0] == of or (a and b and a.inputs == b.inputs)
    return bool(same) and (
        call.inputs[1] == call.inputs[0] if call.kind == "Mul" else find.is_number(call.inputs[1], 2)
    )


def _normed(find: Finder, call: Call) -> Call | None:
    """What a norm is multiplied with, and then what is added."""
    if call.kind not in ("Mul", "Add"):
        return None
    for name, weight in find.sides(call):
        norm = find.once(name, "LayerNormalization")
        if norm and len(norm.inputs) == 1 + (call.kind == "Add") and find.row(weight, find.width(name)):
            return replace(norm, inputs=(*norm.inputs, weight), outputs=call.outputs)
    return None


def _gelu(find: Finder, call: Call) -> Call | None:
    """x, 1 + erf(x / sqrt 2) and a half, multiplied in any order."""
    if call.kind != "Mul":
        return None
    for name, other in find.sides(call):
        inner = find.by(name, "Mul")
        for a, b in find.sides(inner) if inner else ():
            for x, grown, half in ((other, a, b), (a, other, b), (a, b, other)):
                if find.is_number(half, 0.5) and _is_grown(find, grown, x):
                    return _with(call, "Gelu", (x,))
    return None


def _is_grown(find: Finder, name: str, x: str) -> bool:
    """Whether it is 1 + erf(x / sqrt 2)."""
    if not (more := find.by(name, "Add")):
        return False
    for inner, one in find.sides(more):
        bent = find.by(inner, "Erf")
        step = find.by(bent.inputs[0], "Div", "Mul") if bent else None
        if step and find.is_number(one, 1) and step.inputs[0] == x:
            return find.is_number(step.inputs[1], math.sqrt(2) if step.kind == "Div" else math.sqrt(0.5))
    return False


def _product(find: Finder, call: Call) -> Call | None:
    """With a matrix that is known."""
    if call.kind not in ("MatMul", "Gemm") or not find.program.live(call.inputs[0]):
        return None
    weight = find.program.weights.get(call.inputs[1])
    if weight is None or len(weight.shape) != 2 or len(find.program.shapes[call.inputs[0]]) < 2:
        return None
    plain = all(call.traits.get(name, 1.0) == 1.0 for name in ("alpha", "beta")) and not call.traits.get(
        "transA"
    )
    bias = call.inputs[2:] if call.kind == "Gemm" else ()
    if not plain or not all(find.row(one, find.width(call.outputs[0])) for one in bias):
        return None
    if call.traits.get("transB"):
        return _with(call, "Linear", (call.inputs[0], call.inputs[1], *bias))
    turned = Weight(weight.shape[::-1], weight.dtype, lambda: weight.read().mT)
    return _with(call, "Linear", (call.inputs[0], find.new(f"{call.inputs[1]}.T", turned), *bias))


def _biased(find: Finder, call: Call) -> Call | None:
    """A product and what is added to each of its rows."""
    if call.kind != "Add":
        return None
    for name, bias in find.sides(call):
        product = find.once(name, "Linear")
        if product and len(product.inputs) == 2 and find.row(bias, find.width(name)):
            return replace(product, inputs=(*product.inputs, bias), outputs=call.outputs)
    return None


def _scaled(find: Finder, call: Call) -> Call | None:
    """A product that is made larger or smaller as a whole."""
    if call.kind not in ("Mul", "Div"):
        return None
    for name, by in find.sides(call) if call.kind == "Mul" else (call.inputs,):
        product, scale = find.once(name, "Linear"), find.scalar(by)
        if product and scale:
            factor = scale if call.kind == "Mul" else 1 / scale
            names = (
                find.new(f"{one}*{factor}", _times(find.program.weights[one], factor))
                for one in product.inputs[1:]
            )
            return replace(product, inputs=(product.inputs[0], *names), outputs=call.outputs)
    return None


def _times(weight: Weight, factor: float) -> Weight:
    return Weight(weight.shape, weight.dtype, lambda: weight.read() * factor)


def _unmasked(find: Finder, call: Call) -> Call | None:
    """Without a mask that hides nothing."""
    taken = call.inputs
    if call.kind == "Attention":
        mask = find.uniform("".join(taken[3:4]))
        idle = mask if isinstance(mask, bool) else mask == 0
        return replace(call, inputs=(*taken[:3], "", *taken[4:])) if idle else None
    left = ""
    if call.kind == "Add":
        left = next((name for name, mask in find.sides(call) if find.uniform(mask) == 0), "")
    elif call.kind == "Where" and (way := find.uniform(taken[0])) is not None:
        left = taken[1 if way else 2]
    same = left and find.program.shapes.get(left) == find.program.shapes[call.outputs[0]]
    return _with(call, "Identity", (left,)) if same else None


def _attended(find: Finder, call: Call) -> Call | None:
    """Rows mixed by how their queries match keys."""
    if call.kind != "MatMul" or not (shares := find.by(call.inputs[0], "Softmax")):
        return None
    rank = len(find.program.shapes[call.inputs[0]])
    axis = shares.traits.get("axis", -1 if shares.version >= 13 else 1)
    scores, scale = _unscaled(find, _through(find, shares.inputs[0]))
    match = find.by(scores, "MatMul")
    if match is None or axis not in (-1, rank - 1) or rank < 3:
        return None
    (query, more), (key, most) = (_unscaled(find, name) for name in match.inputs)
    shapes = [find.program.shapes.get(name, ()) for name in (query, key, call.inputs[1])]
    if len({shape[:-2] for shape in shapes}) != 1 or any(len(shape) != rank for shape in shapes):
        return None
    return _with(call, "Attend", (query, key, call.inputs[1]), scale=scale * more * most)


def _through(find: Finder, name: str) -> str:
    while call := find.by(name, "Identity"):
        name = call.inputs[0]
    return name


def _unscaled(find: Finder, name: str) -> tuple[str, float]:
    """What `name` is a multiple of."""
    call = find.by(name, "Mul", "Div")
    if call is None:
        return name, 1.0
    for inner, by in find.sides(call) if call.kind == "Mul" else (call.inputs,):
        if scale := find.scalar(by):
            return inner, scale if call.kind == "Mul" else 1 / scale
    return name, 1.0


def _side_by_side(program: Program) -> Program:
    """Products of the same rows as one, which is then cut."""
    groups = dict[tuple[str, int], list[Call]]()
    for call in program.calls:
        if call.kind == "Linear":
            groups.setdefault((call.inputs[0], len(call.inputs)), []).append(call)
    firsts = {group[0].outputs: group for group in groups.values() if len(group) > 1}
    gone = {call.outputs for group in firsts.values() for call in group}
    calls = list[Call]()
    for call in program.calls:
        if call.outputs in firsts:
            calls += _joined(program, firsts[call.outputs])
        elif call.outputs not in gone:
            calls.append(call)
    program.calls = calls
    return program


def _joined(program: Program, group: list[Call]) -> list[Call]:
    first = group[0]
    name = "+".join(call.outputs[0] for call in group)
    parts = zip(*(call.inputs[1:] for call in group), strict=True)
    weights = list[str]()
    for at, names in enumerate(parts):
        weights.append(f"{name}.{at}")
        program.weights[weights[-1]] = _stacked([program.weights[one] for one in names])
    widths = [program.shapes[call.outputs[0]][-1] for call in group]
    program.shapes[name] = (*program.shapes[first.outputs[0]][:-1], sum(widths))
    cut = {"axis": -1, "split": widths}
    return [
        replace(first, inputs=(first.inputs[0], *weights), outputs=(name,)),
        _with(replace(first, outputs=tuple(call.outputs[0] for call in group)), "Split", (name,), **cut),
    ]


def _stacked(parts: list[Weight]) -> Weight:
    def read() -> Tensor:
        return torch.cat([one.read() for one in parts])

    return Weight((sum(one.shape[0] for one in parts), *parts[0].shape[1:]), parts[0].dtype, read)
