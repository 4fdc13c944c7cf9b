"""
Queries adapted to an index
===========================

An index of pictures that stays as it is, and queries that were taken otherwise: through frosted
glass, upside down. A few hundred pairs teach a map of the queries alone.
"""

# %%
# Documents are pictures of digits. A query is a picture of the same digit, blurred, turned upside
# down and noisy, so that plain search finds little. Pairs say which document each query was of.

import matplotlib.pyplot as plt
import numpy as np

from vicinal import ExactIndex, QueryAdapter, load_dataset

X, _ = load_dataset("digits")
rng = np.random.default_rng(0)
documents = X[rng.permutation(len(X))[:300]].astype(np.float32)


def take(rows):
    """Return queries that are of some documents."""
    pictures = documents[rows].reshape(-1, 8, 8)[:, ::-1]
    blurred = (pictures + np.roll(pictures, 1, axis=1) + np.roll(pictures, 1, axis=2)) / 3
    noisy = blurred + 3 * rng.normal(size=blurred.shape)
    return noisy.reshape(len(rows), 64).astype(np.float32)


relevant = rng.integers(300, size=1500)
queries = take(relevant)

# %%
# What is gained is measured on held-out queries and on held-out documents, and the identity stays
# where nothing helps.

adapter = QueryAdapter(loss="softmax", random_state=0).fit(queries, documents, relevant)
print("chosen:", adapter.best_)
for row in adapter.report_:
    print(
        f"held-out {row['held_out']:10s} {row['measure']:8s} {row['plain']:.3f} -> "
        f"{row['adapted']:.3f}   gain {row['low']:+.3f} to {row['high']:+.3f}"
    )

# %%
# The index is searched as before; only the query's vector changes.

index = ExactIndex(adapter.transform(documents))
asked = rng.integers(300, size=4)
raw = take(asked)
plain = index.query(raw / np.linalg.norm(raw, axis=1, keepdims=True), k=1)[1][:, 0]
mapped = index.query(adapter.transform_queries(raw), k=1)[1][:, 0]

figure, axes = plt.subplots(4, 4, figsize=(5, 5.4), layout="constrained")
titles = ("query", "plain search", "adapted", "right")
for row, pictures in enumerate(
    zip(raw, documents[plain], documents[mapped], documents[asked], strict=True)
):
    for axis, picture, title in zip(axes[row], pictures, titles, strict=True):
        axis.imshow(picture.reshape(8, 8), cmap="gray_r")
        axis.axis("off")
        if not row:
            axis.set_title(title, fontsize=9)
plt.show()

# %%
# More pairs help, and few do no harm.

fresh = rng.integers(300, size=600)
new = take(fresh)
sizes = (50, 150, 500, 1500)
scores = [
    QueryAdapter(loss="softmax", random_state=0)
    .fit(queries[:n], documents, relevant[:n])
    .score(new, documents, fresh, scoring="mrr@10")
    for n in sizes
]
for n, score in zip(sizes, scores, strict=True):
    print(f"{n:5d} pairs: mean reciprocal rank {score:.3f}")
