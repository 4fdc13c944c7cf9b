"""Fifteen tables as strangers bring them, each made from a formula and a seed.

What is right about each is known because it was put there: which rows belong together, which column
tells the answer, what an error can be at best.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

SYLLABLES = ("ba", "del", "fi", "go", "han", "kor", "lu", "mer", "no", "rit", "sal", "tor", "wei")


def _words(rng: np.random.Generator, n: int, least: int = 2, most: int = 4) -> list[str]:
    """Return n different made-up words."""
    words: set[str] = set()
    while len(words) < n:
        syllables = rng.choice(SYLLABLES, rng.integers(least, most + 1))
        words.add("".join(syllables).capitalize())
    return sorted(words)


def german_flats(n: int = 500, seed: int = 0) -> pd.DataFrame:
    """Rents that follow area, rooms and district; 188 streets that say nothing more."""
    rng = np.random.default_rng(seed)
    streets = [f"{word}{end}" for word in _words(rng, 94) for end in ("straße", "weg")]
    area = rng.uniform(25, 140, n).round(1)
    district = rng.choice(["Nord", "Süd", "Mitte"], n, p=[0.45, 0.45, 0.1])
    extra = pd.Series(district).map({"Nord": 0.0, "Süd": 1.5, "Mitte": 6.0}).to_numpy()
    rent = area * (9 + extra) + rng.normal(0, 60, n)
    return pd.DataFrame(
        {
            "Straße": rng.choice(streets, n),
            "Bezirk": district,
            "Fläche": [f"{value:.1f}".replace(".", ",") for value in area],
            "Balkon": rng.choice(["ja", "nein"], n),
            "Miete": [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in rent],
        }
    )


def tickets(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Support tickets whose text, and nothing else, says which team they are for."""
    rng = np.random.default_rng(seed)
    about = {
        "billing": ["invoice", "charged twice", "refund", "payment card", "the receipt"],
        "network": ["connection drops", "router", "slow wifi", "no signal", "vpn tunnel"],
        "account": [
            "password reset",
            "cannot log in",
            "two factor code",
            "locked profile",
            "email",
        ],
        "hardware": ["screen flickers", "battery", "keyboard key", "loud fan", "docking station"],
    }
    filler = ["please help", "since yesterday", "urgent", "thank you", "as before", "once more"]
    team = rng.choice(list(about), n)
    texts = [
        f"{rng.choice(filler)}, {rng.choice(about[t])} and {rng.choice(about[t])}, "
        f"{rng.choice(filler)} {rng.integers(1000)}"
        for t in team
    ]
    return pd.DataFrame(
        {
            "ticket": [f"T-{number}" for number in rng.permutation(n) + 10_000],
            "text": texts,
            "hour": rng.integers(0, 24, n),
            "priority": rng.choice(["low", "mid", "high"], n),
            "team": team,
        }
    )


def loans(n: int = 800, seed: int = 0) -> pd.DataFrame:
    """Loans with a hidden postcode, months by name, and income often missing."""
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10.5, 0.5, n)).round()
    amount = rng.integers(10, 400, n) * 100
    risk = amount / income + 0.3 * rng.normal(size=n)
    months = pd.to_datetime("2012-01-01") + pd.to_timedelta(rng.integers(0, 1400, n), unit="D")
    codes = [f"{number}xx" for number in rng.integers(100, 999, 120)]
    return pd.DataFrame(
        {
            "issued": [f"{month:%b-%Y}" for month in months],
            "zip": rng.choice(codes, n),
            "income": np.where(rng.random(n) < 0.15, np.nan, income),
            "amount": amount,
            "term": rng.choice([" 36 months", " 60 months"], n),
            "status": np.where(risk > np.quantile(risk, 0.7), "late", "paid"),
        }
    )


