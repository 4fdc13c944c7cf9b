"""SQL scripts: tables, the documents, the queries' map, and the statement that asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from vicinal._types import AnyArray, IntArray
from vicinal._writing import write_atomically
from vicinal.search.export._layout import Layout

# Rows that one INSERT holds.
_ROWS = 200
_PGVECTOR = {
    "inner": ("<#>", "vector_ip_ops"),
    "euclidean": ("<->", "vector_l2_ops"),
    "hamming": ("<~>", "bit_hamming_ops"),
}
# Numbers of a vector that an index of pgvector takes at most.
_MOST_INDEXED = 2000


def write_pgvector(layout: Layout, ids: IntArray | None, out: Path, table: str) -> None:
    """Write a script for psql: the documents, an index, and a function that maps raw queries."""
    name, bits = _checked(table), layout.similarity == "hamming"
    operator, ops = _PGVECTOR[layout.similarity]
    column = f"bit({layout.width})" if bits else f"vector({layout.width})"
    parts = [
        "CREATE EXTENSION IF NOT EXISTS vector;",
        f"CREATE TABLE {name} (id bigint PRIMARY KEY, embedding {column});",
    ]
    parts += _inserts(layout, ids, name, _bits if bits else _quoted)
    query = "$1"
    if not bits:
        parts += _postgres_map(layout, name)
        query = f"{name}_query($1::vector)"
    if layout.width <= _MOST_INDEXED or bits:
        parts += [
            "-- approximate search by a graph; without it the search is exact",
            f"CREATE INDEX {name}_near ON {name} USING hnsw (embedding {ops});",
        ]
    parts.append(f"-- ask: SELECT id FROM {name} ORDER BY embedding {operator} {query} LIMIT 10;")
    _write(out, parts)


def write_duckdb(layout: Layout, ids: IntArray | None, out: Path, table: str) -> None:
    """Write a script for DuckDB: plain arrays, and a macro that maps raw queries."""
    name, p = _checked(table), layout.width
    if layout.similarity == "hamming":
        parts = [f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, embedding BIT);"]
        parts += _inserts(layout, ids, name, _bits)
        parts.append(f"-- ask: SELECT id FROM {name} ORDER BY bit_count(xor(embedding, $1)), id "
                     "LIMIT 10;")  # fmt: skip
        _write(out, parts)
        return
    matrix, d = layout.linear("DuckDB"), layout.n_inputs
    parts = [f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, embedding FLOAT[{p}]);"]
    parts += _inserts(layout, ids, name, _bracketed)
    parts.append(f"CREATE TABLE {name}_map (i INTEGER, weights FLOAT[{d}], bias FLOAT);")
    parts += _map_rows(matrix, layout, name, _bracketed)
    raw = f"(x::FLOAT[{d}])"
    product = f"array_inner_product(m.weights, {raw})"
    if layout.unit_queries:
        product += f" / sqrt(array_inner_product({raw}, {raw}))"
    parts.append(
        f"CREATE MACRO {name}_query(x) AS (SELECT list({product} + m.bias ORDER BY m.i)"
        f"::FLOAT[{p}] FROM {name}_map m);"
    )
    distance = "array_distance" if layout.similarity == "euclidean" else (
        "array_negative_inner_product"
    )  # fmt: skip
    parts.append(
        f"-- ask: WITH asked AS MATERIALIZED (SELECT {name}_query($1) AS q) SELECT id FROM {name}, "
        f"asked ORDER BY {distance}(embedding, q), id LIMIT 10;"
    )
    _write(out, parts)


def write_sqlite(layout: Layout, ids: IntArray | None, out: Path, table: str) -> None:
    """Write a script for sqlite-vec; it is asked with queries that are mapped already."""
    name, p = _checked(table), layout.width
    if layout.similarity == "inner" and not layout.unit:
        raise ValueError(
            "sqlite-vec knows no inner product, and the documents are not of unit length; fit with "
            "similarity='cosine'."
        )
    bits = layout.similarity == "hamming"
    kind = {"inner": "distance_metric=cosine", "euclidean": "distance_metric=L2", "hamming": ""}
    column = f"bit[{p}]" if bits else f"float[{p}] {kind[layout.similarity]}"
    parts = [f"CREATE VIRTUAL TABLE {name} USING vec0(id INTEGER PRIMARY KEY, embedding {column});"]
    parts += _inserts(layout, ids, name, _blob if bits else _quoted)
    query = "vec_bit($1)" if bits else "$1"
    parts.append(
        f"-- ask: SELECT id FROM {name} WHERE embedding MATCH {query} AND k = 10 ORDER BY distance;"
    )
    _write(out, parts)


def _postgres_map(layout: Layout, name: str) -> list[str]:
    """Return the table of the queries' map, and the function that applies it."""
    matrix = layout.linear("pgvector")
    raw = "l2_normalize(x)" if layout.unit_queries else "x"
    return [
        f"CREATE TABLE {name}_map (i int PRIMARY KEY, weights vector({layout.n_inputs}), "
        "bias double precision);",
        *_map_rows(matrix, layout, name, _quoted),
        f"CREATE FUNCTION {name}_query(x vector) RETURNS vector LANGUAGE sql STABLE AS $$\n"
        # <#> is minus the inner product.
        f"  SELECT array_agg(m.bias - (m.weights <#> {raw}) ORDER BY m.i)::vector FROM {name}_map m"
        "\n$$;",
    ]


def _map_rows(
    matrix: AnyArray, layout: Layout, name: str, text: Callable[[AnyArray], str]
) -> list[str]:
    offset = layout.offset()
    rows = [f"({i}, {text(row)}, {offset[i]:.9g})" for i, row in enumerate(matrix)]
    starts = range(0, len(rows), _ROWS)
    return [f"INSERT INTO {name}_map VALUES\n" + ",\n".join(rows[i : i + _ROWS]) + ";"
            for i in starts]  # fmt: skip


def _inserts(
    layout: Layout, ids: IntArray | None, name: str, text: Callable[[AnyArray], str]
) -> Iterator[str]:
    """Yield statements that insert the documents; none where there are none."""
    if layout.vectors is None or ids is None:
        return
    for first in range(0, len(ids), _ROWS):
        rows = [
            f"({number}, {text(row)})"
            for number, row in zip(
                ids[first : first + _ROWS], layout.vectors[first : first + _ROWS], strict=True
            )
        ]
        yield f"INSERT INTO {name} (id, embedding) VALUES\n" + ",\n".join(rows) + ";"


def _bracketed(row: AnyArray) -> str:
    return "[" + ",".join(f"{value:.9g}" for value in row) + "]"


def _quoted(row: AnyArray) -> str:
    return f"'{_bracketed(row)}'"


def _bits(row: AnyArray) -> str:
    return "'" + "".join(map(str, np.unpackbits(row))) + "'"


def _blob(row: AnyArray) -> str:
    return f"vec_bit(X'{row.tobytes().hex()}')"


def _checked(table: str) -> str:
    """Return a table's name; refuse what is no plain word."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,50}", table):
        raise ValueError(
            f"table must be a word of letters, digits and underscores, got {table!r:.60}."
        )
    return table


def _write(out: Path, parts: list[str]) -> None:
    write_atomically(out, "\n".join(parts) + "\n")
