"""Sums of products on one register of neighbouring samples at a time.

An array here is a stack of *rows*, each of ``ROW_BYTES`` of numbers, one a sample: 16 single or 8
double precision where registers are that wide, else half as many. A tile is a small matrix of rows
that stays in registers while a loop runs over the terms of its sums; the compiler does not find
this by itself, so the loops are written for it as vector operations. Places are counted in rows,
and in numbers for coefficients; nothing checks that they stay inside the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import extending, types
from numba.core import cgutils

# AVX-512 has 32 registers of 64 bytes. Elsewhere a row of 32 is one register or two of at least
# 16, and tiles are narrower: sums that do not fit would go to memory and back with every term.
ROW_BYTES, TILE_WIDTH = (64, 4) if binding.get_host_cpu_features().get("avx512f") else (32, 2)

intrinsic: Any = extending.intrinsic  # its type hints describe another calling convention

_INT32 = ir.IntType(32)


class Emitter:
    """Writes vector operations on the rows of arrays of one precision."""

    def __init__(self, context: Any, builder: Any, dtype: Any) -> None:
        self.context, self.builder, self.dtype = context, builder, dtype
        self.lanes = ROW_BYTES * 8 // dtype.bitwidth
        self.number = context.get_data_type(dtype)
        self.row = ir.VectorType(self.number, self.lanes)
        self.zero = ir.Constant(self.row, [0.0] * self.lanes)
        name = f"llvm.fma.v{self.lanes}f{dtype.bitwidth}"
        kind = ir.FunctionType(self.row, [self.row] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, kind, name)

    def data(self, array_type: Any, array: Any) -> Any:
        """Return the pointer to the array's first number."""
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def place(self, data: Any, row: Any) -> Any:
        """Return the pointer to a row."""
        rows = self.builder.bitcast(data, self.row.as_pointer())
        return self.builder.gep(rows, [row], source_etype=self.row)

    def load(self, data: Any, row: Any) -> Any:
        """Return a row."""
        return self.builder.load(
            self.place(data, row), align=self.dtype.bitwidth // 8, typ=self.row
        )

    def store(self, value: Any, data: Any, row: Any) -> None:
        """Write a row."""
        self.builder.store(value, self.place(data, row), align=self.dtype.bitwidth // 8)

    def repeat(self, data: Any, place: Any) -> Any:
        """Return one number in every lane."""
        pointer = self.builder.gep(data, [place], source_etype=self.number)
        value = self.builder.load(pointer, typ=self.number)
        undefined = ir.Constant(self.row, ir.Undefined)
        first = self.builder.insert_element(undefined, value, _INT32(0))
        everywhere = ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, everywhere)

    def add_product(self, total: Any, a: Any, b: Any) -> Any:
        """Return total + a b."""
        return self.builder.call(self._fma, [a, b, total])

    def subtract_product(self, total: Any, a: Any, b: Any) -> Any:
        """Return total − a b."""
        return self.builder.call(self._fma, [self.builder.fneg(a), b, total])

    def at(self, start: Any, *steps: tuple[Any, int]) -> Any:
        """Return start + Σ step · count, counts being known when compiling."""
        for step, count in steps:
            if count:
                start = self.builder.add(start, self.builder.mul(step, step.type(count)))
        return start

    def sum(self, lanes: Any) -> Any:
        """Return the sum of the lanes, folded in half until one is left."""
        width = self.lanes
        while width > 1:
            width //= 2
            undefined = ir.Constant(lanes.type, ir.Undefined)
            low, high = (
                self.builder.shuffle_vector(
                    lanes,
                    undefined,
                    ir.Constant(ir.VectorType(_INT32, width), list(range(start, start + width))),
                )
                for start in (0, width)
            )
            lanes = self.builder.fadd(low, high)
        return self.builder.extract_element(lanes, _INT32(0))


def _accumulate(emitter: Emitter, starts: list[Any], n_terms: Any, body: Callable[..., Any]) -> Any:
    """Return the totals after a loop; ``body(term, totals)`` returns them after one term."""
    builder = emitter.builder
    held = [cgutils.alloca_once_value(builder, start) for start in starts]
    with cgutils.for_range(builder, n_terms) as loop:
        totals = body(loop.index, [builder.load(slot, typ=emitter.row) for slot in held])
        for slot, total in zip(held, totals, strict=True):
            builder.store(total, slot)
    return [builder.load(slot, typ=emitter.row) for slot in held]


