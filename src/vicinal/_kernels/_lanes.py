"""Sixty-four neighbouring floats at a time: the vector operations behind the k-best pass.

The compiler does not find these by itself: a least entry and a comparison whose outcome is
kept as one bit a lane. They are written for it as vectors of ``LANES`` floats, which it maps onto
whatever the processor has. ``flat`` is a contiguous one-dimensional float array and ``offset``
the place of the first lane in it; nothing checks that ``offset + LANES`` stays inside.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import extending, types

LANES = 64

intrinsic: Any = extending.intrinsic  # its type hints describe another calling convention

_INT32 = ir.IntType(32)


def _lanes_at(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    """Return a pointer to LANES entries of the array, from ``offset`` on."""
    data = context.make_array(array_type)(context, builder, array).data
    lanes = ir.VectorType(context.get_data_type(array_type.dtype), LANES)
    return builder.bitcast(builder.gep(data, [offset]), lanes.as_pointer())


def _load(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    pointer = _lanes_at(context, builder, array_type, array, offset)
    # Rows start anywhere, so no more than the alignment of one number may be promised.
    return builder.load(pointer, align=array_type.dtype.bitwidth // 8)


def _repeat(builder: Any, value: Any) -> Any:
    """Return the value in every lane."""
    lanes = ir.VectorType(value.type, LANES)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, _INT32(0))
    everywhere = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(lanes, ir.Undefined), everywhere)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _least(builder: Any, lanes: Any) -> Any:
    """Fold the lanes in half until the least one is left."""
    width = LANES
    while width > 1:
        width //= 2
        undefined = ir.Constant(lanes.type, ir.Undefined)
        halves = [
            builder.shuffle_vector(
                lanes,
                undefined,
                ir.Constant(ir.VectorType(_INT32, width), list(range(start, start + width))),
            )
            for start in (0, width)
        ]
        lanes = _smaller(builder, *halves)
    return builder.extract_element(lanes, _INT32(0))


@intrinsic
def lower(typing_context: Any, lows: Any, flat: Any, offset: Any) -> Any:
    """Lower each of the LANES entries of ``lows`` to the entry of ``flat``, where that is less."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lows_type, flat_type, _ = signature.args
        entries = _load(context, builder, flat_type, arguments[1], arguments[2])
        least = _lanes_at(context, builder, lows_type, arguments[0], ir.IntType(64)(0))
        align = lows_type.dtype.bitwidth // 8
        lowered = _smaller(builder, entries, builder.load(least, align=align))
        builder.store(lowered, least, align=align)
        return context.get_dummy_value()

    return types.void(lows, flat, types.intp), generate


@intrinsic
def least_above(typing_context: Any, lows: Any, floor: Any) -> Any:
    """Return the least of the LANES entries that is greater than ``floor``, or inf."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = _load(context, builder, signature.args[0], arguments[0], ir.IntType(64)(0))
        above = builder.fcmp_ordered(">", entries, _repeat(builder, arguments[1]))
        infinite = ir.Constant(entries.type, [float("inf")] * LANES)
        return _least(builder, builder.select(above, entries, infinite))

    return lows.dtype(lows, lows.dtype), generate


@intrinsic
def at_most(typing_context: Any, flat: Any, offset: Any, limit: Any) -> Any:
    """Return a 64-bit mask of the LANES entries from ``offset`` on that are at most ``limit``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = _load(context, builder, signature.args[0], arguments[0], arguments[1])
        mask = builder.fcmp_ordered("<=", entries, _repeat(builder, arguments[2]))
        return builder.bitcast(mask, ir.IntType(LANES))

    return types.uint64(flat, types.intp, flat.dtype), generate


@intrinsic
def first_lane(typing_context: Any, mask: Any) -> Any:
    """Return the number of the lowest bit that is set; the mask must not be zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


@intrinsic
def lanes_set(typing_context: Any, mask: Any) -> Any:
    """Return how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def add_gaps(typing_context: Any, sums: Any, offset: Any, flat: Any, start: Any, value: Any) -> Any:
    """Add |x − value|, x being LANES entries of ``flat`` from ``start`` on, to those of sums."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = _load(context, builder, signature.args[2], arguments[2], arguments[3])
        gaps = builder.fsub(entries, _repeat(builder, arguments[4]))
        zero = ir.Constant(gaps.type, [0.0] * LANES)
        negative = builder.fcmp_ordered("<", gaps, zero)
        sizes = builder.select(negative, builder.fsub(zero, gaps), gaps)
        return _add(context, builder, signature, arguments, sizes)

    return types.void(sums, types.intp, flat, types.intp, flat.dtype), generate


@intrinsic
def add_unequal(
    typing_context: Any, sums: Any, offset: Any, flat: Any, start: Any, value: Any
) -> Any:
    """Add 1 to those of the LANES entries of ``sums`` where ``flat`` differs from ``value``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = _load(context, builder, signature.args[2], arguments[2], arguments[3])
        unequal = builder.fcmp_ordered("!=", entries, _repeat(builder, arguments[4]))
        return _add(context, builder, signature, arguments, builder.uitofp(unequal, entries.type))

    return types.void(sums, types.intp, flat, types.intp, flat.dtype), generate


def _add(context: Any, builder: Any, signature: Any, arguments: Any, lanes: Any) -> Any:
    """Add the lanes to those of the first argument from the second on."""
    sums = _lanes_at(context, builder, signature.args[0], arguments[0], arguments[1])
    align = signature.args[0].dtype.bitwidth // 8
    builder.store(builder.fadd(builder.load(sums, align=align), lanes), sums, align=align)
    return context.get_dummy_value()


if getattr(
    numba.config, "DISABLE_JIT", 0
):  # vectors exist in compiled code only; whoever debugs steps through these
    from vicinal._kernels._lanes_plain import (  # noqa: F401
        add_gaps,
        add_unequal,
        at_most,
        first_lane,
        lanes_set,
        least_above,
        lower,
    )
