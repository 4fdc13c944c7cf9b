"""Hostile tables: bombs, entities, one endless line, names that are code, and damaged files.

A table is read rightly or refused in words, in seconds and within a few hundred megabytes; nothing
in it is obeyed, neither by the page nor by the terminal.
"""

from __future__ import annotations

import io
import json
import resource
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.fuzz._outcomes import Try, Wrong
from tests.fuzz.mutations import damage

from vicinal.data import read_table
from vicinal.report import Comparison, Row, render_page, render_table

# Beyond what the process had taken before; a table of 100 MB may be held a few times over.
MOST_MEGABYTES = 1500
SHEET = "xl/worksheets/sheet1.xml"
NAMES = (
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "\x1b[2J\x1b]0;owned\x07",
    "[bold red]x[/]", "{{ 7 * 7 }}", "=HYPERLINK(\"http://evil\")", "a\u202egnp.exe", "\ud800",
    "</style><style>*{display:none}", "' onmouseover='alert(1)", "x" * 100_000, "\0", "a\nb\rc",
)  # fmt: skip


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="vicinal-fuzz-"))


@cache
def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)).round(3), columns=list("abc"))
    frame["text"] = [f"some words, {number % 7}" for number in range(40)]
    frame["day"] = pd.date_range("2021-01-01", periods=40).strftime("%Y-%m-%d")
    return frame.assign(kind=np.where(rng.random(40) < 0.5, "u", "v"))


@cache
def _whole(suffix: str) -> bytes:
    """Return a table as the bytes of a file of some kind."""
    frame, file = _frame(), io.BytesIO()
    if suffix == ".csv":
        return frame.to_csv(index=False).encode()
    if suffix == ".jsonl":
        return frame.to_json(orient="records", lines=True).encode()
    if suffix == ".npz":
        np.savez(file, X=frame[list("abc")].to_numpy(), y=(frame["kind"] == "u").to_numpy())
    elif suffix == ".xlsx":
        frame.to_excel(file, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(file)
    elif suffix == ".feather":
        frame.to_feather(file)
    else:
        kinds = dict.fromkeys("abc", "real") | {"text": "string", "day": "string"}
        lines = ["@relation r", *(f"@attribute {n} {k}" for n, k in kinds.items())]
        lines += ["@attribute kind {u,v}", "@data"]
        rows = (",".join(f"'{v}'" for v in row) for row in frame.to_numpy())
        return "\n".join([*lines, *rows]).encode()
    return file.getvalue()


SUFFIXES = (".csv", ".jsonl", ".npz", ".xlsx", ".parquet", ".feather", ".arff")


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield each bomb once, then damaged files without end."""
    for name, make in BOMBS.items():
        yield Try(name, _reading(name, make))
    for name in NAMES:
        yield Try(f"a column called {name[:20]!a}", _naming(name))
    while True:
        for suffix in SUFFIXES:
            seed = int(random.integers(2**32))
            yield Try(f"{suffix} {seed}", _damaged(suffix, seed))


def _damaged(suffix: str, seed: int) -> Callable[[], str]:
    def run() -> str:
        data = damage(_whole(suffix), np.random.default_rng(seed))
        return _read(suffix, data, "y" if suffix == ".npz" else "kind")

    return run


def _reading(name: str, make: Callable[[], bytes]) -> Callable[[], str]:
    return lambda: _read(f".{name.partition(':')[0]}", make(), "y")


def _read(suffix: str, data: bytes, target: str) -> str:
    path = _folder() / f"table{suffix}"
    path.write_bytes(data)
    before = _megabytes()
    try:
        read_table(path, target, impute=True)
    except ValueError as error:
        if len(str(error)) > 20_000:
            raise Wrong(f"a message of {len(str(error)):,} letters") from error
        return "refused"
    finally:
        if _megabytes() - before > MOST_MEGABYTES:
            raise Wrong(f"it took {_megabytes() - before} MB")
    return "read"


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# Bombs ----------------------------------------------------------------------------------------


def _workbook(parts: dict[str, str]) -> bytes:
    """Return a workbook whose parts are replaced by others."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_whole(".xlsx"))) as whole,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        for name in {*whole.namelist(), *parts}:
            changed.writestr(name, parts[name] if name in parts else whole.read(name))
    return file.getvalue()


def _sheet(cell: str, head: str = "") -> str:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{cell if n > 1 else "y"}</t></is></c></row>'
        for n in range(1, 30)
    )
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    data = f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
    return f'<?xml version="1.0"?>{head}{data}'


