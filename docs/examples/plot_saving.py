"""
Save a model, load it elsewhere
===============================

A model file holds arrays and plain values, never code: loading one that was tampered with is
refused, and what is loaded predicts exactly as what was saved.
"""

# %%
# Learn a metric for telling tumours apart, and save the fitted classifier with a note.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from vicinal import MLNG, KNNClassifier, load_dataset, load_model, plot_relevance, save_model

data = load_dataset("breast_cancer")
X, y = data
X = (X - X.mean(axis=0)) / X.std(axis=0)
model = KNNClassifier(n_neighbors=5, metric=MLNG(n_neighbors=5, random_state=0))
model.fit(X[:400], y[:400])

folder = TemporaryDirectory()
path = Path(folder.name) / "tumours.model"
save_model(model, path)
print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")

# %%
# The round trip is exact, and what was learned comes back with it.

loaded = load_model(path)
print("same predictions:", np.array_equal(loaded.predict(X[400:]), model.predict(X[400:])))
plot_relevance(loaded, n_features=8, feature_names=data.feature_names)
plt.show()

# %%
# A truncated copy is refused with the reason, not with a wrong answer.

broken = Path(folder.name) / "broken.model"
broken.write_bytes(path.read_bytes()[:1000])
try:
    load_model(broken)
except ValueError as error:
    print(f"refused: {error}".replace(folder.name, ""))
folder.cleanup()
