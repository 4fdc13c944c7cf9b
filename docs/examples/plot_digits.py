"""
Before and after: handwritten digits
====================================

Learn a metric on one half of the digits and look at the other half: how often the three nearest
neighbours vote wrongly, and how the digits lie on a map.
"""

# %%
# Half of the 1,797 digits is for learning, the other half only for looking.

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import MLNG, KNNClassifier, load_dataset, plot_map

X, y = load_dataset("digits")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# Two distances, one vote. ``metric=None`` is the plain Euclidean distance.

plain = make_pipeline(StandardScaler(), KNNClassifier(n_neighbors=3))
learned = make_pipeline(StandardScaler(), KNNClassifier(n_neighbors=3, metric=MLNG(random_state=0)))
for name, model in {"plain": plain, "learned": learned}.items():
    error = 1 - model.fit(X_train, y_train).score(X_test, y_test)
    print(f"{name:8s} {100 * error:5.2f} % of the unseen digits wrong")

# %%
# The *unseen* digits on two maps. A map shows two of 64 dimensions, so digits that look mixed
# here may be well apart.

plot_map(X_test, learned, y_test)
plt.show()

# %%
# Which pixels does the metric look at? The relevance of each, folded back into a picture.

figure, axis = plt.subplots(figsize=(3, 3), layout="constrained")
axis.imshow(learned[-1].metric_.feature_relevance_.reshape(8, 8), cmap="Blues")
axis.set(xticks=[], yticks=[], title="relevance of each pixel")
plt.show()
