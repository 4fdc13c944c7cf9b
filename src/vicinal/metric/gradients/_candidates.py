"""Which smoothers are tried for a table, which one by rule, and what each costs."""

from __future__ import annotations

from dataclasses import replace

from ._kernel_ridge import MOST_ROWS
from ._options import GradientOptions
from ._smoother import Smoother

# Bandwidths tried, in units of the median distance between rows.
GAUSSIAN_RATIOS = (0.1, 0.15, 0.25, 0.4, 0.6)
COMPACT_RATIOS = (0.5, 0.65, 0.8, 1.0, 1.25)
GAUSSIAN_RULE, COMPACT_RULE = 0.25, 0.8
RIDGES = (0.1, 0.3, 1.0)
# The same for kernel ridge regression, whose ridge is the variance of the noise in that of f.
SOLVED_RATIOS, SOLVED_RIDGES = (0.5, 1.0, 2.0, 4.0), (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SOLVED_RULE, SOLVED_RIDGE = 1.0, 0.1
STEP_RATIOS = (0.25, 1.0)
# Up to this many features fits are cheap enough to try more neighbours.
_FEW_FEATURES = 40
# Neighbours of a local linear fit at most, but for all rows where there are few.
_MOST_LOCAL = 500
# Multiplications of a local linear fit that cost as much as one of a further column does.
_OF_COLUMNS = 4


def smoothers_to_try(
    options: GradientOptions, median: float, n_rows: int, n_features: int
) -> list[Smoother]:
    """Return the smoothers cross-validation chooses from; one where nothing is left to choose."""
    base = replace(options.smoother, power=options.power or 1.0)
    if options.bandwidth is None:
        return candidates(base, median, n_rows, n_features, options.ridge)
    if isinstance(options.bandwidth, str):
        return [rule_of_thumb(base, median, n_rows, n_features, options.ridge)]
    kernel = local_kernel(base.kernel) if base.estimator == "local-linear" else base.kernel
    ridge = options.ridge or base.ridge
    return [replace(base, bandwidth=options.bandwidth, kernel=kernel, ridge=ridge)]


def candidates(
    base: Smoother,
    median: float,
    n_rows: int,
    n_features: int,
    ridge: float | None = None,
) -> list[Smoother]:
    """Return the smoothers cross-validation tries for an estimator, or for three with "auto".

    What ``base`` already says (``n_local``, ``step``) and a given ``ridge`` stay as they are.
    Kernel ridge regression solves for a sample where there are many rows.
    """
    if base.estimator == "auto":
        kinds = [
            replace(base, estimator="analytic", kernel="gaussian"),
            replace(base, estimator="local-linear"),
        ]
        kinds.append(replace(base, estimator="kernel-ridge", kernel="gaussian"))
        lists = [candidates(kind, median, n_rows, n_features, ridge) for kind in kinds]
        return [smoother for smoothers in lists for smoother in smoothers]
    if base.estimator == "local-linear":
        local = replace(base, bandwidth=median, kernel=local_kernel(base.kernel))
        counts = (base.n_local,) if base.n_local else local_neighbours(n_rows, n_features)
        ridges = RIDGES if ridge is None else (ridge,)
        return [replace(local, n_local=k, ridge=r) for k in counts for r in ridges]
    if base.estimator == "kernel-ridge":
        solved = [replace(base, bandwidth=ratio * median) for ratio in SOLVED_RATIOS]
        return [replace(s, ridge=r) for s in solved for r in ([ridge] if ridge else SOLVED_RIDGES)]
    ratios = GAUSSIAN_RATIOS if base.kernel == "gaussian" else COMPACT_RATIOS
    smoothers = [replace(base, bandwidth=ratio * median) for ratio in ratios]
    if base.estimator == "analytic" or base.step is not None:
        return smoothers
    return [replace(s, step=ratio * s.bandwidth) for s in smoothers for ratio in STEP_RATIOS]


def rule_of_thumb(
    base: Smoother, median: float, n_rows: int, n_features: int, ridge: float | None = None
) -> Smoother:
    """Return the smoother of the rule of thumb."""
    if base.estimator in ("auto", "local-linear"):
        local = replace(base, estimator="local-linear")
        return candidates(local, median, n_rows, n_features, ridge or RIDGES[0])[0]
    if base.estimator == "kernel-ridge":
        return replace(base, bandwidth=SOLVED_RULE * median, ridge=ridge or SOLVED_RIDGE)
    rule = GAUSSIAN_RULE if base.kernel == "gaussian" else COMPACT_RULE
    return replace(base, bandwidth=rule * median)


def widest(smoother: Smoother, median: float, n_rows: int) -> Smoother:
    """Return a smoother that looks as far as makes sense: for targets constant nearby."""
    if smoother.n_local is not None:
        return replace(smoother, n_local=n_rows)
    return replace(smoother, bandwidth=median * (1 if smoother.kernel == "gaussian" else 2))


def local_kernel(kernel: str) -> str:
    """Return the kernel that weighs neighbours: a compact one."""
    return "epanechnikov" if kernel == "gaussian" else kernel


def nothing_near(smoother: Smoother, median: float) -> ValueError:
    """Return the error for a bandwidth too small for any gradient, with a better one."""
    if smoother.estimator == "difference" and smoother.indicator == "theoretical":
        return ValueError(
            f"no point has as many rows within half of bandwidth={smoother.bandwidth:g} as the "
            "theoretical indicator asks for; use indicator='practical', more rows, fewer features "
            "or a larger bandwidth."
        )
    ratio = GAUSSIAN_RULE if smoother.kernel == "gaussian" else COMPACT_RULE
    return ValueError(
        f"no gradient could be estimated with bandwidth={smoother.bandwidth:g}: hardly any two "
        f"rows that near differ in y. The median distance between rows is {median:.4g}; try "
        f"bandwidth={ratio * median:.4g}, or None to have it chosen by cross-validation."
    )


def local_neighbours(n_rows: int, n_features: int) -> tuple[int, ...]:
    """Return how many neighbours local linear fits may take: 2d, 5d, and 10d if that is few.

    A number that takes in all rows of a half, where it is tried, takes in all rows of the whole: a
    fit to all rows is another thing than one to some of them.
    """
    multiples = (2, 5, 10) if n_features <= _FEW_FEATURES else (2, 5)
    counts = {min(max(multiple * n_features, 10), _MOST_LOCAL) for multiple in multiples}
    return tuple(sorted({n_rows if count >= n_rows // 2 else count for count in counts}))


def affordable_points(
    smoother: Smoother, shape: tuple[int, int, int], budget: float, least: int
) -> int:
    """Return at how many points gradients can be had for a budget; ``shape`` is (n, d, C).

    The cost of a point, roughly, are the multiplications beyond the analytic gradient's: a local
    linear fit takes a solve, kernel ridge regression a product for every column of f.
    """
    n_rows, n_features, n_columns = shape
    cost = 0.0
    if smoother.estimator == "kernel-ridge":
        cost = _OF_COLUMNS * float(min(n_rows, MOST_ROWS)) * n_features * (n_columns - 1)
    elif smoother.estimator == "local-linear" and smoother.n_local is not None:
        cost = float(smoother.n_local) * n_features * min(smoother.n_local, n_features)
    return n_rows if cost == 0 else min(n_rows, max(least, int(budget / cost)))