def _laughs() -> str:
    """Return entities of entities: a billion laughs in a kilobyte."""
    lines = ['<!ENTITY l0 "ha">']
    lines += [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 11)]
    return f"<!DOCTYPE w [{''.join(lines)}]>"


def _parquet(n_rows: int, size: int) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = io.BytesIO()
    words = pa.DictionaryArray.from_arrays(np.zeros(n_rows, np.int32), ["a" * size])
    table = pa.table({"t": words, "y": np.arange(n_rows) % 2})
    parquet.write_table(table, file, compression="zstd", store_schema=False)
    return file.getvalue()


def _feather(n_rows: int) -> bytes:
    import pyarrow as pa
    import pyarrow.feather as feather

    file = io.BytesIO()
    feather.write_feather(pa.table({"y": np.zeros(n_rows)}), file, compression="zstd")
    return file.getvalue()


def _claim(shape: tuple[int, ...], version: tuple[int, int]) -> bytes:
    """Return an archive of an array that claims a shape and holds nothing."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, b"\x93NUMPY" + bytes(version) + length + header.encode())
    return file.getvalue()


def _keys() -> bytes:
    return "\n".join(json.dumps({f"key{n}": 1, "y": n % 2}) for n in range(24_000)).encode()


BOMBS: dict[str, Callable[[], bytes]] = {
    "xlsx: an entity from a file": lambda: _workbook(
        {SHEET: _sheet("&x;", '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>')}
    ),
    "xlsx: an entity from the net": lambda: _workbook(
        {SHEET: _sheet("&x;", '<!DOCTYPE w [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>')}
    ),
    "xlsx: a billion laughs": lambda: _workbook({SHEET: _sheet("&l10;", _laughs())}),
    "xlsx: shared strings of 200 MB": lambda: _workbook(
        {"xl/sharedStrings.xml": f"<sst>{'<si><t>a</t></si>' * 12_000_000}</sst>"}
    ),
    "xlsx: shared strings that laugh": lambda: _workbook(
        {"xl/sharedStrings.xml": f"{_laughs()}<sst><si><t>&l10;</t></si></sst>"}
    ),
    "parquet: a long text in many rows": lambda: _parquet(3000, 1_400_000),
    "parquet: a longer one": lambda: _parquet(32_000, 2_000_000),
    "feather: zeros": lambda: _feather(60_000_000),
    "npz: no rows of 10^11 columns": lambda: _claim((0, 10**11), (1, 0)),
    "npz: a header of the third version": lambda: _claim((10**6, 10**5), (3, 0)),
    "jsonl: another key a line": _keys,
    "jsonl: one line of 60 MB": lambda: b'{"y": "' + b"a" * 60_000_000 + b'"}',
    "csv: one line of 60 MB": lambda: b"y," + b"a" * 60_000_000,
    "csv: one quoted cell of 60 MB": lambda: b'a,y\n"' + b"a\n" * 30_000_000 + b'",u\n2,v\n',
    "csv: a million columns": lambda: b",".join([b"y"] * 1_000_000) + b"\n" + b"1," * 1_000_000,
    "arff: a cell of 60 MB": lambda: b"@attribute y {u}\n@data\n'" + b"a" * 60_000_000 + b"'\n",
}


# Names ----------------------------------------------------------------------------------------


def _naming(name: str) -> Callable[[], str]:
    def run() -> str:
        from rich.console import Console

        found = _comparison(name)
        page = render_page(found)
        for code in ("<script>alert", "<img src=x", "<style>*{display", "onmouseover='alert"):
            if code in page:
                raise Wrong("the page obeys a name")
        screen = io.StringIO()
        Console(file=screen, width=200).print(render_table(found))
        if "\x1b]" in screen.getvalue() or "\x1b[2J" in screen.getvalue():
            raise Wrong("the terminal obeys a name")
        return "shown"

    return run


def _comparison(name: str) -> Comparison:
    numbers: Any = dict.fromkeys(
        ("fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds", "peak_mb"), 0.1
    )
    row = Row(
        name, "euclidean", name, 3, (0.1,), 0.1, float("nan"), None, None, n_train=10, n_test=5,
        best=True, message=name, notes=(name,), **numbers,
    )  # fmt: skip
    return Comparison(
        name, "classification", 10, 2, 2, name, name, 0, "0", (row,), notes=(name,),
        classes=(name, "b"), target=name, command=name, call=name,
    )  # fmt: skip
