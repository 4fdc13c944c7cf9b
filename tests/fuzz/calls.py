"""Bad numbers for what is no estimator: searches, sets, losses, tuples of rows, and preparation.

Right means finite results of the right shape, and the plain ones where only the storage or the unit
of the numbers is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.fuzz._outcomes import Try, Wrong
from tests.fuzz.numbers import ANY, REFUSE, SAME, Case, N, is_scikit_learns

Outputs = tuple[Any, ...]


def spoil(plain: Any) -> dict[str, Case]:
    """Return an array of floats in many disguises, with what has to come of each."""
    strange = {
        "NaN": np.nan, "inf": np.inf, "-inf": -np.inf, "None": None, "text": "NA", "complex": 1j,
    }  # fmt: skip
    cases: dict[str, Case] = {}
    for name, value in strange.items():
        changed = np.array(plain, dtype=float if isinstance(value, float) else object)
        changed.flat[3] = value
        cases[name] = (REFUSE, changed)
    whole = np.round(50 * plain)
    backwards = plain[tuple([slice(None, None, -1)] * plain.ndim)].copy()
    locked = plain.copy()
    locked.flags.writeable = False
    cases |= {
        "all complex": (REFUSE, plain + 1j),
        "masked": (REFUSE, np.ma.masked_array(plain, mask=plain > 1)),
        "dates": (REFUSE, (1e6 * plain).astype("datetime64[s]")),
        "durations": (REFUSE, (1e6 * plain).astype("timedelta64[s]")),
        "long whole numbers": (REFUSE, whole.astype(np.int64) + 2**60),
        "long objects": (REFUSE, (whole.astype(np.int64) + 2**60).astype(object)),
        "too long": (REFUSE, np.full(plain.shape, 10**400, dtype=object)),
        "words": (REFUSE, np.full(plain.shape, "word")),
        "a word": (REFUSE, "rows"),
        "nothing": (REFUSE, None),
        "a number": (REFUSE, 3.0),
        "no entries": (REFUSE, plain[:0]),
        "no columns": (REFUSE, plain[..., :0]),
        "an axis less": (REFUSE, plain[0]),
        "an axis more": (REFUSE, plain[..., None]),
        "ragged": (REFUSE, [[1.0, 2.0], [1.0]]),
        "records": (REFUSE, np.zeros(len(plain), [("a", float), ("b", float)])),
        "a dict": (REFUSE, {"a": 1}),
        "huge longdouble": (REFUSE, plain.astype(np.longdouble) * np.longdouble("1e4000")),
        "fortran": (SAME, np.asfortranarray(plain)),
        "backwards": (SAME, backwards[tuple([slice(None, None, -1)] * plain.ndim)]),
        "read only": (SAME, locked),
        "big endian": (SAME, plain.astype(">f8")),
        "list": (SAME, plain.tolist()),
        "objects": (ANY, plain.astype(object)),
        "half": (ANY, plain.astype(np.float16)),
        "single": (ANY, plain.astype(np.float32)),
        "bytes": (ANY, np.clip(whole, -128, 127).astype(np.int8)),
        "unsigned": (ANY, np.abs(whole).astype(np.uint8)),
        "boolean": (ANY, plain > 0),
        "one": (ANY, plain[:1]),
        "two": (ANY, plain[:2]),
        "all alike": (ANY, np.ones_like(plain)),
        "all zero": (ANY, np.zeros_like(plain)),
        "pairs alike": (ANY, np.repeat(plain[: len(plain) // 2], 2, axis=0)),
        "far away": (ANY, plain + 1e9),
        "farther away": (ANY, plain + 1e15),
    }
    cases |= {f"times 1e{e:+d}": (ANY, plain * 2.0 ** round(e / np.log10(2)))
              for e in (-323, -300, -150, -77, -40, -20, 20, 40, 77, 150, 300)}  # fmt: skip
    for name, value in (("1e308", 1.7e308), ("-1e308", -1.7e308), ("1e150", 1e150), ("1e40", 1e40)):
        changed = plain.copy()
        changed.flat[3] = value
        cases[name] = (ANY, changed)
    return cases


COUNTS: dict[str, Case] = {
    repr(value): (REFUSE, value)
    for value in (0, -1, 1.5, 3.0, True, None, "3", float("nan"), 2**70, 1j, [3], np.float64(3), ())
} | {"whole of NumPy": (SAME, np.int8(3)), "all": (ANY, N), "one more": (REFUSE, N + 1)}
LENGTHS: dict[str, Case] = {
    repr(value): (REFUSE, value)
    for value in (-1, -1e-300, None, "3", True, float("nan"), -float("inf"), 1j, [3], (), -0.5)
} | {repr(v): (ANY, v) for v in (0, 0.0, 5e-324, 1e-200, 1e200, 1.7e308, float("inf"), 10**400)}


class Call:
    """Something to ask by name, and the arguments that are to be spoilt one at a time."""

    def __init__(self, name: str, run: Callable[..., Outputs], **arguments: Any) -> None:
        self.name, self.run = name, run
        self.tables = {n: a for n, a in arguments.items() if isinstance(a, tuple)}
        self.plain = {n: a[0] if isinstance(a, tuple) else a for n, a in arguments.items()}
        self.known: Outputs | None = None

    def tries(self) -> Iterator[Try]:
        """Yield a try for each argument in each disguise."""
        for argument, (_, table) in self.tables.items():
            for case, (expected, value) in table.items():
                name = f"{self.name}, {argument} {case}"
                yield Try(name, self._trying(argument, expected, value))

    def _trying(self, argument: str, expected: str, value: Any) -> Callable[[], str]:
        def run() -> str:
            try:
                found = self.run(**(self.plain | {argument: value}))
            except ValueError:
                if expected == SAME:
                    raise
                return "refused"
            except RuntimeError as error:
                if "SDML" in str(error):
                    return "refused by another library's RuntimeError"
                if "found fewer than k" in str(error):
                    return "refused by a graph's RuntimeError"
                raise
            except TypeError as error:
                if is_scikit_learns(error):
                    return "refused by scikit-learn's TypeError"
                raise
            if expected == REFUSE:
                raise Wrong("taken for numbers")
            return self._judge(expected, found)

        return run

    def _judge(self, expected: str, found: Outputs) -> str:
        for output in found:
            values = np.asarray(output)
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise Wrong("results that are not finite")
        if expected == SAME:
            if self.known is None:
                self.known = self.run(**self.plain)
            # Another order in memory may sum in another order.
            if not all(map(_alike, found, self.known)):
                raise Wrong("other results")
        return "right"


def _alike(found: Any, known: Any) -> bool:
    return np.shape(found) == np.shape(known) and np.allclose(found, known, rtol=1e-5, atol=1e-5)


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield all tries once, in random order."""
    tries = [attempt for call in calls() for attempt in call.tries()]
    return (tries[number] for number in random.permutation(len(tries)))


def calls() -> Iterator[Call]:
    """Yield all calls."""
    from tests.fuzz import _preparations, _searches, _tuples

    yield from _searches.calls()
    yield from _tuples.calls()
    yield from _preparations.calls()
    try:
        from tests.fuzz import _losses
    except ImportError:  # without torch there are none
        return
    yield from _losses.calls()
