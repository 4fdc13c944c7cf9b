"""The finding in plain words, never saying more than the rows show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._numbers import (
    NBSP,
    count_of,
    format_error,
    format_error_pair,
    is_known,
    join_words,
    phrase_amount,
    phrase_cpu_seconds,
    phrase_p,
    shorten,
)
from ._records import EUCLIDEAN, Row, best_neighbors, best_row, same_error

if TYPE_CHECKING:
    from ._comparison import Comparison

SIGNIFICANCE = 0.05


def name_error(comparison: Comparison, k: int | None) -> str:
    """ "3-NN error", or "3-NN error (nMSE)" for regression."""
    measure = comparison.measure
    return f"{k}-NN {measure}" if measure.endswith("error") else f"{k}-NN error ({measure})"


def summarize(comparison: Comparison) -> str:
    """The finding: who is best, by how much, whether that is more than noise, at what cost."""
    rows = tuple(row for row in comparison.rows if not row.reference)
    dataset = shorten(comparison.dataset, 80)
    if not rows:
        return f"Nothing was measured on {dataset}."
    best = best_row(rows)
    if best is None:
        return _all_failed(rows, dataset)
    euclidean = [row for row in rows if row.method == EUCLIDEAN and row.measured]
    learned = [row for row in rows if row.method != EUCLIDEAN and row.measured]
    if not learned:
        return _only_euclidean(best, rows, comparison, dataset)
    if best.method == EUCLIDEAN:
        return _euclidean_wins(best, learned, comparison, dataset) + _misses(comparison, best)
    rival = best_row(euclidean)
    if rival is None:
        return _without_rival(best, comparison, dataset) + _misses(comparison, best)
    return _learned_wins(best, rival, comparison, dataset) + _misses(comparison, best, rival)


def _misses(comparison: Comparison, best: Row, rival: Row | None = None) -> str:
    """How far off answers are on average, in the target's own unit: what nMSE does not say."""
    miss = best.scores.get("mae")
    if comparison.task == "classification" or comparison.loss == "mae" or not is_known(miss):
        return ""
    sentence = f" Its answers are off by {phrase_amount(miss, comparison.unit)} on average"
    before = None if rival is None else rival.scores.get("mae")
    if not is_known(before):
        return f"{sentence}."
    return f"{sentence} instead of {phrase_amount(before, comparison.unit)}."


def _all_failed(rows: tuple[Row, ...], dataset: str) -> str:
    n_methods = len({row.method for row in rows})
    who = "The only method" if n_methods == 1 else f"All {n_methods} methods"
    return f"{who} failed on {dataset}; the table says why."


def _only_euclidean(best: Row, rows: tuple[Row, ...], comparison: Comparison, dataset: str) -> str:
    error = format_error(best.error_mean, comparison.task)
    tried = any(row.method != EUCLIDEAN for row in rows)
    rest = (
        "every learned metric failed, and the table says why"
        if tried
        else "no learned metric was compared"
    )
    has = f"has a {name_error(comparison, best.k)} of {error} on {dataset}"
    return f"Plain Euclidean distance {has}; {rest}."


def _without_rival(best: Row, comparison: Comparison, dataset: str) -> str:
    return (
        f"{best.title} has the smallest {name_error(comparison, best.k)} on {dataset}: "
        f"{format_error(best.error_mean, comparison.task)}. Plain Euclidean distance was not "
        "measured, so what was gained is not known."
    )


def _euclidean_wins(best: Row, learned: list[Row], comparison: Comparison, dataset: str) -> str:
    closest = min(learned, key=lambda row: row.error_mean)
    own, other = format_error_pair(best.error_mean, closest.error_mean, comparison.task)
    at_k = "" if closest.k == best.k else f" (at k{NBSP}={NBSP}{closest.k})"
    head = f"No learned metric does better than plain Euclidean distance on {dataset}"
    if same_error(closest.error_mean, best.error_mean):
        name = name_error(comparison, best.k)
        return f"{head}: {closest.title}{at_k} only equals its {name} of {own}."
    tail = ""
    if closest.k == best.k and is_known(closest.p_value):
        within = closest.p_value >= SIGNIFICANCE
        kind = "which cannot be told from noise" if within else "clearly more"
        tail = f", {kind} (paired test {phrase_p(closest.p_value)})"
    return (
        f"{head}: its {name_error(comparison, best.k)} of {own} is the smallest; "
        f"the closest, {closest.title}{at_k}, has {other}{tail}."
    )


