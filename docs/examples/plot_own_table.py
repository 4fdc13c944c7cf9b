"""
Your own table
==============

From a file as a spreadsheet wrote it to an answer: what was read, whether a learned metric helps,
and which columns matter. On the command line the same is ``vicinal compare wine.csv --target
cultivar``.
"""

# %%
# A table of your own would already be on disk. Here the wines of scikit-learn stand in for it,
# saved as half of Europe does: semicolons, decimal commas, a column that numbers the rows, and a
# column of words.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal.data import TableEncoder

frame = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
frame["cultivar"] = [f"cultivar {number}" for number in frame["cultivar"]]
frame.insert(0, "no", np.arange(1, len(frame) + 1))
frame["shade"] = np.where(frame["hue"] > 0.9, "purple", "brick")

folder = TemporaryDirectory()
path = Path(folder.name) / "wine.csv"
frame.to_csv(path, index=False, sep=";", decimal=",")
print(path.read_text()[:220])

# %%
# Nothing is guessed without a word: what each column was taken for is kept as notes.

table = vicinal.read_table(path, "cultivar")
print(table)
print("\n".join(table.notes))

# %%
# Does a learned metric help? Same folds for all, scaling learned on training rows alone, and a
# paired test that tells a difference from noise.

found = vicinal.compare(path, "cultivar", methods=["lda"], k=(1, 3, 7))
print(found.finding)
vicinal.plot_errors(found)
plt.show()

# %%
# Which columns matter? The values of one column, here ``shade``, are added up.

rows = frame.drop(columns="cultivar")
model = make_pipeline(
    TableEncoder(), StandardScaler(), vicinal.KNNClassifier(n_neighbors=3, metric=vicinal.LDA())
).fit(rows, frame["cultivar"])
vicinal.plot_relevance(model)
plt.show()

# %%
# And the wines most like the first one (the first answer is the wine itself).

distances, near = model[-1].kneighbors(model[:-1].transform(rows[:1]))
for distance, row in zip(distances[0], near[0], strict=True):
    print(f"row {row:3d}  distance {distance:.2f}  {frame['cultivar'][row]}")
folder.cleanup()