def lab_values(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Concentrations below the limit of detection, written as such."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    value = np.exp(rng.normal(np.where(ill, 1.0, 0.0), 0.6))
    return pd.DataFrame(
        {
            "sample": [f"S{number:04d}" for number in range(n)],
            "crp": ["<LOD" if v < 0.7 else f"{v:.2f}" for v in value],
            "iron": ["n.d." if rng.random() < 0.05 else f"{v:.1f}" for v in rng.normal(90, 20, n)],
            "age": rng.integers(18, 90, n),
            "finding": np.where(ill, "ill", "well"),
        }
    )


def cities(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Sales in 900 cities, which matter little beside the number of visitors."""
    rng = np.random.default_rng(seed)
    names = _words(rng, 900, 2, 3)
    visitors = np.exp(rng.normal(6, 0.7, n)).round()
    sales = visitors * rng.normal(20, 2, n)
    return pd.DataFrame(
        {"city": rng.choice(names, n), "visitors": visitors, "sales": sales.round(2)}
    )


def counts(n: int = 442, seed: int = 0) -> pd.DataFrame:
    """A score of about 214 different whole numbers: a quantity."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(3)
    score = np.clip(150 + 55 * X[:, 0] + 30 * X[:, 1] + rng.normal(0, 30, n), 25, 340).round()
    frame = pd.DataFrame(X, columns=["bmi", "bp", "s1", "s2"])
    return frame.assign(score=score.astype(int))


def prices(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """A different whole price in every row."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(30, 200, n).round(1)
    price = (area * 3000 + rng.normal(0, 20_000, n)).round() * 1000 + np.arange(n)
    return pd.DataFrame({"area": area, "price": price.astype(int)})


def ratings(n: int = 900, seed: int = 0) -> pd.DataFrame:
    """Marks from 3 to 8, which are classes and an order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    mark = np.clip(np.round(5.6 + X[:, 0] + 0.5 * rng.normal(size=n)), 3, 8).astype(int)
    return pd.DataFrame(X, columns=["acid", "sugar", "salt"]).assign(quality=mark)


def typos(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Job titles typed by hand: five jobs in some two hundred spellings."""
    rng = np.random.default_rng(seed)
    jobs = ["software engineer", "project manager", "sales assistant", "accountant", "nurse"]
    pay = dict(zip(jobs, (70, 62, 35, 50, 42), strict=True))
    job = rng.choice(jobs, n)

    def mistype(text: str) -> str:
        letters = list(text)
        for _ in range(rng.integers(0, 3)):
            place = rng.integers(1, len(letters) - 1)
            letters[place : place + 1] = [] if rng.random() < 0.5 else [letters[place]] * 2
        return "".join(letters)

    salary = pd.Series(job).map(pay).to_numpy() * 1000 + rng.normal(0, 4000, n)
    years = rng.integers(0, 40, n)
    return pd.DataFrame(
        {"job": [mistype(j) for j in job], "years": years, "salary": salary.round(2)}
    )


def copies(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Noise, of which every case stands in the table three times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n // 3, 4)).round(4)
    once = pd.DataFrame(X, columns=list("abcd")).assign(y=rng.choice(["no", "yes"], n // 3))
    return pd.concat([once] * 3).sample(frac=1.0, random_state=seed).reset_index(drop=True)


def leaks(n: int = 500, seed: int = 0) -> pd.DataFrame:
    """Churn with three columns known only afterwards; one shows by where it is empty."""
    rng = np.random.default_rng(seed)
    tenure, calls = rng.integers(1, 72, n), rng.poisson(3, n)
    left = rng.random(n) < 1 / (1 + np.exp(0.05 * tenure - 0.3 * calls))
    return pd.DataFrame(
        {
            "tenure": tenure,
            "calls": calls,
            "closed": np.where(left, "account closed", "open"),
            "farewell": np.where(left, rng.integers(1, 10, n), 0),
            "refund": np.where(left, rng.uniform(1, 80, n).round(2), np.nan),
            "churned": np.where(left, "yes", "no"),
        }
    )


def classes_of_two(n: int = 30, seed: int = 0) -> pd.DataFrame:
    """Thirty kinds of which there are two rows each."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n, 4)) * 3
    X = np.repeat(centres, 2, axis=0) + 0.3 * rng.normal(size=(2 * n, 4))
    kind = np.repeat([f"kind {number}" for number in range(n)], 2)
    return pd.DataFrame(X.round(3), columns=list("abcd")).assign(kind=kind)


def daily_series(n: int = 730, seed: int = 0) -> pd.DataFrame:
    """A random walk by day, and noise beside it: neighbours in time know the answer."""
    rng = np.random.default_rng(seed)
    days = pd.date_range("2020-01-01", periods=n)
    walk = 100 + np.cumsum(rng.normal(0, 1, n))
    frame = {"date": days.strftime("%Y-%m-%d"), "wind": rng.gamma(2, 2, n).round(2)}
    return pd.DataFrame({**frame, "humidity": rng.integers(30, 99, n), "load": walk.round(2)})


def subjects(n: int = 20, rows: int = 40, seed: int = 0) -> pd.DataFrame:
    """Twenty people of forty rows: each has a place of their own, and a class by lot."""
    rng = np.random.default_rng(seed)
    place = np.repeat(rng.normal(size=(n, 5)) * 2, rows, axis=0)
    X = (place + 0.5 * rng.normal(size=(n * rows, 5))).round(3)
    state = np.repeat(rng.choice(["calm", "tense", "asleep"], n), rows)
    lot = rng.random(n * rows) < 0.12
    state[lot] = rng.choice(["calm", "tense", "asleep"], lot.sum())
    frame = pd.DataFrame(X, columns=[f"sensor{i}" for i in range(5)])
    frame.insert(0, "subject", np.repeat(np.arange(1, n + 1), rows))
    mixed = frame.assign(state=state).sample(frac=1.0, random_state=seed)
    return mixed.reset_index(drop=True)


def titanic_like(n: int = 500, seed: int = 0) -> pd.DataFrame:
    """Names with titles in them, ages and cabins often missing."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.36
    klass = rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55])
    survived = rng.random(n) < np.where(woman, 0.75, 0.2) - 0.08 * (klass - 2)
    names = [
        f"{word}, {'Mrs.' if w else 'Mr.'} {first}"
        for word, w, first in zip(
            rng.choice(_words(rng, 400, 2, 5), n),
            woman,
            rng.choice(_words(rng, 60), n),
            strict=True,
        )
    ]
    return pd.DataFrame(
        {
            "PassengerId": np.arange(1, n + 1),
            "Survived": survived.astype(int),
            "Pclass": klass,
            "Name": names,
            "Age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(1, 75, n)),
            "Cabin": np.where(
                rng.random(n) < 0.75, "", rng.choice(["A12", "B5", "C103", "E33"], n)
            ),
            "Embarked": rng.choice(["S", "C", "Q"], n, p=[0.7, 0.2, 0.1]),
        }
    )


def write_workbook(path: Path, n: int = 120, seed: int = 0) -> Path:
    """Write a sheet as offices do: a title, a blank line, the header, the rows, their total."""
    from openpyxl import Workbook

    rng = np.random.default_rng(seed)
    book = Workbook()
    notes = book.active
    assert notes is not None
    notes.title = "About"
    notes.append(["Figures of the year; ask the office"])
    sheet = book.create_sheet("Sales")
    for line in (
        ["Sales of the year"],
        ["in thousands, preliminary"],
        [],
        ["shop", "size", "staff", "sales"],
    ):
        sheet.append(line)
    size, staff = rng.integers(50, 400, n), rng.integers(2, 20, n)
    sales = (size * 1.5 + staff * 20 + rng.normal(0, 40, n)).round(1)
    region = rng.choice(["north", "south", "west"], n)
    for row in zip(region, size.tolist(), staff.tolist(), sales.tolist(), strict=True):
        sheet.append(list(row))
    sheet.append(["Total", int(size.sum()), int(staff.sum()), float(sales.sum())])
    book.save(path)
    return path


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str]] = {
    "german_flats": (german_flats, "Miete"),
    "tickets": (tickets, "team"),
    "loans": (loans, "status"),
    "lab_values": (lab_values, "finding"),
    "cities": (cities, "sales"),
    "counts": (counts, "score"),
    "ratings": (ratings, "quality"),
    "typos": (typos, "salary"),
    "copies": (copies, "y"),
    "leaks": (leaks, "churned"),
    "classes_of_two": (classes_of_two, "kind"),
    "daily_series": (daily_series, "load"),
    "subjects": (subjects, "state"),
    "titanic_like": (titanic_like, "Survived"),
}


def write_tables(folder: Path) -> dict[str, Path]:
    """Write all fifteen, each as CSV but for the workbook; German ones with semicolons."""
    paths = {"workbook": write_workbook(folder / "workbook.xlsx")}
    for name, (make, _) in TABLES.items():
        paths[name] = folder / f"{name}.csv"
        make().to_csv(paths[name], index=False, sep=";" if name == "german_flats" else ",")
    return paths