def _learned_wins(best: Row, rival: Row, comparison: Comparison, dataset: str) -> str:
    """The best of the learned metrics against the Euclidean distance at its own best k."""
    before, after = format_error_pair(rival.error_mean, best.error_mean, comparison.task)
    at_k = "" if rival.k == best.k else f" (Euclidean at k{NBSP}={NBSP}{rival.k})"
    duels = {duel.reference: duel.p_value for duel in comparison.duels}
    p_value = best.p_value if rival.k == best.k else duels.get(EUCLIDEAN)
    cost = f"for {phrase_cpu_seconds(best.fit_cpu_seconds)} of fitting"
    cost = cost if is_known(best.fit_cpu_seconds) else "at a cost that was not measured"
    name = name_error(comparison, best.k)
    cuts = f"{best.title} cuts the {name} on {dataset} from {before}{at_k} to {after}"
    if not is_known(p_value):
        return f"{cuts}, {cost}; whether that is more than noise could not be tested."
    if p_value < SIGNIFICANCE:
        return f"{cuts} (paired test {phrase_p(p_value)}), {cost}."
    return (
        f"{best.title} has the smallest {name} on {dataset}, {after} against "
        f"{before} for plain Euclidean distance{at_k.replace('Euclidean ', '')}, but the "
        f"difference cannot be told from noise (paired test {phrase_p(p_value)})."
    )


def list_caveats(comparison: Comparison) -> list[str]:
    """What a reader of the finding should know besides: a majority that does as well, failures."""
    caveats = [*list_blind(comparison), *list_references(comparison), *_failures(comparison)]
    best = best_neighbors(comparison.rows)
    if best is not None:
        caveats += [f"{best.title}: {note}" for note in best.notes]
    return [caveat for caveat in caveats if caveat] + list(comparison.notes)


def list_blind(comparison: Comparison) -> list[str]:
    """Say so where a model that looks at no feature is within a standard error of the best."""
    best = best_neighbors(comparison.rows)
    blind = comparison.majority.get(comparison.loss)
    if best is None or blind is None:
        return []
    if best.error_mean < blind - _standard_error(best, comparison):
        return []
    what = "the most frequent class" if comparison.task == "classification" else "the mean"
    error = format_error(blind, comparison.task)
    return [f"Always predicting {what} does as well: {error}. These features tell little, so far."]


def _standard_error(row: Row, comparison: Comparison) -> float:
    """Return the standard error of a row's mean: over its folds, of one fold over its rows."""
    if is_known(row.error_sd):
        return float(row.error_sd / len(row.errors) ** 0.5)
    if comparison.task == "regression" or comparison.loss != "error" or not row.n_test:
        return 0.0
    return float((row.error_mean * (1 - row.error_mean) / row.n_test) ** 0.5)


def list_references(comparison: Comparison) -> list[str]:
    """Where the best neighbours stand against models that ask none."""
    best = best_neighbors(comparison.rows)
    references = sorted(
        (row for row in comparison.rows if row.reference and row.measured),
        key=lambda row: row.error_mean,
    )
    if best is None or not references:
        return []
    chances = {duel.reference: duel.p_value for duel in comparison.duels}
    first = references[0]
    own, other = format_error_pair(best.error_mean, first.error_mean, comparison.task)
    worse = [row for row in references if row.error_mean > best.error_mean]
    place = f"{best.title} at k{NBSP}={NBSP}{best.k} ({own})"
    head = f"None of the references does better than {place}; the closest is {first.title}"
    if len(worse) < len(references):
        count = f"{len(references) - len(worse)} of {count_of(len(references), 'reference')}"
        head = f"At least as good as {place}: {count}; the best is {first.title}"
    return [f"{head}, {other}{_phrase_duel(chances.get(first.method))}."]


def _phrase_duel(p_value: float | None) -> str:
    if not is_known(p_value):
        return ", a difference that could not be tested"
    noise = "more than noise" if p_value < SIGNIFICANCE else "which cannot be told from noise"
    return f", {noise} (paired test {phrase_p(p_value)})"


def _failures(comparison: Comparison) -> list[str]:
    if not any(row.measured for row in comparison.rows):
        return []
    partial = list(dict.fromkeys(r.title for r in comparison.rows if r.status == "partial"))
    sentences = []
    if failed := _name_failed(comparison.rows):
        sentences.append(f"Not measured: {join_words(failed)}. The table says why.")
    if partial:
        some = f"Some folds failed for {join_words(partial)}"
        sentences.append(f"{some}; their errors are means over fewer folds.")
    return sentences


def _name_failed(rows: tuple[Row, ...]) -> list[str]:
    """Methods that failed, with the k at which they did where they succeeded at others."""
    measured = {row.method for row in rows if row.measured}
    failed: dict[str, list[Row]] = {}
    for row in rows:
        if not row.measured:
            failed.setdefault(row.method, []).append(row)
    return [
        group[0].title
        + (
            f" at k{NBSP}={NBSP}{join_words([str(r.k) for r in group])}"
            if method in measured
            else ""
        )
        for method, group in failed.items()
    ]
