"""
Your own table
==============

From a CSV file to an answer: read it, learn, see which columns matter, and ask for the
neighbours of one row. The same from the command line is ``vicinal compare wine.csv --target
cultivar``.
"""

# %%
# A table of your own would already be on disk; here the wines of scikit-learn stand in for it.
# Any mix of number and category columns will do.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import MLNG, KNNClassifier
from vicinal.data import read_table

wine = load_wine(as_frame=True)
frame = wine.frame.rename(columns={"target": "cultivar"})
frame["cultivar"] = [f"cultivar {number}" for number in frame["cultivar"]]

with TemporaryDirectory() as folder:
    path = Path(folder) / "wine.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, "cultivar")

print(f"{len(table.X)} rows, {len(table.feature_names)} features, classes {table.classes}")

# %%
# Compare the plain distance with the learned one by cross-validation. The scaler is part of
# the pipeline, so that it is fitted on the training rows only.


def error(metric):
    """Return the mean share of wrong votes over five folds."""
    model = make_pipeline(StandardScaler(), KNNClassifier(n_neighbors=3, metric=metric))
    return 1 - cross_val_score(model, table.X, table.y, cv=5).mean()


learner = MLNG(n_neighbors=3, random_state=0)
print(f"plain   {100 * error(None):.1f} % wrong")
print(f"learned {100 * error(learner):.1f} % wrong")

# %%
# Fit on everything, and see which columns weigh most in the learned distance.

scaler = StandardScaler().fit(table.X)
model = KNNClassifier(n_neighbors=3, metric=learner).fit(scaler.transform(table.X), table.y)
relevance = model.metric_.feature_relevance_
order = np.argsort(relevance)

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.barh(np.array(table.feature_names)[order], relevance[order], color="#4269d0")
axis.set(xlabel="share of the learned distance")
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# And the wines most like the first one (the first answer is the wine itself).

distances, rows = model.kneighbors(scaler.transform(table.X[:1]))
for distance, row in zip(distances[0], rows[0], strict=True):
    print(f"row {row:3d}  distance {distance:.2f}  {table.classes[table.y[row]]}")
