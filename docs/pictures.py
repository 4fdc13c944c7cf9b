"""Make the pictures of README and the front page from the product itself.

``python docs/pictures.py`` compares on the waveforms, takes a picture of the top of the report
page (needs Chromium, by name or in the variable CHROMIUM), and draws the map of unseen rows before
and after learning and the bars of published results.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import pandas as pd
from sklearn.datasets import make_friedman1

from vicinal import EGOP, compare, plot_map
from vicinal.published import draw_results, read_results, records_citing

PLACE = Path(__file__).parent / "_static"


def picture_report() -> None:
    """Take a picture of the top of the page that ``make demo`` leaves."""
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        found = compare("waveform", methods=["lda", "mlng"], k=5, out=Path(folder) / "run")
        found.report(page)
        chromium = os.environ.get("CHROMIUM", "chromium")
        how = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        how += [f"--user-data-dir={folder}/browser", "--window-size=1300,1110"]
        to = f"--screenshot={PLACE / 'report.png'}"
        subprocess.run([chromium, *how, to, page.as_uri()], check=True)


def picture_map() -> None:
    """Draw Friedman's function of five features among twenty: learned on half of the rows."""
    mpl.use("Agg")
    X, y = make_friedman1(2400, n_features=20, random_state=0)
    target = pd.Series(y[1::2], name="what is to be predicted")
    axes = plot_map(X[1::2], EGOP(random_state=0).fit(X[::2], y[::2]), target)
    axes[0].figure.savefig(PLACE / "before_after.png", dpi=110)


def picture_bars() -> None:
    """Draw the records of robot arms."""
    records = records_citing(read_results(PLACE.parent / "results"), ["trivedi2018_delve"])
    draw_results(records).savefig(PLACE / "regression_bars.svg")


if __name__ == "__main__":
    picture_map()
    picture_bars()
    picture_report()
