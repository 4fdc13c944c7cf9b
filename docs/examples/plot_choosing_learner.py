"""
Choosing a learner
==================

Several learners, the same folds, one figure each with its spread and its price.
"""

# %%
# Waveforms with noise columns again. ``compare`` takes learners by name, or as objects with
# settings of your own.

import matplotlib.pyplot as plt

from vicinal import LFDA, LMNN, MLNG, compare, load_dataset, plot_errors

X, y = load_dataset("waveform")
learners = {
    "LDA": "lda",
    "LFDA, two dimensions": LFDA(n_components=2),
    "LMNN": LMNN(random_state=0),
    "MLNG": MLNG(random_state=0),
}
found = compare(X[:450], y[:450], methods=list(learners.values()), k=5)
plot_errors(found)
plt.show()

# %%
# The finding in words, and the whole table. A star is the best of its k; p is a paired test
# against the plain distance.

print(found.finding)
print(found)

# %%
# Nobody has to choose: :class:`~vicinal.AutoMetric` tries learners on inner splits of the training
# rows and keeps the best, with a ``leaderboard_`` of what it tried. See also
# :doc:`/how-to-choose`.
