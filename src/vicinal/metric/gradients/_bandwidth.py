"""The bandwidth and its kin, by rule or by cross-validation of the predictor they serve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex
from vicinal.metric.gradients._estimate import (
    Setting,
    evaluate_together,
    make_reference,
)
from vicinal.metric.gradients._kernel_ridge import MOST_ROWS, leave_one_out_errors
from vicinal.metric.gradients._smoothing import Targets
from vicinal.metric.gradients._sums import GradientSums

# Bandwidths tried, in units of the median distance between rows.
GAUSSIAN_RATIOS = (0.1, 0.15, 0.25, 0.4, 0.6)
COMPACT_RATIOS = (0.5, 0.65, 0.8, 1.0, 1.25)
GAUSSIAN_RULE, COMPACT_RULE = 0.25, 0.8
RIDGES = (0.1, 0.3, 1.0)
# The same for kernel ridge regression, whose ridge is the variance of the noise in that of f.
SOLVED_RATIOS, SOLVED_RIDGES = (0.5, 1.0, 2.0, 4.0), (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SOLVED_RULE, SOLVED_RIDGE = 1.0, 0.1
STEP_RATIOS = (0.25, 1.0)
# Rows cross-validation looks at, and the fewest it makes sense with.
CV_ROWS, CV_LEAST = 3000, 24
_MEDIAN_ROWS = 1000
# Mean squared change of f over a bandwidth, in variances of y, below which nothing was near.
_NOTHING_NEAR = 1e-12

# Up to this many features fits are cheap enough to try more neighbours.
_FEW_FEATURES = 40
# Share of the error by which the best of a dozen estimates may look better than it is.
_BY_CHANCE = 0.02
# Ridge gradients are estimated with, in that of least error: what smooths values well smooths the
# slopes of noisy targets away.
_LESS_SMOOTH = 0.3
# Share of the error by which it may look worse: halves want more smoothing than the whole does.
_OF_HALVES = 0.01
# Share of the error a further iteration must save.
_WORTH_AN_ITERATION = 0.01
# Rows of a half at which kernel ridge regressions are compared.
_COMPARED_ROWS = 1000
# Multiplications gradients of one half may take.
_HALF_BUDGET, _HALF_LEAST = 1e10, 200
# Multiplications of a local linear fit that cost as much as one of a further column does.
_OF_COLUMNS = 4

Metric = Callable[[GradientSums, float], FloatArray]


def distinct_rows(
    X: AnyArray, targets: Targets, weights: FloatArray, random: np.random.RandomState
) -> IntArray:
    """Return at most CV_ROWS random rows with weight, of equal ones the first, in a fixed order.

    A row that is repeated counts once here, so that giving it twice and weighing it twice choose
    the same setting, and no row is predicted from its own copy.
    """
    rows = np.flatnonzero(weights > 0)
    if len(rows) > CV_ROWS:
        rows = np.sort(random.permutation(rows)[:CV_ROWS])
    # By target first: a rotation of the features then leaves the order, and so the halves, alone.
    facts = np.column_stack([targets.codes[rows], targets.values[rows], X[rows]])
    first = np.unique(facts, axis=0, return_index=True)[1]
    chosen: IntArray = rows[first]
    return chosen


def probe_rows(X: AnyArray, rows: IntArray, random: np.random.RandomState) -> FloatArray:
    """Return at most 1000 of the rows, centred, for :func:`median_distance`."""
    if len(rows) > _MEDIAN_ROWS:
        rows = np.sort(random.permutation(rows)[:_MEDIAN_ROWS])
    chosen = np.asarray(X[rows], np.float64)
    return chosen - chosen.mean(axis=0)


def median_distance(probe: FloatArray, components: FloatArray | None = None) -> float:
    """Return the median distance between rows, measured by ``components``.

    Where most rows are equal it is 0 and the root mean square distance is returned instead.
    """
    rows = probe if components is None else probe @ components.T
    # Rows of any size: squares of 1e200 must not overflow.
    size = float(np.abs(rows).max())
    if size == 0 or len(rows) < 2:
        return 0.0
    rows = rows / size
    norms = np.einsum("ij,ij->i", rows, rows)
    squared = np.maximum(norms[:, None] + norms - 2 * rows @ rows.T, 0)
    pairs = squared[np.triu_indices(len(rows), 1)]
    middle = float(np.median(pairs))
    return size * float(np.sqrt(middle if middle > 1e-24 else pairs.mean()))


def keep_scale(components: FloatArray, probe: FloatArray, median: float) -> FloatArray:
    """Return the metric scaled to the given median distance, so that bandwidths stay valid."""
    after = median_distance(probe, components)
    return components * (median / after) if after > 0 else components


def local_neighbours(n_rows: int, n_features: int) -> tuple[int, ...]:
    """Return how many neighbours local linear fits may take: 2d, 5d, and 10d if that is few."""
    most = max(2, min(n_rows // 2, 500))
    multiples = (2, 5, 10) if n_features <= _FEW_FEATURES else (2, 5)
    counts = {min(max(multiple * n_features, 10), most) for multiple in multiples}
    return tuple(sorted(counts))


@dataclass(frozen=True)
class Halves:
    """The data a setting is chosen on: each half predicted from the other."""

    X: AnyArray
    targets: Targets
    folds: tuple[tuple[IntArray, IntArray], ...]
    n_neighbors: int
    n_threads: int = 1


def split_halves(
    X: AnyArray,
    targets: Targets,
    rows: IntArray,
    n_neighbors: int,
    random: np.random.RandomState,
    n_threads: int = 1,
) -> Halves:
    """Return two random halves of the given rows."""
    rows = random.permutation(rows)
    first, second = rows[::2], rows[1::2]
    return Halves(X, targets, ((first, second), (second, first)), n_neighbors, n_threads)


def prediction_error(components: FloatArray, halves: Halves, fold: int) -> float:
    """Return the k-NN mean squared error of one half predicted from the other.

    For classes it is the Brier score of the neighbours' shares, which tells metrics apart
    where the counts of wrong votes tie.
    """
    train, test = halves.folds[fold]
    rows = [np.asarray(halves.X[part], np.float64) @ components.T for part in (train, test)]
    k = min(halves.n_neighbors, len(train))
    _, indices = ExactIndex(rows[0], n_jobs=halves.n_threads).query(rows[1], k)
    columns = halves.targets.columns()
    errors = (columns[train][indices].mean(axis=1) - columns[test]) ** 2
    return float(errors.sum(axis=1).mean())


def half_sums(
    halves: Halves, fold: int, settings: Sequence[Setting], components: FloatArray | None
) -> list[GradientSums]:
    """Return the sums of each setting on the training half, sharing work where settings can."""
    train, _ = halves.folds[fold]
    X, targets = halves.X[train], halves.targets.take(train)
    found: dict[Setting, GradientSums] = {}
    for family in families(settings):
        reference = make_reference(X, targets, family[0], components=components)
        shape = (*X.shape, targets.n_columns)
        points = X[: affordable_points(family[0], shape, _HALF_BUDGET, _HALF_LEAST)]
        sums = evaluate_together(points, reference, family, n_threads=halves.n_threads)
        found.update(zip(family, sums, strict=True))
    return [found[setting] for setting in settings]


def families(settings: Sequence[Setting]) -> list[list[Setting]]:
    """Return the settings in groups whose gradients can be estimated together."""
    groups: dict[Any, list[Setting]] = {}
    for setting in settings:
        shared = {"analytic": ("analytic",), "local-linear": ("local-linear", setting.n_local)}
        groups.setdefault(shared.get(setting.estimator, setting), []).append(setting)
    return list(groups.values())


def point_cost(setting: Setting, n_rows: int, n_features: int, n_columns: int) -> float:
    """Return roughly how many multiplications the gradients at a point take beyond the analytic's.

    A local linear fit takes a solve; kernel ridge regression a product for every column of f.
    """
    if setting.estimator == "kernel-ridge":
        return _OF_COLUMNS * float(min(n_rows, MOST_ROWS)) * n_features * (n_columns - 1)
    if setting.estimator != "local-linear" or setting.n_local is None:
        return 0.0
    return float(setting.n_local) * n_features * min(setting.n_local, n_features)


def affordable_points(
    setting: Setting, shape: tuple[int, int, int], budget: float, least: int
) -> int:
    """Return at how many points gradients can be had for a budget; ``shape`` is (n, d, C)."""
    cost = point_cost(setting, *shape)
    return shape[0] if cost == 0 else min(shape[0], max(least, int(budget / cost)))


def choose_path(
    halves: Halves,
    settings: Sequence[Setting],
    powers: Sequence[float],
    n_iter: int,
    metric: Metric,
    report: Callable[[str], None] = lambda line: None,
) -> list[Setting]:
    """Return the setting of each iteration, at most ``n_iter``, by two-fold cross-validation.

    Every iteration takes the setting and power whose metrics, each learned on one half, predict
    the other half best, and the next starts from those; of kernel ridge regressions only the one
    of least leave-one-out error and a less smooth one compete. The path ends where the error came
    within a hundredth of the least.
    """
    starts: list[FloatArray | None] = [None] * len(halves.folds)
    path: list[Setting] = []
    errors: list[float] = []
    for iteration in range(n_iter):
        rivals = keep_two_regressions(halves, settings, starts)
        trials = [_try_all(halves, f, rivals, powers, s, metric) for f, s in enumerate(starts)]
        scores = np.mean([[error for error, _ in fold] for fold in trials], axis=0)
        best = preferred(scores, rivals, len(powers))
        if not np.isfinite(scores[best]):
            break
        setting, power = divmod(best, len(powers))
        path.append(replace(rivals[setting], power=powers[power]))
        errors.append(float(scores[best]))
        report(f"iteration {iteration + 1}: {describe(path[-1])}, error {errors[-1]:.4g}")
        starts = [fold[best][1] for fold in trials]
        if len(errors) - int(np.argmin(errors)) > 2:
            break
    if not errors:
        return [settings[-1]]
    # Least of several noisy errors is too low by chance: a hundredth is no reason to go on.
    enough = np.array(errors) <= (1 + _WORTH_AN_ITERATION) * min(errors)
    return path[: int(np.argmax(enough)) + 1]


def preferred(scores: FloatArray, settings: Sequence[Setting], n_powers: int) -> int:
    """Return the place of the least score; of a regression's, if hardly higher.

    The least of many noisy errors is low by chance; regressions were not picked by them. Of these
    the last, the less smooth one, is taken if hardly worse.
    """
    # Of equally good settings the last, which looks farthest.
    best = len(scores) - 1 - int(np.argmin(scores[::-1]))
    table = scores.reshape(len(settings), n_powers)
    solved = [i for i, setting in enumerate(settings) if setting.estimator == "kernel-ridge"]
    if not solved:
        return best
    least = table[solved].min()
    if not least <= (1 + _BY_CHANCE) * scores[best]:
        return best
    regression = max(i for i in solved if table[i].min() <= (1 + _OF_HALVES) * least)
    return regression * n_powers + int(table[regression].argmin())


def keep_two_regressions(
    halves: Halves, settings: Sequence[Setting], starts: Sequence[FloatArray | None]
) -> list[Setting]:
    """Return the settings with, of kernel ridge regressions, only two, in the last places.

    The first is the one of least leave-one-out error, which tells bandwidths and ridges apart
    far better than the error of a k-NN prediction does; the second has less of its ridge.
    """
    regressions = [setting for setting in settings if setting.estimator == "kernel-ridge"]
    if len(regressions) < 2:
        return list(settings)
    bandwidths = sorted({setting.bandwidth for setting in regressions})
    ridges = sorted({setting.ridge for setting in regressions})
    errors = np.zeros((len(bandwidths), len(ridges)))
    for (train, _), start in zip(halves.folds, starts, strict=True):
        train = train[:_COMPARED_ROWS]
        rows = np.asarray(halves.X[train], np.float64)
        rows = rows if start is None else rows @ start.T
        columns = halves.targets.take(train).columns()
        centred = rows - rows.mean(axis=0)
        errors += leave_one_out_errors(centred, columns, bandwidths, ridges, halves.n_threads)
    b, r = np.unravel_index(int(errors.argmin()), errors.shape)
    best = replace(regressions[0], bandwidth=bandwidths[b], ridge=ridges[r])
    others = [setting for setting in settings if setting.estimator != "kernel-ridge"]
    if len(ridges) == 1:  # a given one stays
        return [*others, best]
    return [*others, best, replace(best, ridge=_LESS_SMOOTH * best.ridge)]


def _try_all(
    halves: Halves,
    fold: int,
    settings: Sequence[Setting],
    powers: Sequence[float],
    start: FloatArray | None,
    metric: Metric,
) -> list[tuple[float, FloatArray | None]]:
    """Return the error and the metric of every setting and power, learned on one half."""
    trials: list[tuple[float, FloatArray | None]] = []
    for setting, sums in zip(settings, half_sums(halves, fold, settings, start), strict=True):
        found = found_gradients(sums, halves.targets, setting)
        for power in powers:
            components = metric(sums, power) if found else None
            error = np.inf if components is None else prediction_error(components, halves, fold)
            trials.append((error, components))
    return trials


def found_gradients(sums: GradientSums, targets: Targets, setting: Setting) -> bool:
    """Return whether f changes at all within a bandwidth; else hardly any rows are that near."""
    change = np.trace(sums.mean_outer) * (setting.bandwidth / targets.scale) ** 2
    return bool(np.isfinite(change) and change > _NOTHING_NEAR)


def describe(setting: Setting) -> str:
    """Return a setting in a few words."""
    if setting.n_local is not None:
        how = f"{setting.n_local} neighbours, ridge {setting.ridge:g}"
    elif setting.estimator == "kernel-ridge":
        how = f"bandwidth {setting.bandwidth:.4g}, ridge {setting.ridge:g}"
    else:
        how = f"bandwidth {setting.bandwidth:.4g}"
    return f"{setting.estimator}, {how}, power {setting.power:g}"


def candidate_settings(
    base: Setting,
    median: float,
    n_rows: int,
    n_features: int,
    ridge: float | None = None,
) -> list[Setting]:
    """Return the settings cross-validation tries for an estimator, or for three with "auto".

    What ``base`` already says (``n_local``, ``step``) and a given ``ridge`` stay as they are.
    "auto" includes kernel ridge regression where all rows can be solved for.
    """
    if base.estimator == "auto":
        kinds = [
            replace(base, estimator="analytic", kernel="gaussian"),
            replace(base, estimator="local-linear"),
        ]
        if n_rows <= MOST_ROWS:
            kinds.append(replace(base, estimator="kernel-ridge", kernel="gaussian"))
        lists = [candidate_settings(kind, median, n_rows, n_features, ridge) for kind in kinds]
        return [setting for settings in lists for setting in settings]
    if base.estimator == "local-linear":
        local = replace(base, bandwidth=median, kernel=local_kernel(base.kernel))
        counts = (base.n_local,) if base.n_local else local_neighbours(n_rows, n_features)
        ridges = RIDGES if ridge is None else (ridge,)
        return [replace(local, n_local=k, ridge=r) for k in counts for r in ridges]
    if base.estimator == "kernel-ridge":
        solved = [replace(base, bandwidth=ratio * median) for ratio in SOLVED_RATIOS]
        return [replace(s, ridge=r) for s in solved for r in ([ridge] if ridge else SOLVED_RIDGES)]
    ratios = GAUSSIAN_RATIOS if base.kernel == "gaussian" else COMPACT_RATIOS
    settings = [replace(base, bandwidth=ratio * median) for ratio in ratios]
    if base.estimator == "analytic" or base.step is not None:
        return settings
    return [replace(s, step=ratio * s.bandwidth) for s in settings for ratio in STEP_RATIOS]


def rule_setting(
    base: Setting, median: float, n_rows: int, n_features: int, ridge: float | None = None
) -> Setting:
    """Return the setting of the rule of thumb."""
    if base.estimator in ("auto", "local-linear"):
        local = replace(base, estimator="local-linear")
        return candidate_settings(local, median, n_rows, n_features, ridge or RIDGES[0])[0]
    if base.estimator == "kernel-ridge":
        return replace(base, bandwidth=SOLVED_RULE * median, ridge=ridge or SOLVED_RIDGE)
    rule = GAUSSIAN_RULE if base.kernel == "gaussian" else COMPACT_RULE
    return replace(base, bandwidth=rule * median)


def widest_setting(setting: Setting, median: float, n_rows: int) -> Setting:
    """Return a setting that looks as far as makes sense: for targets constant nearby."""
    if setting.n_local is not None:
        return replace(setting, n_local=n_rows)
    return replace(setting, bandwidth=median * (1 if setting.kernel == "gaussian" else 2))


def local_kernel(kernel: str) -> str:
    """Return the kernel that weighs neighbours: a compact one."""
    return "epanechnikov" if kernel == "gaussian" else kernel


def nothing_near(setting: Setting, median: float) -> ValueError:
    """Return the error for a bandwidth too small for any gradient, with a better one."""
    if setting.estimator == "difference" and setting.indicator == "theoretical":
        return ValueError(
            f"no point has as many rows within half of bandwidth={setting.bandwidth:g} as the "
            "theoretical indicator asks for; use indicator='practical', more rows, fewer features "
            "or a larger bandwidth."
        )
    ratio = GAUSSIAN_RULE if setting.kernel == "gaussian" else COMPACT_RULE
    return ValueError(
        f"no gradient could be estimated with bandwidth={setting.bandwidth:g}: hardly any two "
        f"rows that near differ in y. The median distance between rows is {median:.4g}; try "
        f"bandwidth={ratio * median:.4g}, or None to have it chosen by cross-validation."
    )
