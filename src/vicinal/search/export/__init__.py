"""A learned metric in the stores people use.

    metric, documents ─▶ Layout: vectors to store, similarity to ask by, the queries' map
                            ├─▶ files: faiss, usearch, Parquet, ONNX
                            ├─▶ SQL: pgvector, DuckDB, sqlite-vec
                            └─▶ databases: LanceDB, Qdrant

What is stored and how it is asked follows from the metric alone: of one map L, store Lz and ask Lx
by the Euclidean distance; of a map of queries alone, store z and ask Ux + b by inner product; of
codes, store packed bits.
"""

from vicinal.search.export._export import TARGETS, export_metric
from vicinal.search.export._packages import import_store

__all__ = ["TARGETS", "export_metric", "import_store"]
