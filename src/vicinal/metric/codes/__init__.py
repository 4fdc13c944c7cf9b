"""Codes: rows as bits, searched by counting the bits that differ.

    HammingMLNG.fit ─▶ HammingProblem ─▶ learn (selection, descent: shared with all learners)
                            │
                            └─ HammingObjective: h*, ĥ among the rows of a step, relaxed codes
    BinaryEncoder: encode (database), encode_queries, soften_queries ─▶ BinaryIndex

A hash function is layers of one flat vector of parameters (``Layers``). Every learner of codes is
a ``BinaryEncoder``: its codes are the signs of what it projects rows to.
"""

from vicinal.metric.codes._encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.codes._hamming import HammingMLNG
from vicinal.metric.codes._layers import Layers

__all__ = ["BinaryEncoder", "HammingMLNG", "Layers", "check_bits", "query_scale"]
