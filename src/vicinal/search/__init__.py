"""Search under a learned map: queries are adapted, the index stays where it is.

    queries, documents, relevance ─▶ Judgements ─▶ splits: new queries, new documents
                                          │                 │
           AdapterObjective (losses, ridge) ─▶ descend ─▶ choose, the identity among the candidates
                                                            │
    QueryAdapter ◀──────────────────────────────────────────┘
         └─▶ export: faiss, pgvector, DuckDB, LanceDB, Qdrant, usearch, sqlite-vec, Parquet, ONNX

A query x and a document z score (U x + b)·z: every store that knows inner products, or cosines of
unit vectors, serves it unchanged.
"""

from vicinal.search._adapter import QueryAdapter
from vicinal.search._measures import MEASURES
from vicinal.search._relevance import read_judgements
from vicinal.search.export import TARGETS, export_metric

__all__ = ["MEASURES", "TARGETS", "QueryAdapter", "export_metric", "read_judgements"]
