"""What is open in an adapter: the loss, the ridge, and how far documents move."""

from __future__ import annotations

from dataclasses import dataclass

# The ridges of a path, strongest first: a tenth in two steps.
RIDGES = (0.1, 0.03, 0.01, 0.003)
# How often a document counts beside its queries.
WEIGHTS = (16.0, 8.0, 4.0, 2.0)
LOSSES = ("softmax", "hinge", "gerrymandering")


@dataclass(frozen=True)
class AdapterSetting:
    """``loss`` None leaves queries as they are, ``weight`` None the documents."""

    loss: str | None = None
    ridge: float = float("inf")
    weight: float | None = None

    def label(self) -> str:
        """Return a name for tables."""
        parts = []
        if self.weight is not None:
            parts.append(f"documents moved, weight {self.weight:g}")
        if self.loss is not None:
            parts.append(f"{self.loss}, ridge {self.ridge:g}")
        return "; ".join(parts) or "identity"


IDENTITY = AdapterSetting()
