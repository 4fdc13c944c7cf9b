"""``NUMBA_DISABLE_JIT=1``, with which people debug: every learner fits the same metric."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

FIT = """
import sys, warnings
import numpy as np
import vicinal

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
y = np.arange(30) % 2
X = random.normal(size=(30, 3)) + 1.5 * y[:, None]
fitted = {
    "MLNG": vicinal.MLNG(3, init="lda", learning_rate=0.1, max_iter=2, random_state=0).fit(X, y),
    "LMNN": vicinal.LMNN(max_iter=3, random_state=0).fit(X, y),
    "ReliefF": vicinal.ReliefF().fit(X, y),
    "EJOP": vicinal.EJOP(random_state=0).fit(X, y),
}
votes = vicinal.KNNClassifier(3).fit(X, y).predict(X)
np.savez(sys.argv[1], votes=votes, **{n: m.get_mahalanobis_matrix() for n, m in fitted.items()})
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return what a process fits with compiled kernels and one without."""
    folder = tmp_path_factory.mktemp("fits")
    for disabled in ("0", "1"):
        subprocess.run(
            [sys.executable, "-c", FIT, str(folder / f"{disabled}.npz")],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            check=True,
        )
    return [dict(np.load(folder / f"{disabled}.npz")) for disabled in ("0", "1")]


@pytest.mark.parametrize("name", ["MLNG", "LMNN", "ReliefF", "EJOP", "votes"])
def test_a_fit_is_the_same_without_compilation(fitted, name):
    compiled, plain = fitted
    np.testing.assert_allclose(plain[name], compiled[name], rtol=1e-5)
