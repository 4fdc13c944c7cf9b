"""Texts as numbers by their letters, without a look at the target.

A text is the bag of the runs of three and four letters in its words, each weighed by how few texts
hold it (tf-idf), as a vector of length 1: texts that are spelt alike are near, such as two
complaints about one thing, and texts that share no run lie as far apart as two values of a
category. Of all these the leading directions are kept, and each counts as far as texts share it: by
its singular value over the largest. What is spelt like nothing else, such as names, thus hardly
parts rows that are alike in all other columns.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

RUNS = (3, 4)
MOST_RUNS = 5000
# Directions settle long before; a larger table is learned from a sample of its texts.
MOST_LEARNED = 20_000


class Letters(TransformerMixin, BaseEstimator):
    """Map texts to the leading directions of their runs of letters.

    Parameters
    ----------
    n_components : int
        How many directions are kept; those beyond the texts' rank are 0.

    Attributes
    ----------
    runs_ : list of str, length v
    weights_ : ndarray of shape (v,)
        Inverse document frequencies.
    axes_ : ndarray of shape (v, n_components)

    Notes
    -----
    With L letters in all texts together, O(L + r² n) time and O(L) memory.
    """

    def __init__(self, n_components: int = 30) -> None:
        self.n_components = n_components

    def fit(self, X: AnyArray, y: Any = None) -> Letters:
        """Learn runs and directions from texts (n,), None where missing; `y` is ignored."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = sorted({text for text in X if text is not None})
        if len(texts) > MOST_LEARNED:
            some = np.random.default_rng(0).choice(len(texts), MOST_LEARNED, replace=False)
            texts = [texts[number] for number in sorted(some)]
        if not any(text.strip() for text in texts):
            self.runs_, self.weights_ = [], np.empty(0)
            self.axes_ = np.empty((0, self.n_components))
            return self
        vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=RUNS, max_features=MOST_RUNS)
        bags = vectorizer.fit_transform(texts)
        self.runs_ = [str(run) for run in vectorizer.get_feature_names_out()]
        self.weights_ = np.asarray(vectorizer.idf_, dtype=np.float64)
        rank = min(self.n_components, *(size - 1 for size in bags.shape))
        self.axes_ = np.zeros((len(self.runs_), self.n_components))
        if rank > 0:
            with warnings.catch_warnings():  # texts that are all the same in their runs
                warnings.simplefilter("ignore", RuntimeWarning)
                svd = TruncatedSVD(rank, random_state=0).fit(bags)
            sizes = svd.singular_values_ / (svd.singular_values_[0] or 1.0)
            self.axes_[:, :rank] = svd.components_.T * sizes
        return self

    def transform(self, X: AnyArray) -> FloatArray:
        """Return the texts (n,) as places (n, n_components); a missing text is at 0."""
        check_is_fitted(self, "axes_")
        numbers: dict[str, int] = {}  # an array of texts would make each as wide as the longest
        where = [numbers.setdefault(text or "", len(numbers)) for text in X]
        if not self.runs_ or not numbers:
            return np.zeros((len(where), self.n_components))
        places: FloatArray = np.asarray(self._bags(list(numbers)) @ self.axes_)
        return places[where]

    def _bags(self, texts: list[str]) -> csr_matrix:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        counter = CountVectorizer(analyzer="char_wb", ngram_range=RUNS, vocabulary=self.runs_)
        counts = counter.transform(texts).astype(np.float64)
        return normalize(counts.multiply(self.weights_).tocsr())
