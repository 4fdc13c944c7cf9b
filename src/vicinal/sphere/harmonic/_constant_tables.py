"""Modules of constants that are exact in whatever precision they are moved to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

import torch
from torch import Tensor, nn


class ConstantTables(nn.Module):
    """A module whose tables are rounded once, from double precision, at every change of it.

    Subclasses return them from ``_tables`` and call ``_set_tables`` when made. Tables that are not
    floating point keep their type; none is in the ``state_dict``.
    """

    def _tables(self) -> Mapping[str, Tensor]:
        raise NotImplementedError

    def _set_tables(
        self, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> None:
        dtype, device = dtype or torch.get_default_dtype(), device or torch.get_default_device()
        for name, table in self._tables().items():
            kind = dtype if table.is_floating_point() else table.dtype
            self.register_buffer(name, table.to(device, kind, copy=True), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move to another precision or device."""
        before = self._one_table().dtype
        super()._apply(fn, recurse)
        after = self._one_table()
        if after.dtype != before and not after.is_meta:
            self._set_tables(after.dtype, after.device)
        return self

    def _one_table(self) -> Tensor:
        return next(table for table in self.buffers() if table.is_floating_point())
