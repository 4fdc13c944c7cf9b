"""From values to positions on paper, and the round numbers written along an axis."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """An affine (or logarithmic) map of [low, high] onto [start, end]."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = 0.5 if high == low else (at - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)


@dataclass(frozen=True)
class Tick:
    """A position along an axis and what is written there (nothing where labels would collide)."""

    at: float
    label: str


def round_steps(low: float, high: float, n: int) -> list[float]:
    """About ``n`` multiples of 1, 2 or 5 times a power of ten that cover [low, high]."""
    span = high - low if high > low else abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / n))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= span / n * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, max(last, first + 1) + 1)]
