"""Files of vectors, and of the pairs that say which document answered which query.

    .npy  .npz  .npz:name      arrays; "ids" and "texts" beside them in an .npz
    .parquet                   the column of lists of numbers; "id" and "text"
    .jsonl                     an object a line: "vector" or "embedding", "id", "text"

Pairs are row numbers a query (.npy, .npz), or two columns, query and document, and maybe a grade
(.csv, .tsv, .parquet, .jsonl, .npy): by id where the vectors have ids, else by row number.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray

_NAMES = ("vector", "vectors", "embedding", "embeddings", "X")


@dataclass(frozen=True)
class VectorFile:
    """Vectors (n, d), what each is called (None: its row number), and its text."""

    vectors: AnyArray
    ids: Sequence[Any] | None = None
    texts: Sequence[str] | None = None

    def text(self, row: int) -> str:
        """Return a row's text, or what it is called."""
        if self.texts is not None:
            return str(self.texts[row])
        return str(row if self.ids is None else self.ids[row])

    def rows_of(self, names: Sequence[Any], what: str) -> AnyArray:
        """Return the rows that some names stand for: ids where there are any, else numbers."""
        if self.ids is None:
            try:
                return np.array([int(str(name)) for name in names], np.int64)
            except ValueError as error:
                raise ValueError(
                    f"the pairs name a {what} {str(error).rsplit(': ', 1)[-1]}, which is no row "
                    f"number, and the {what} file has no ids."
                ) from None
        places = {str(name): row for row, name in enumerate(self.ids)}
        missing = next((name for name in names if str(name) not in places), None)
        if missing is not None:
            raise ValueError(
                f"the pairs name {what} {str(missing)!r}, which is not among the "
                f"{len(places):,} ids of the {what} file."
            )
        return np.array([places[str(name)] for name in names], np.int64)


def read_vectors(place: str) -> VectorFile:
    """Return the vectors of a file; ``FILE.npz:name`` picks one array of several.

    Raises
    ------
    ValueError
        Saying what the file is not.
    """
    path, name = _place(place)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return VectorFile(_matrix(_load_npy(path), place))
    if suffix == ".npz":
        return _vectors_of_npz(path, name, place)
    if suffix == ".parquet":
        return _vectors_of_parquet(path, name)
    if suffix in (".jsonl", ".ndjson"):
        return _vectors_of_jsonl(path)
    raise ValueError(f"{place} must be .npy, .npz, .parquet or .jsonl.")


def read_pairs(place: str, queries: VectorFile, documents: VectorFile) -> Any:
    """Return relevance as :class:`~vicinal.QueryAdapter` takes it."""
    path, name = _place(place)
    suffix = path.suffix.lower()
    m, n = len(queries.vectors), len(documents.vectors)
    if suffix in (".npy", ".npz"):
        array = _load_npy(path) if suffix == ".npy" else _array_of_npz(path, name, place)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{place} must hold row numbers, got {array.dtype}.")
        return array
    if suffix in (".csv", ".tsv"):
        rows = _read_csv(path)
    elif suffix == ".parquet":
        rows = _read_parquet(path)
    elif suffix in (".jsonl", ".ndjson"):
        rows = [_pair_of(record, path, line) for line, record in _lines(path)]
    else:
        raise ValueError(f"{place} must be .csv, .tsv, .jsonl, .parquet, .npy or .npz.")
    if not rows:
        raise ValueError(f"{place} names no pair.")
    if any(len(row) not in (2, 3) for row in rows):
        raise ValueError(f"{place} must have two columns, query and document, and maybe a grade.")
    questions = queries.rows_of([row[0] for row in rows], "query")
    answers = documents.rows_of([row[1] for row in rows], "document")
    grades = np.array([_grade(row, place) for row in rows])
    for what, numbers, count in (("query", questions, m), ("document", answers, n)):
        wrong = numbers[(numbers < 0) | (numbers >= count)]
        if len(wrong):
            raise ValueError(f"{place} names {what} {wrong[0]}, but there are {count:,}.")
    return sparse.coo_array((grades, (questions, answers)), shape=(m, n))


def _grade(row: Sequence[Any], place: str) -> float:
    if len(row) == 2:
        return 1.0
    try:
        return float(row[2])
    except (TypeError, ValueError):
        raise ValueError(f"{place}: the grade {row[2]!r} is not a number.") from None


