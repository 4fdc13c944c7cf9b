"""The record of how the regression function f, and with it its gradient, is estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


# Equal only to itself: a step may be an array.
@dataclass(frozen=True, eq=False)
class Smoother:
    """How f, and so its gradient, is estimated.

    Attributes
    ----------
    estimator : "analytic", "difference", "local-linear" or "kernel-ridge"
    bandwidth : float
        h; for "local-linear" only the unit of length, unless ``n_local`` is None.
    kernel : str
    step : float or ndarray of shape (d,) or (d, C), or None
        t of the difference estimator; None is h/2.
    indicator : str
    confidence : float
    n_local : int or None
        Neighbours of a local linear fit; None takes all within h.
    ridge : float
        Of a local linear fit, in mean variances of its neighbours; of kernel ridge regression,
        as it is.
    temperature : float or None
        Of the softmax over classes of a smoother; None leaves it out.
    power : float
        Of the eigenvalues, when the metric is made.
    diagonal : bool
        Whether the metric is made of the diagonal of the matrix alone.
    """

    estimator: str
    bandwidth: float
    kernel: str = "gaussian"
    step: Any = None
    indicator: str = "practical"
    confidence: float = 0.05
    n_local: int | None = None
    ridge: float = 0.1
    temperature: float | None = None
    power: float = 1.0
    diagonal: bool = False

    def describe(self) -> str:
        """Return it in a few words."""
        if self.n_local is not None:
            how = f"{self.n_local} neighbours, ridge {self.ridge:g}"
        elif self.estimator == "kernel-ridge":
            how = f"bandwidth {self.bandwidth:.4g}, ridge {self.ridge:g}"
        else:
            how = f"bandwidth {self.bandwidth:.4g}"
        kind = ", diagonal" if self.diagonal else ""
        return f"{self.estimator}, {how}, power {self.power:g}{kind}"
