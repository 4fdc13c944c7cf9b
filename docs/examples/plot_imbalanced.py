"""
A rare class
============

Where one class in twenty is what matters, the share of wrong answers says little: never naming
the rare class is 95 % right. Balanced accuracy, the confusion matrix and votes that weigh classes
say more.
"""

# %%
# Two thousand rows, a hundred of them rare, in ten features of which four tell.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import ConfusionMatrixDisplay, balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LDA, KNNClassifier, compare

X, codes = make_classification(
    2000, 10, n_informative=4, n_redundant=0, weights=[0.95], class_sep=1.2, random_state=3
)
y = np.array(["common", "rare"])[codes]

# %%
# ``score="balanced"`` ranks by the mean of the classes' own errors, and says what always
# predicting the commonest class would give.

found = compare(X, y, methods=["lda"], k=(3, 15), score="balanced")
print(found.finding)
print(found)

# %%
# Three models, every row predicted by a model that did not see it. With
# ``class_weight="balanced"`` a rare neighbour's vote counts as much more as it is rarer.

models = {
    "plain": KNNClassifier(n_neighbors=15),
    "learned": KNNClassifier(n_neighbors=15, metric=LDA()),
    "learned, votes balanced": KNNClassifier(n_neighbors=15, metric=LDA(), class_weight="balanced"),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    predicted = cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=5)
    score = balanced_accuracy_score(y, predicted)
    ConfusionMatrixDisplay.from_predictions(
        y, predicted, normalize="true", ax=axis, colorbar=False, cmap="Blues", values_format=".0%"
    )
    axis.set_title(f"{name}\nbalanced accuracy {100 * score:.0f} %", fontsize="medium")
plt.show()
