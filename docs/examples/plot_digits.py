"""
Handwritten digits, before and after
====================================

Learn a metric on one half of the digits and look at the other half: how often the three
nearest neighbours vote wrongly, and how the digits lie on their first two components.
"""

# %%
# Half of the 1,797 digits is for learning, the other half only for looking.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from vicinal import LDA, MLNG, KNNClassifier, load_dataset

X, y = load_dataset("digits")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

# %%
# Three distances, one vote. ``metric=None`` is the plain Euclidean distance.

metrics = {
    "Euclidean": None,
    "LDA": LDA(),
    "MLNG": MLNG(n_neighbors=3, random_state=0),
}
models = {
    name: KNNClassifier(n_neighbors=3, metric=metric).fit(X_train, y_train)
    for name, metric in metrics.items()
}
errors = {name: 1 - model.score(X_test, y_test) for name, model in models.items()}
for name, error in errors.items():
    print(f"{name:10s} {100 * error:5.2f} % of the unseen digits wrong")

# %%
# The unseen digits as they come, and under the learned metric. Axes are the two directions
# in which the *training* digits spread most in each space.


def plane(train, test):
    """Return the test points on the first two principal components of the training points."""
    return PCA(n_components=2, random_state=0).fit(train).transform(test)


learned = models["MLNG"].metric_
panels = {
    "as they come": plane(X_train, X_test),
    "under the learned metric": plane(learned.transform(X_train), learned.transform(X_test)),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, (title, points), name in zip(axes, panels.items(), ("Euclidean", "MLNG"), strict=True):
    axis.scatter(*points.T, c=y_test, cmap="tab10", s=9, alpha=0.7, linewidths=0)
    for digit in range(10):
        axis.annotate(
            str(digit),
            np.median(points[y_test == digit], axis=0),
            ha="center",
            va="center",
            weight="bold",
            bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
        )
    axis.set(xticks=[], yticks=[], title=f"{title}: {100 * errors[name]:.1f} % wrong")
    axis.spines[:].set_color("0.8")
plt.show()

# %%
# Which pixels does the metric look at? The relevance of each, folded back into a picture.

figure, axis = plt.subplots(figsize=(3, 3), layout="constrained")
axis.imshow(learned.feature_relevance_.reshape(8, 8), cmap="Blues")
axis.set(xticks=[], yticks=[], title="relevance of each pixel")
plt.show()
