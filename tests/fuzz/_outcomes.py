"""One hostile try: what was tried, and what may come of it.

A try returns a word for what happened ("refused", "right", ...) or raises: whatever it raises is a
find, but for :class:`ValueError` where the try expects the input to be refused.
"""

from __future__ import annotations

import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

# CPU-seconds for one try: a fit of these few rows takes a fraction of one, but kernels may have
# to be compiled first.
PATIENCE = 90


@dataclass(frozen=True)
class Try:
    """A hostile try by name."""

    name: str
    run: Callable[[], str]


@dataclass
class Tally:
    """What came of the tries."""

    outcomes: Counter[str] = field(default_factory=Counter)
    finds: list[str] = field(default_factory=list)
    complete: bool = True


class TooSlow(Exception):
    """A try took longer than any of them should."""


class Wrong(Exception):
    """A result that is neither right nor refused."""


def run_tries(tries: Iterable[Try], seconds: float) -> Tally:
    """Run tries one after another until none is left or the time is over."""
    tally, end = Tally(), monotonic() + seconds
    for attempt in tries:
        if monotonic() > end:
            tally.complete = False
            break
        try:
            with _patience(), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", RuntimeWarning)
                outcome = attempt.run()
            # Convergence and the like may be told; numbers that overflowed are no result.
            if told and not outcome.startswith("refused"):
                raise Wrong(f"{told[0].message} at {told[0].filename}:{told[0].lineno}")
            tally.outcomes[outcome] += 1
        except Exception as error:
            tally.outcomes["FOUND"] += 1
            text = " ".join(str(error).split())[:200]
            tally.finds.append(f"{attempt.name}: {type(error).__name__}: {text}")
    return tally


@contextmanager
def _patience() -> Iterator[None]:
    def give_up(number: int, frame: object) -> None:
        raise TooSlow(f"more than {PATIENCE} CPU-s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
