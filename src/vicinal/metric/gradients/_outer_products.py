"""GW, EGOP and EJOP: metrics from the gradients of an estimated regression function."""

from __future__ import annotations

from typing import Any

from sklearn.utils import ClassifierTags, Tags

from vicinal._types import AnyArray
from vicinal.rows import Target, read_target

from ._base import GradientMetric
from ._spectrum import MetricKind
from ._targets import is_multiclass, real_target

_SHARED = """
    Parameters
    ----------
    estimator : {"auto", "analytic", "difference", "local-linear", "kernel-ridge"}, default="auto"
        How gradients are estimated: "analytic" is the exact gradient of a Gaussian kernel
        estimate (fastest), "difference" its differences over a step, "local-linear" the slope of
        local linear regression (slower, and mostly better), "kernel-ridge" the gradient of kernel
        ridge regression (best where rows are few and noisy; of more than 5000 rows it uses 5000).
        "auto" lets cross-validation choose between the first, the third and the last.
    bandwidth : float, "rule" or None
        h, in the units of X. None chooses it (for "local-linear", the number of neighbours and
        the ridge) by two-fold cross-validation of the k-NN prediction; "rule" takes a fixed share
        of the median distance between rows. A number makes "local-linear" use all rows within h.
    n_iter : int or None
        Later iterations measure distances by the metric of the one before. Where settings are
        chosen this is the most there may be, None being 8: there are as many as let the error
        fall by more than its standard error. Else None is 1.
    n_components : int, "auto" or None
        Keep only this many leading eigenvectors, at most one a feature. "auto" keeps those that
        stand out: where further eigenvalues are small and their eigenvectors differ between
        resamples of the points (the ladle of Luo and Li, 2016).
    power : float or None
        q: the map is D^{q/2}Vᵀ. 1 is the source's; None chooses it with the bandwidth, and is 1
        where nothing is cross-validated.
    n_neighbors : int, default=7
        k of the prediction that cross-validation looks at.
    n_evaluations : int, "auto" or None
        At how many random rows gradients are estimated: "auto" is at most 10,000, fewer where
        local linear fits, or regressions of many classes, are costly; None is all.
    smoothing : Smoothing or None
        What estimators can be told besides: kernel, step, neighbours, ridge, softmax.
    store_gradients : bool, default=False
        Keep ``gradients_``, which the intervals need.
    local : bool, default=False
        Let k-NN predictors with ``index="exact"`` take ten candidates a neighbour and rank them
        again by the mean of this metric and the outer products of the gradients at the query and
        at the candidate. Not for GradientWeights.
    diagonal : bool or None
        Whether the metric is made of the diagonal of the matrix alone, a weight a feature, which is
        best where few of many columns matter. None chooses by cross-validation with the rest;
        False keeps the metric free of the axes. GradientWeights is diagonal in any case.
    random_state : int, RandomState or None
    block_size : int or None
        Evaluation points at a time: bounds memory. Default 256.
    n_jobs : int or None
        Threads; None takes as many as the linear algebra library is set to use.
    verbose : int, default=0
        1 prints what cross-validation chose.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        D^{q/2}Vᵀ, scaled to mean eigenvalue 1; of each row the largest entry is positive.
    outer_product_ : ndarray of shape (n_features, n_features)
        The matrix itself, in units of y² / x² (GW: y / x).
    eigenvalues_ : ndarray of shape (n_features,)
        Its eigenvalues, descending.
    feature_relevance_ : ndarray of shape (n_features,)
        Each feature's share in the squared distance of the rows ``fit`` saw: M_jj times its
        variance, summing to 1.
    gradients_ : ndarray of shape (n_evaluations, n_features) or (…, n_features, C)
        With ``store_gradients`` only.
    bandwidth_, estimator_, n_local_, ridge_, power_ : what was used in the last iteration
    n_iter_ : int
    n_evaluations_ : int
"""

_ESTIMATES = """
    By default the gradient is not the source's difference of a kernel estimate but what
    cross-validation prefers of three: the analytic one, that of local linear fits and that of
    kernel ridge regression, estimated again in the metric just found while that helps.
    ``estimator="difference"`` with ``n_iter=1``, ``power=1`` and ``diagonal=False`` is the
    source's, with a step for all features, for each, or for each feature and class
    (``smoothing=Smoothing(step=t)``). Its theorem asks for a kernel of bounded support, such as
    Smoothing("triangle"); the Gaussian, which is the default, is not. The ``temperature`` of the
    softmax counts where there is a column a class and "analytic" or "difference" estimates; local
    linear fits and kernel ridge regression are differentiated as they are.
"""


