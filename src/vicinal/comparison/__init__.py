"""The main job: methods compared on the same folds, and what each of them learned."""

from vicinal.comparison._compare import plan_comparison, run_comparison, write_outputs
from vicinal.comparison._sources import find_source
from vicinal.comparison._summary import summarize_records

__all__ = [
    "find_source",
    "plan_comparison",
    "run_comparison",
    "summarize_records",
    "write_outputs",
]