def _place(place: str) -> tuple[Path, str | None]:
    """Return the file, and the name of an array or column behind a colon."""
    path = Path(place)
    if not path.exists() and ":" in path.name:
        file, _, name = place.rpartition(":")
        path = Path(file)
        if path.is_file():
            return path, name
    if not path.is_file():
        raise ValueError(f"{place}: no such file.")
    return path, None


def _load_npy(path: Path) -> AnyArray:
    try:
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an array: {error}") from error
    return array


def _npz(path: Path) -> dict[str, AnyArray]:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as arrays: {error}") from error


def _array_of_npz(path: Path, name: str | None, place: str) -> AnyArray:
    arrays = _npz(path)
    if name is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if name not in arrays:
        raise ValueError(
            f"{place}: say which array of {', '.join(arrays)} is meant, as {path.name}:NAME."
        )
    return arrays[name]


def _vectors_of_npz(path: Path, name: str | None, place: str) -> VectorFile:
    arrays = _npz(path)
    wide = [each for each, array in arrays.items() if array.ndim == 2]
    usual = [each for each in wide if each in _NAMES]
    picked = name or (wide[0] if len(wide) == 1 else usual[0] if len(usual) == 1 else None)
    if picked not in arrays:
        raise ValueError(
            f"{place}: say which array of {', '.join(wide or arrays)} has the vectors, as "
            f"{path.name}:NAME."
        )
    vectors = _matrix(arrays[picked], place)
    ids, texts = (
        list(arrays[each]) if name is None and each in arrays and len(arrays[each]) == len(vectors)
        else None
        for each in ("ids", "texts")
    )  # fmt: skip
    return VectorFile(vectors, ids, texts)


def _vectors_of_parquet(path: Path, name: str | None) -> VectorFile:
    table = _table(path)
    import pyarrow as pa

    lists = [
        field.name
        for field in table.schema
        if pa.types.is_list(field.type)
        or pa.types.is_large_list(field.type)
        or pa.types.is_fixed_size_list(field.type)
    ]
    picked = name or (lists[0] if len(lists) == 1 else None)
    if picked not in lists:
        raise ValueError(
            f"{path} must have one column of lists of numbers; say which of "
            f"{', '.join(lists) or 'none'} is meant, as {path.name}:COLUMN."
        )
    vectors = _stacked(table[picked].to_pylist(), path)
    columns = table.column_names
    ids, texts = (table[each].to_pylist() if each in columns else None for each in ("id", "text"))
    return VectorFile(vectors, ids, texts)


def _vectors_of_jsonl(path: Path) -> VectorFile:
    vectors, ids, texts = [], [], []
    for number, record in _lines(path):
        named = [name for name in _NAMES if name in record]
        if not named:
            raise ValueError(f'{path}, line {number}: there is no "vector" or "embedding".')
        vectors.append(record[named[0]])
        ids.append(record.get("id"))
        texts.append(record.get("text"))
    return VectorFile(
        _stacked(vectors, path),
        ids if all(each is not None for each in ids) else None,
        list(map(str, texts)) if all(each is not None for each in texts) else None,
    )


def _stacked(vectors: Sequence[Any], path: Path) -> AnyArray:
    if not vectors:
        raise ValueError(f"{path} holds no vectors.")
    try:
        return _matrix(np.array(vectors, np.float32), str(path))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: vectors must be lists of as many numbers each.") from error


def _matrix(array: AnyArray, place: str) -> AnyArray:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{place} must hold vectors, one a row, got {array.dtype} of shape {array.shape}."
        )
    return array


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError(f"{path}, line {number} is not a JSON object.")
                yield number, record
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a file of JSON lines: {error}") from error


def _pair_of(record: dict[str, Any], path: Path, line: int) -> list[Any]:
    if "query" not in record or "document" not in record:
        raise ValueError(f'{path}, line {line}: there must be a "query" and a "document".')
    pair = [record["query"], record["document"]]
    return [*pair, record["grade"]] if "grade" in record else pair


def _read_csv(path: Path) -> list[list[str]]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    header = rows and [cell.strip().lower() for cell in rows[0]][:2] == ["query", "document"]
    return rows[1:] if header else rows


def _read_parquet(path: Path) -> list[list[Any]]:
    table = _table(path)
    names = [name for name in ("query", "document", "grade") if name in table.column_names]
    if names[:2] != ["query", "document"]:
        raise ValueError(f'{path} must have the columns "query" and "document".')
    columns = [table[name].to_pylist() for name in names]
    return [list(row) for row in zip(*columns, strict=True)]


def _table(path: Path) -> Any:
    from vicinal.search.export import import_store

    parquet = import_store("parquet")
    try:
        return parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error