def _shared_docstring(cls: type) -> type:
    """Fill in what all three share: parameters, and how gradients are estimated."""
    doc = (cls.__doc__ or "").replace("\n    {shared}\n", _SHARED)
    cls.__doc__ = doc.replace("\n    {estimates}\n", _ESTIMATES)
    return cls


@_shared_docstring
class EGOP(GradientMetric):
    """Expected gradient outer product: a metric for a real target or two classes.

        M = E_n[∇̂f(x) ∇̂f(x)ᵀ] = V D Vᵀ,   x ↦ D^{1/2}Vᵀx

    Directions along which the estimated regression function f changes much count much; those
    along which it does not change count nothing.

    {shared}

    Notes
    -----
    {estimates}
    Two classes are the numbers 0 and 1, of which no softmax is taken.

    Time O(m n d) for m evaluation points and n rows by the analytic gradient, at the speed of a
    matrix product; memory O(block_size · d) beside one scaled float32 copy of X. The metric is
    scaled to mean eigenvalue 1.

    References
    ----------
    Trivedi, Wang, Kpotufe and Shakhnarovich, "A consistent estimator of the expected gradient
    outerproduct", UAI 2014 [trivedi2014egop]; Mukherjee and Wu, "Estimation of gradients and
    coordinate covariation in classification", JMLR 2006 [mukherjee2006]; Wu, Guinney, Maggioni and
    Mukherjee, "Learning gradients: predictive models that infer geometry and statistical
    dependence", JMLR 2010 [wu2010].

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import EGOP
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> metric = EGOP(random_state=0).fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> bool(metric.feature_relevance_[:2].sum() > 0.9)
    True
    """

    _kind = MetricKind()

    def _take_target(self, target: Target | None) -> Target | None:
        return real_target(target)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Says to scikit-learn's checks, and to users, that three classes are too many.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


@_shared_docstring
class EJOP(GradientMetric):
    """Expected Jacobian outer product: a metric for any number of classes.

        M = E_n[Ĵ(x) Ĵ(x)ᵀ] = V D Vᵀ,   x ↦ D^{1/2}Vᵀx

    with Ĵ (d × C) the Jacobian of the estimated class probabilities.

    {shared}
    classes_ : ndarray of shape (C,)

    Notes
    -----
    {estimates}
    Time O(m n d) by the analytic gradient, whatever the number of classes: rows are sorted by
    class, so that one product serves all. Memory O(block_size · C d) beside one scaled float32
    copy of X. The metric is scaled to mean eigenvalue 1.

    References
    ----------
    Trivedi, "Discriminative learning of similarity and group equivariant representations", 2018,
    the chapter on the expected Jacobian outer product [trivedi2018].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from vicinal import EJOP, KNNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> model = KNNClassifier(n_neighbors=3, metric=EJOP(random_state=0))
    >>> bool(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9)
    True
    """

    classes_: AnyArray
    _task = "classification"
    _kind = MetricKind()


@_shared_docstring
class GradientWeights(GradientMetric):
    """Gradient weights (GW): one weight a feature, for a real target or any classes.

        M = diag(E_n|∂̂f/∂x_i|),   x ↦ M^{1/2}x

    With classes, the sum over the columns of the Jacobian. Words and at most 100 different whole
    numbers, written as integers or as floats, are classes; all else is a quantity.

    {shared}

    Notes
    -----
    {estimates}
    Time and memory as of :class:`EGOP`.

    References
    ----------
    Kpotufe, Boularias, Schultz and Kim, "Gradients weights improve regression and classification",
    JMLR 2016 [kpotufe2016].

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import GradientWeights
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> metric = GradientWeights(random_state=0).fit(X, np.sin(2 * X[:, 3]))
    >>> int(metric.feature_relevance_.argmax())
    3
    """

    _kind = MetricKind(diagonal=True, powers=(1.0, 2.0))

    def _take_target(self, target: Target | None) -> Target | None:
        return target.present() if is_multiclass(target) else real_target(target)  # type: ignore[union-attr]


def gradient_metric(y: Any, **parameters: Any) -> GradientMetric:
    """Return the metric for a target: EJOP for more than two classes, else EGOP.

    What is a class is read as everywhere: words, and at most 100 different whole numbers, written
    as integers or as floats.

    Examples
    --------
    >>> from vicinal import gradient_metric
    >>> gradient_metric(["a", "b", "c"], n_components=2)
    EJOP(n_components=2)
    """
    return EJOP(**parameters) if is_multiclass(read_target(y)) else EGOP(**parameters)
