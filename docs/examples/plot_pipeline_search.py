"""
Pipelines and grid search
=========================

Learners are scikit-learn estimators: they go into pipelines, and the metric itself can be one of
the things a search chooses.
"""

# %%
# A table of numbers and words, as frames have them: waves at thirty times, and a site.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from vicinal import LDA, LFDA, KNNClassifier, load_dataset, plot_relevance

X, y = load_dataset("waveform")
times = [f"t{number}" for number in range(30)]
frame = pd.DataFrame(X[:900, :30], columns=times)
frame["site"] = np.random.default_rng(0).choice(["north", "south", "east"], len(frame))
X_train, X_test, y_train, y_test = train_test_split(frame, y[:900], random_state=0)

# %%
# Scaling, encoding and the metric are all learned inside each fold, so nothing leaks. The metric
# may be an object, a name such as ``"lmnn"``, or ``None`` for the plain distance.

columns = make_column_transformer((StandardScaler(), times), (OneHotEncoder(), ["site"]))
model = Pipeline([("columns", columns), ("vote", KNNClassifier())])
metrics = {"plain": None, "LDA": LDA(), "LFDA": LFDA()}
grid = {"vote__metric": list(metrics.values()), "vote__n_neighbors": [1, 5, 15]}
search = GridSearchCV(model, grid, cv=4).fit(X_train, y_train)
print(search.best_params_)
print(f"{100 * (1 - search.score(X_test, y_test)):.1f} % of unseen rows wrong")

# %%
# What the search saw, and what the chosen model looks at: the three features of ``site``
# are added up, and count too little to be among the first twelve.

errors = 1 - search.cv_results_["mean_test_score"].reshape(len(metrics), 3)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.imshow(errors, cmap="Blues", vmin=0.1, vmax=0.5)
left.set_xticks(range(3), [f"k = {k}" for k in grid["vote__n_neighbors"]])
left.set_yticks(range(len(metrics)), list(metrics))
for (row, column), error in np.ndenumerate(errors):
    left.annotate(f"{100 * error:.1f} %", (column, row), ha="center", va="center")
left.set_title("error on inner folds")
plot_relevance(search, right, n_features=12)
plt.show()
