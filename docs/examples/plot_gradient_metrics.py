"""
What a gradient metric sees
===========================

How many directions does a target depend on, which are they, and how? Gradients answer all three:
the spectrum of their mean outer product, the features that weigh in it, and the target drawn along
its leading directions.
"""

# %%
# Data whose answer is known: twelve features, of which the target sees two *directions*, neither of
# them along a feature. One it follows as a wave, the other as a parabola.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import EGOP, KNNRegressor, plot_relevance, plot_spectrum, plot_summary

random = np.random.default_rng(0)
X = random.normal(size=(1500, 12))
first = (X[:, 0] + X[:, 1] + X[:, 2]) / np.sqrt(3)
second = (X[:, 3] - X[:, 4]) / np.sqrt(2)
y = 2 * np.sin(1.5 * first) + 0.5 * second**2 + 0.3 * random.normal(size=1500)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# EGOP finds them. ``store_gradients`` keeps the gradient at every row, which the intervals need;
# ``n_iter`` lets it estimate again under the metric just learned. A predictor is drawn by the
# metric it holds.

plain = KNNRegressor(n_neighbors=9).fit(X_train, y_train)
metric = EGOP(n_iter=3, store_gradients=True, random_state=0)
model = KNNRegressor(n_neighbors=9, metric=metric).fit(X_train, y_train)
print(f"R² {plain.score(X_test, y_test):.2f} plain, {model.score(X_test, y_test):.2f} learned")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
plot_spectrum(model, left)
plot_relevance(model, right)
plt.show()

# %%
# Two eigenvalues stand far above the rest, and five features share the relevance. Along the two
# directions, on rows the metric has not seen, the wave and the parabola come out:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
plot_summary(model, X_test, y_test, left)
plot_summary(model, X_test, y_test, right, n_directions=2)
plt.show()

# %%
# Real data are less tidy. The progress of diabetes a year on, from ten measurements: one direction
# carries most of it, mostly body mass and the log of a blood fat, and along it the target of
# *unseen* rows rises steadily but with much scatter.

diabetes = load_diabetes(as_frame=True, scaled=False)
seen, unseen, target, unseen_target = train_test_split(
    diabetes.data, diabetes.target, random_state=0
)
model = make_pipeline(StandardScaler(), EGOP(store_gradients=True, random_state=0))
model.fit(seen, target)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
plot_spectrum(model, axes[0])
plot_relevance(model, axes[1])
plot_summary(model, unseen, unseen_target, axes[2])
plt.show()
