"""
Codes and fast search
=====================

A row of 64 pixels as a code of a few bytes: searching counts differing bits, and the codes are
learned so that the nearest ones vote rightly.
"""

# %%
# Codes of growing length, learned on one half of the digits and tried on the other.

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from vicinal import ITQ, LSH, HammingMLNG, KNNClassifier, SpectralHashing, load_dataset

X, y = load_dataset("digits")
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)


def error(metric, **how):
    model = KNNClassifier(n_neighbors=3, metric=metric, **how).fit(X_train, y_train)
    return 1 - model.score(X_test, y_test)


bits = (8, 16, 32)
learners = {
    "random hyperplanes": lambda n: LSH(n_bits=n, random_state=0),
    "spectral hashing": lambda n: SpectralHashing(n_bits=n),
    "ITQ": lambda n: ITQ(n_bits=n, random_state=0),
    "HammingMLNG": lambda n: HammingMLNG(n_bits=n, margin=3.0, max_iter=10, random_state=0),
}
errors = {name: [error(make(n)) for n in bits] for name, make in learners.items()}

# %%
# Random hyperplanes know nothing of the rows, spectral hashing and ITQ nothing of the classes. The
# dotted line is the plain distance on all pixels, 512 bytes a row.

figure, axis = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
for name, values in errors.items():
    axis.plot(bits, values, "o-", label=name)
axis.axhline(error(None), color="0.4", linestyle=":", label="plain distance")
axis.set_xscale("log", base=2)
axis.set_xticks(bits, [f"{n // 8} byte{'s' * (n > 8)}" for n in bits])
axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
axis.set(xlabel="a row", ylabel="error of 3-NN")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
for name, values in errors.items():
    print(f"{name:20s}", " ".join(f"{100 * value:5.1f} %" for value in values))

# %%
# Any metric can also be searched by faiss, exactly or not; parameters of the search follow the
# name of the index: ``KNNClassifier(metric="mlng", index="faiss:IVF128,Flat;nprobe=16")``.