def real_tile(height: int, width: int) -> Any:
    """Return a function that computes a tile of rows from real coefficients.

    out[a, b] = Σ_k coefficient[a, k] row[k, b]   for a < height, b < width

    Its arguments: out, place, step of a; coefficients, place, step of a, step of k; rows, place,
    step of k; number of terms. Rows of neighbouring b are neighbours.
    """

    @intrinsic
    def tile(
        typing_context: Any,
        out: Any, out_at: Any, out_a: Any,
        factors: Any, factor_at: Any, factor_a: Any, factor_k: Any,
        rows: Any, row_at: Any, row_k: Any,
        n_terms: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (_, o, oa, _, f, fa, fk, _, r, rk, n) = arguments
            emitter = Emitter(context, builder, signature.args[0].dtype)
            to, by, of = (emitter.data(signature.args[at], arguments[at]) for at in (0, 3, 7))

            def term(k: Any, totals: list[Any]) -> list[Any]:
                first = builder.add(r, builder.mul(k, rk))
                row = [
                    emitter.load(of, emitter.at(first, (first.type(1), b))) for b in range(width)
                ]
                start = builder.add(f, builder.mul(k, fk))
                totals = list(totals)
                for a in range(height):
                    factor = emitter.repeat(by, emitter.at(start, (fa, a)))
                    for b in range(width):
                        at = a * width + b
                        totals[at] = emitter.add_product(totals[at], factor, row[b])
                return totals

            totals = _accumulate(emitter, [emitter.zero] * (height * width), n, term)
            for a in range(height):
                for b in range(width):
                    place = emitter.at(o, (oa, a), (o.type(1), b))
                    emitter.store(totals[a * width + b], to, place)
            return context.get_dummy_value()

        i = types.intp
        return types.void(out, i, i, factors, i, i, i, rows, i, i, i), generate

    return tile


def complex_tile(height: int, *, conjugate: bool, add: bool) -> Any:
    """Return a function that computes complex rows from complex coefficients.

    out[a] = (out[a] +) Σ_k coefficient[a, k] row[k]   for a < height

    the coefficient conjugated where asked for. A complex coefficient is two neighbouring numbers;
    of complex rows the imaginary one is a given step behind the real one. Arguments: out, place,
    step of a, step to the imaginary row; coefficients, place, step of a, step of k; rows, place,
    step of k, step to the imaginary row; number of terms.
    """

    @intrinsic
    def tile(
        typing_context: Any,
        out: Any, out_at: Any, out_a: Any, out_i: Any,
        factors: Any, factor_at: Any, factor_a: Any, factor_k: Any,
        rows: Any, row_at: Any, row_k: Any, row_i: Any,
        n_terms: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (_, o, oa, oi, _, f, fa, fk, _, r, rk, ri, n) = arguments
            emitter = Emitter(context, builder, signature.args[0].dtype)
            to, by, of = (emitter.data(signature.args[at], arguments[at]) for at in (0, 4, 8))
            plus, minus = emitter.add_product, emitter.subtract_product
            forth, back = (plus, minus) if conjugate else (minus, plus)

            def term(k: Any, totals: list[Any]) -> list[Any]:
                place = builder.add(r, builder.mul(k, rk))
                real, imaginary = emitter.load(of, place), emitter.load(of, builder.add(place, ri))
                start = builder.add(f, builder.mul(k, fk))
                sums = []
                for a in range(height):
                    at = emitter.at(start, (fa, a))
                    x = emitter.repeat(by, at)
                    y = emitter.repeat(by, builder.add(at, at.type(1)))
                    sums.append(forth(plus(totals[2 * a], x, real), y, imaginary))
                    sums.append(back(plus(totals[2 * a + 1], x, imaginary), y, real))
                return sums

            places = []
            for a in range(height):
                place = emitter.at(o, (oa, a))
                places += [place, builder.add(place, oi)]
            totals = _accumulate(emitter, [emitter.zero] * len(places), n, term)
            for total, at in zip(totals, places, strict=True):
                # A sum of sums rounds less than one long sum that starts from what is there.
                emitter.store(builder.fadd(emitter.load(to, at), total) if add else total, to, at)
            return context.get_dummy_value()

        i = types.intp
        return types.void(out, i, i, i, factors, i, i, i, rows, i, i, i, i), generate

    return tile


def dot_tile(height: int, width: int) -> Any:
    """Return a function that adds dot products over terms and lanes to complex numbers.

    out[a, b] += Σ_k Σ_lane conj(left[a, k]) right[b, k]   for a < height, b < width

    Arguments: out (numbers), place, step of a, step of b; left, place, step of a, step of k, step
    to the imaginary row; right, the same; number of terms.
    """

    @intrinsic
    def tile(
        typing_context: Any,
        out: Any, out_at: Any, out_a: Any, out_b: Any,
        left: Any, left_at: Any, left_a: Any, left_k: Any, left_i: Any,
        right: Any, right_at: Any, right_b: Any, right_k: Any, right_i: Any,
        n_terms: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (_, o, oa, ob, _, p, pa, pk, pi, _, q, qb, qk, qi, n) = arguments
            emitter = Emitter(context, builder, signature.args[0].dtype)
            to, one, two = (emitter.data(signature.args[at], arguments[at]) for at in (0, 4, 9))

            def load(data: Any, place: Any, step: Any, count: int, imaginary: Any) -> list[Any]:
                places = [emitter.at(place, (step, a)) for a in range(count)]
                return [
                    (emitter.load(data, at), emitter.load(data, builder.add(at, imaginary)))
                    for at in places
                ]

            def term(k: Any, totals: list[Any]) -> list[Any]:
                lefts = load(one, builder.add(p, builder.mul(k, pk)), pa, height, pi)
                rights = load(two, builder.add(q, builder.mul(k, qk)), qb, width, qi)
                sums = []
                for a, (x, y) in enumerate(lefts):
                    for b, (u, v) in enumerate(rights):
                        at = 2 * (a * width + b)
                        real = emitter.add_product(totals[at], x, u)
                        sums.append(emitter.add_product(real, y, v))
                        imaginary = emitter.add_product(totals[at + 1], x, v)
                        sums.append(emitter.subtract_product(imaginary, y, u))
                return sums

            totals = _accumulate(emitter, [emitter.zero] * (2 * height * width), n, term)
            for at, total in enumerate(totals):
                (a, b), part = divmod(at // 2, width), at % 2
                place = emitter.at(o, (oa, a), (ob, b), (o.type(1), part))
                pointer = builder.gep(to, [place], source_etype=emitter.number)
                before = builder.load(pointer, typ=emitter.number)
                builder.store(builder.fadd(before, emitter.sum(total)), pointer)
            return context.get_dummy_value()

        i = types.intp
        return types.void(out, i, i, i, left, i, i, i, i, right, i, i, i, i, i), generate

    return tile


@intrinsic
def multiply_diagonal(
    typing_context: Any,
    out: Any, out_at: Any, out_k: Any,
    rows: Any, x_at: Any, x_i: Any, y_at: Any, y_i: Any,
    n_terms: Any,
) -> Any:  # fmt: skip
    """Compute out[k] = x[k] y[−k], complex; an imaginary row of ``out`` follows its real one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (_, o, ok, _, x, xi, y, yi, n) = arguments
        emitter = Emitter(context, builder, signature.args[0].dtype)
        to, of = (emitter.data(signature.args[at], arguments[at]) for at in (0, 3))
        with cgutils.for_range(builder, n) as loop:
            a, b = _load_complex(emitter, of, builder.add(x, loop.index), xi)
            c, d = _load_complex(emitter, of, builder.sub(y, loop.index), yi)
            place = builder.add(o, builder.mul(loop.index, ok))
            real = emitter.subtract_product(builder.fmul(a, c), b, d)
            imaginary = emitter.add_product(builder.fmul(a, d), b, c)
            emitter.store(real, to, place)
            emitter.store(imaginary, to, builder.add(place, place.type(1)))
        return context.get_dummy_value()

    i = types.intp
    return types.void(out, i, i, rows, i, i, i, i, i), generate


@intrinsic
def multiply_diagonal_back(
    typing_context: Any,
    grad: Any, grad_at: Any, grad_k: Any,
    rows: Any, grad_rows: Any, x_at: Any, x_i: Any, y_at: Any, y_i: Any,
    n_terms: Any,
) -> Any:  # fmt: skip
    """Add the gradient of ``multiply_diagonal`` to that of its rows: g conj(y) to x, and back."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (_, g, gk, _, _, x, xi, y, yi, n) = arguments
        emitter = Emitter(context, builder, signature.args[0].dtype)
        by, of, to = (emitter.data(signature.args[at], arguments[at]) for at in (0, 3, 4))

        def add(place: Any, step: Any, u: Any, v: Any, c: Any, d: Any) -> None:
            real, imaginary = _load_complex(emitter, to, place, step)
            real = emitter.add_product(emitter.add_product(real, u, c), v, d)
            imaginary = emitter.add_product(imaginary, v, c)
            imaginary = emitter.subtract_product(imaginary, u, d)
            emitter.store(real, to, place)
            emitter.store(imaginary, to, builder.add(place, step))

        with cgutils.for_range(builder, n) as loop:
            x_place, y_place = builder.add(x, loop.index), builder.sub(y, loop.index)
            u, v = _load_complex(
                emitter, by, builder.add(g, builder.mul(loop.index, gk)), g.type(1)
            )
            x_row, y_row = (
                _load_complex(emitter, of, x_place, xi),
                _load_complex(emitter, of, y_place, yi),
            )
            add(x_place, xi, u, v, *y_row)
            # x and y may be one row (a square), so the second sum is loaded after the first is kept
            add(y_place, yi, u, v, *x_row)
        return context.get_dummy_value()

    i = types.intp
    return types.void(grad, i, i, rows, grad_rows, i, i, i, i, i), generate


def _load_complex(emitter: Emitter, data: Any, place: Any, step: Any) -> tuple[Any, Any]:
    return emitter.load(data, place), emitter.load(data, emitter.builder.add(place, step))
