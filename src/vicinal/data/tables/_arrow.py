"""Parquet and Feather files, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.data.tables._arrow_sizes import unpacked_size
from vicinal.data.tables._limits import refuse_beyond, unpacked_limit
from vicinal.data.tables._raw_table import check_column_names, quoted

if TYPE_CHECKING:
    import pandas as pd


def read_arrow(path: Path, suffix: str) -> pd.DataFrame:
    """Return the columns of a Parquet or Feather file, with their types."""
    kind = suffix[1:].capitalize()
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ValueError(
            f"{path}: reading {kind} needs pyarrow, which is not installed: "
            "pip install 'vicinal[parquet]', or save the table as CSV."
        ) from error
    try:
        table = _read_table(path, suffix)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path}: not a whole {kind} file ({reason})") from error
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_column_names(names, path)
    described = (table.schema.pandas_metadata or {}).get("columns", [])
    table = table.select(names).replace_schema_metadata()  # an index of pandas is no column
    nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
    if nested:
        raise ValueError(
            f"{path}: columns hold lists or records, not single values: {quoted(nested)}. "
            "Spread them over columns of their own or remove them."
        )
    frame = _with_floats_for_decimals(table).to_pandas()
    declared = {entry.get("name"): entry.get("pandas_type") for entry in described}
    return frame.astype({n: "category" for n in names if declared.get(n) == "categorical"})


def _with_floats_for_decimals(table: Any) -> Any:
    import pyarrow as pa

    fields = [
        field.with_type(pa.float64()) if pa.types.is_decimal(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _read_table(path: Path, suffix: str) -> Any:
    """Return the table, gathered in pieces that together stay within what it may unpack to."""
    import pyarrow as pa

    limit, size, pieces = unpacked_limit(path), 0, []
    with _opened(path, suffix) as (schema, batches):
        for batch in batches:
            size += sum(map(_dense_size, batch.columns, schema))
            refuse_beyond(size, limit, path)
            pieces.append(_cast_to(schema, batch))
    return pa.Table.from_batches(pieces, schema)


def _dense_size(column: Any, field: Any) -> int:
    """Return the bytes a column takes once it is of the type the file declares."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == field.type:
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(column.nbytes) + int(pc.sum(lengths.take(column.indices)).as_py() or 0)


def _cast_to(schema: Any, batch: Any) -> Any:
    """Return a batch whose texts stand in their rows; categories that a file declares stay."""
    import pyarrow as pa

    columns = [
        column if column.type == field.type else column.dictionary_decode()
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[tuple[Any, Iterable[Any]]]:
    import pyarrow as pa

    if suffix == ".parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as parquet:
            schema = parquet.schema_arrow
            texts = [
                field.name
                for field in schema
                if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
            ]
        # Texts as they are packed, each once: a page can repeat a long one a million times.
        with ParquetFile(path, read_dictionary=texts) as parquet:
            groups = [parquet.metadata.row_group(n) for n in range(parquet.num_row_groups)]
            refuse_beyond(sum(g.total_byte_size for g in groups), unpacked_limit(path), path)
            yield schema, parquet.iter_batches()
        return
    with pa.OSFile(str(path)) as file:
        if file.read(4) == b"FEA1":  # the first format of Feather, which packs nothing
            from pyarrow.feather import read_table

            table = read_table(path, memory_map=False)
            yield table.schema, table.to_batches()
            return
        refuse_beyond(unpacked_size(path), unpacked_limit(path), path)
        reader = pa.ipc.open_file(file)
        yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))
