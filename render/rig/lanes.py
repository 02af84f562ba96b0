"""Arithmetic on packed pixels: the four channels of one at once, in the vector registers of any CPU.

A pixel is a uint32 of premultiplied RGBA, red lowest. These are intrinsics of compiled code: they can be
called from functions under `njit` only. Indices are not checked.
"""

# pyright: basic, reportAttributeAccessIssue=false, reportPrivateImportUsage=false, reportArgumentType=false
# pyright: reportReturnType=false

from collections.abc import Callable
from typing import Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_CHANNELS, _PAIR = 4, 8
GROUP: Final = 8
"""Pixels that are looked at together."""
RUN: Final = 32
"""Bytes that are blended together."""
_I8, _I16, _I32 = ir.IntType(8), ir.IntType(16), ir.IntType(32)


def _splat(builder: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """A scalar in all `lanes` of an int16 vector."""
    narrow = builder.trunc(value, _I16)
    first = builder.insert_element(
        ir.Constant(ir.VectorType(_I16, lanes), ir.Undefined), narrow, ir.Constant(_I32, 0)
    )
    order = ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    return builder.shuffle_vector(first, first, order)


def _all(value: int, lanes: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(_I16, lanes), [value] * lanes)


def _unpacked(builder: ir.IRBuilder, pixel: ir.Value) -> ir.Value:
    """The channels of a uint32 as int16 lanes."""
    return builder.zext(builder.bitcast(pixel, ir.VectorType(_I8, _CHANNELS)), ir.VectorType(_I16, _CHANNELS))


def _packed(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    return builder.bitcast(builder.trunc(lanes, ir.VectorType(_I8, _CHANNELS)), _I32)


def _mixed(builder: ir.IRBuilder, a: ir.Value, b: ir.Value, share: ir.Value, lanes: int) -> ir.Value:
    """Lanes `a` to `b` by `share` of 256, rounded."""
    far = _splat(builder, share, lanes)
    near = builder.sub(_all(256, lanes), far)
    total = builder.add(builder.mul(a, near), builder.mul(b, far))
    return builder.lshr(builder.add(total, _all(128, lanes)), _all(8, lanes))


def _over_lanes(builder: ir.IRBuilder, front: ir.Value, back: ir.Value, free: ir.Value) -> ir.Value:
    """`front` plus `back` times `free` of 255, rounded."""
    rest = builder.add(builder.mul(back, _splat(builder, free, _CHANNELS)), _all(128, _CHANNELS))
    rest = builder.add(rest, builder.lshr(rest, _all(8, _CHANNELS)))
    return builder.add(front, builder.lshr(rest, _all(8, _CHANNELS)))


def _pair(context, builder: ir.IRBuilder, kind, array: ir.Value, index: ir.Value) -> ir.Value:
    """The pixels at `index` and after it, as eight int16 lanes."""
    data = context.make_array(kind)(context, builder, array).data
    at = builder.bitcast(builder.gep(data, [index]), ir.VectorType(_I8, _PAIR).as_pointer())
    texels = builder.load(at)
    texels.align = 4
    return builder.zext(texels, ir.VectorType(_I16, _PAIR))


@intrinsic
def _sample(typing_context, texture, index, stride, fx, fy):
    """`sample(texture, index, stride, fx, fy)` is the pixel between four texels of `texture` (N,) uint32: at
    `index`, the next one and those a `stride` later, by `fx` and `fy` of 256."""

    def build(context, builder, signature, arguments):
        array, at, step, across, down = arguments
        kind = signature.args[0]
        top = _pair(context, builder, kind, array, at)
        low = _pair(context, builder, kind, array, builder.add(at, step))
        column = _mixed(builder, top, low, down, _PAIR)
        left, right = (
            builder.shuffle_vector(
                column, column, ir.Constant(ir.VectorType(_I32, _CHANNELS), [*range(k, k + _CHANNELS)])
            )
            for k in (0, _CHANNELS)
        )
        return _packed(builder, _mixed(builder, left, right, across, _CHANNELS))

    return types.uint32(texture, types.int64, types.int64, types.int64, types.int64), build


@intrinsic
def _over(typing_context, front, back):
    """`over(front, back)` is the pixel `front` laid over the pixel `back`."""

    def build(context, builder, signature, arguments):
        front, back = arguments
        free = builder.sub(ir.Constant(_I32, 255), builder.lshr(front, ir.Constant(_I32, 24)))
        lanes = _over_lanes(builder, _unpacked(builder, front), _unpacked(builder, back), free)
        return _packed(builder, lanes)

    return types.uint32(types.uint32, types.uint32), build


@intrinsic
def _mix(typing_context, a, b, share):
    """`mix(a, b, share)` is pixel `a` to `b` by `share` of 256."""

    def build(context, builder, signature, arguments):
        a, b, share = arguments
        lanes = _mixed(builder, _unpacked(builder, a), _unpacked(builder, b), share, _CHANNELS)
        return _packed(builder, lanes)

    return types.uint32(types.uint32, types.uint32, types.int64), build


@intrinsic
def _blend(typing_context, source, upper, lower, w00, w01, w10, w11, out, at):
    """`blend(source, upper, lower, w00, w01, w10, w11, out, at)` writes RUN bytes of `out` (M,) uint8 from
    `at` on: those of `source` (N,) uint8 from `upper` on, the pixels after them, and the same from `lower`
    on, by weights of 256 together. A plain loop multiplies numbers of 8 bits as such of 64."""

    def build(context, builder, signature, arguments):
        array, above, below, *weights, target, start = arguments
        lanes = ir.VectorType(_I8, RUN).as_pointer()
        bytes_in = context.make_array(signature.args[0])(context, builder, array).data
        bytes_out = context.make_array(signature.args[7])(context, builder, target).data
        total = _all(128, RUN)
        places = (place for row in (above, below) for place in (row, builder.add(row, row.type(_CHANNELS))))
        for place, weight in zip(places, weights, strict=True):
            texels = builder.load(builder.bitcast(builder.gep(bytes_in, [place]), lanes))
            texels.align = 1
            wide = builder.zext(texels, ir.VectorType(_I16, RUN))
            total = builder.add(total, builder.mul(wide, _splat(builder, weight, RUN)))
        narrow = builder.trunc(builder.lshr(total, _all(8, RUN)), ir.VectorType(_I8, RUN))
        builder.store(narrow, builder.bitcast(builder.gep(bytes_out, [start]), lanes)).align = 1
        return context.get_dummy_value()

    return types.none(source, *(types.int64,) * 6, out, types.int64), build


def _folded(context, builder: ir.IRBuilder, kind, array: ir.Value, index: ir.Value, fold) -> ir.Value:
    """The bits of a GROUP of pixels from `index` on, put together by `fold`."""
    data = context.make_array(kind)(context, builder, array).data
    at = builder.bitcast(builder.gep(data, [index]), ir.VectorType(_I32, GROUP).as_pointer())
    lanes = builder.load(at)
    lanes.align = 4
    for half in (4, 2, 1):
        low, high = (
            builder.shuffle_vector(
                lanes, lanes, ir.Constant(ir.VectorType(_I32, half), [*range(k, k + half)])
            )
            for k in (0, half)
        )
        lanes = fold(low, high)
    return builder.extract_element(lanes, ir.Constant(_I32, 0))


@intrinsic
def _all_of(typing_context, pixels, index):
    """`all_of(pixels, index)` has the bits that all GROUP of `pixels` (N,) uint32 from `index` on have."""

    def build(context, builder, signature, arguments):
        array, at = arguments
        return _folded(context, builder, signature.args[0], array, at, builder.and_)

    return types.uint32(pixels, types.int64), build


@intrinsic
def _any_of(typing_context, pixels, index):
    """`any_of(pixels, index)` has the bits that one of GROUP `pixels` (N,) uint32 from `index` on has."""

    def build(context, builder, signature, arguments):
        array, at = arguments
        return _folded(context, builder, signature.args[0], array, at, builder.or_)

    return types.uint32(pixels, types.int64), build


@intrinsic
def _fetch(typing_context, texture, index):
    """`fetch(texture, index)` has `texture` (N,) uint32 brought near where it will be read soon."""

    def build(context, builder, signature, arguments):
        array, at = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        bytes_at = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [bytes_at, _I32, _I32, _I32])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(data, [at]), bytes_at)
        builder.call(call, [place, *(ir.Constant(_I32, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.none(texture, types.int64), build


sample: Final[Callable[..., np.uint32]] = _sample
over: Final[Callable[..., np.uint32]] = _over
mix: Final[Callable[..., np.uint32]] = _mix
blend: Final[Callable[..., None]] = _blend
all_of: Final[Callable[..., np.uint32]] = _all_of
any_of: Final[Callable[..., np.uint32]] = _any_of
fetch: Final[Callable[..., None]] = _fetch
