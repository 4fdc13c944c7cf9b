"""
Two dimensions that keep the classes
====================================

Principal components keep variance; a metric of two components keeps what tells classes apart.
Unseen rows show the difference.
"""

# %%
# Handwritten digits, six of the ten; every map is learned on one half and shows the other.

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from vicinal import LDA, NCA, KNNClassifier, load_dataset

X, y = load_dataset("digits")
few = y < 6
X_train, X_test, y_train, y_test = train_test_split(
    X[few], y[few], test_size=0.5, stratify=y[few], random_state=0
)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

# %%
# Three maps into the plane, and what five neighbours there get wrong.

learners = {
    "PCA": PCA(n_components=2),
    "LDA": LDA(n_components=2),
    "NCA": NCA(n_components=2, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for axis, (name, learner) in zip(axes, learners.items(), strict=True):
    train = learner.fit(X_train, y_train).transform(X_train)
    test = learner.transform(X_test)
    error = 1 - KNNClassifier(n_neighbors=5).fit(train, y_train).score(test, y_test)
    print(f"{name}: {100 * error:.1f} % of unseen digits wrong")
    axis.scatter(test[:, 0], test[:, 1], c=y_test, cmap="tab10", s=7, linewidths=0)
    axis.set(title=f"{name}: {100 * error:.1f} % wrong", xticks=[], yticks=[])
plt.show()
