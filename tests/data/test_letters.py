"""Texts by their letters: spelt alike is near, and new texts find their place."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from vicinal.data import Letters

TEXTS = np.array(["invoice", "invoices", "invoicing", "router", "routers", "fan", None], object)


def distances(texts: np.ndarray, model: Letters) -> np.ndarray:
    places = model.transform(texts)
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def test_what_is_spelt_alike_is_near():
    apart = distances(TEXTS, Letters(5).fit(TEXTS))
    assert apart[0, 1] < apart[0, 3]
    assert apart[3, 4] < apart[3, 0]


def test_directions_are_those_of_scikit_learn_weighed_by_their_singular_values():
    texts = sorted({text for text in TEXTS if text is not None})
    bags = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit_transform(texts)
    svd = TruncatedSVD(4, random_state=0).fit(bags)
    wanted = svd.transform(bags) * svd.singular_values_ / svd.singular_values_[0]
    places = Letters(4).fit(TEXTS).transform(np.array(texts))
    np.testing.assert_allclose(places, np.asarray(wanted), atol=1e-9)


def test_no_two_texts_are_farther_apart_than_two_values_of_a_category():
    rng = np.random.default_rng(0)
    texts = np.array(["".join(rng.choice(list("abcdefgh"), 8)) for _ in range(80)], object)
    assert distances(texts, Letters(30).fit(texts)).max() <= 2**0.5 + 1e-9


@pytest.mark.parametrize("texts", [["a"], ["a", "a"], ["!", "?"], ["a b", "a b", "c"], [""]])
def test_few_or_odd_texts_have_a_place(texts):
    places = Letters(3).fit(np.array(texts, object)).transform(np.array([*texts, "new", None]))
    assert places.shape == (len(texts) + 2, 3)
    assert np.isfinite(places).all()
