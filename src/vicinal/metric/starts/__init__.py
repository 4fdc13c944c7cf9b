"""Starts: maps computed directly from the rows, from which learning sets out.

    rows in a frame ─▶ start_map(Start) ─▶ L (p, r) ─▶ scale_to_margin ─▶ a start with things to learn

``within_scatter`` and ``discriminant_map`` are the library's one shrunk discriminant analysis.
"""

from vicinal.metric.starts._discriminant import Scatter, discriminant_map, within_scatter
from vicinal.metric.starts._maps import STARTS, Start, principal_map, start_map
from vicinal.metric.starts._margin import scale_to_margin

__all__ = [
    "STARTS",
    "Scatter",
    "Start",
    "discriminant_map",
    "principal_map",
    "scale_to_margin",
    "start_map",
    "within_scatter",
]
