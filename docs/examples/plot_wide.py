"""
More columns than rows
======================

Sixty samples, five thousand measurements, five of which matter: what gene expression and spectra
look like. Learners work in the span of the rows, so nothing of size 5,000 × 5,000 is ever made.
"""

# %%
# Two classes that differ in the first five columns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import KNNClassifier, ReliefF, plot_map, plot_relevance

random = np.random.default_rng(0)
y = np.arange(60) % 2
X = random.normal(size=(60, 5000))
X[:, :5] += 2.0 * y[:, None]

# %%
# The plain distance drowns in noise. ReliefF looks at how each column differs between near rows of
# one class and of two, and weighs columns one by one; keeping the best few helps more.

metrics = {
    "plain": None,
    "ReliefF, all columns": ReliefF(),
    "ReliefF, best 20": ReliefF(n_components=20),
}
for name, metric in metrics.items():
    model = make_pipeline(StandardScaler(), KNNClassifier(n_neighbors=5, metric=metric))
    error = 1 - cross_val_score(model, X, y, cv=5).mean()
    print(f"{name:22s} {100 * error:5.1f} % wrong")

# %%
# What it looks at, and the rows on a map: fitted on two thirds of them, drawn with the last third.

model = make_pipeline(StandardScaler(), ReliefF(n_components=20)).fit(X[:40], y[:40])
plot_relevance(model, n_features=10)
plt.show()
plot_map(X[40:], model, y[40:])
plt.show()
