"""
Numbers to predict
==================

Neighbours predict numbers, too: by their mean, or by a plane through them. Both gain from a
metric that ignores what the number does not depend on.
"""

# %%
# Friedman's function of five features, among five more that say nothing.

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from vicinal import EGOP, MLKR, KNNRegressor, LocalLinearRegressor, plot_map, plot_relevance

X, y = make_friedman1(1000, n_features=10, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Three metrics, two ways to use the neighbours; R² of unseen rows.

metrics = {"plain": None, "EGOP": EGOP(random_state=0), "MLKR": MLKR(random_state=0)}
models = {}
for name, metric in metrics.items():
    models[name] = KNNRegressor(n_neighbors=9, metric=metric).fit(X_train, y_train)
    plane = LocalLinearRegressor(metric=metric).fit(X_train, y_train)
    scores = models[name].score(X_test, y_test), plane.score(X_test, y_test)
    print(f"{name:6s} mean of neighbours {scores[0]:.2f}, plane through them {scores[1]:.2f}")

# %%
# Unseen rows on a map, coloured by their number: after learning, near rows have like numbers.

plot_map(X_test, models["MLKR"], y_test)
plt.show()

# %%
# The five features that matter are found.

plot_relevance(models["EGOP"])
plt.show()
