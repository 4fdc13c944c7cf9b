from __future__ import annotations

import os

import pytest

from vicinal.sphere.molecules import Molecules, load_qm7


@pytest.fixture(scope="session")
def real_molecules() -> Molecules:
    """Return thirty molecules of QM7."""
    if not os.environ.get("VICINAL_DATA"):
        pytest.skip("VICINAL_DATA is not set: QM7 is not at hand")
    return load_qm7()[0].molecules.rows(slice(0, 7165, 239))
