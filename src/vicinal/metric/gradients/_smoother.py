"""How the regression function f, and with it its gradient, is estimated: as asked, and as used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator


class Smoothing(BaseEstimator):
    """What the estimators of a gradient metric can be told beside their bandwidth.

    Parameters
    ----------
    kernel : {"gaussian", "triangle", "epanechnikov", "biweight"}, default="gaussian"
        "analytic" needs the Gaussian; "local-linear" turns it into Epanechnikov's.
    step : float, array of shape (d,) or (d, C), or None
        t of the difference estimator, for all, for each feature, or for each feature and class.
        None chooses it with the bandwidth, or takes h/2.
    indicator : {"practical", "theoretical", "none"}, default="practical"
        When a difference counts: both balls B(x ± t e_i, h) hold a sample; both of radius h/2
        hold 2d ln 2n + ln(4/δ) of them; always.
    confidence : float, default=0.05
        δ of the theoretical indicator.
    n_local : int or None
        Neighbours of a local linear fit; None chooses between 2d and 10d.
    ridge : float or None
        Ridge of a local linear fit, in mean variances of its neighbours, or λ of kernel ridge
        regression, the variance of the noise over that of f; None chooses.
    temperature : float or None, default=1.0
        T of the softmax over class probabilities of "analytic" and "difference"; None leaves the
        softmax out.

    Examples
    --------
    >>> from vicinal import EGOP, Smoothing
    >>> metric = EGOP("difference", smoothing=Smoothing("triangle", step=0.1))
    >>> metric.get_params()["smoothing__step"]
    0.1
    """

    def __init__(
        self,
        kernel: str = "gaussian",
        *,
        step: Any = None,
        indicator: str = "practical",
        confidence: float = 0.05,
        n_local: int | None = None,
        ridge: float | None = None,
        temperature: float | None = 1.0,
    ) -> None:
        self.kernel = kernel
        self.step = step
        self.indicator = indicator
        self.confidence = confidence
        self.n_local = n_local
        self.ridge = ridge
        self.temperature = temperature


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
