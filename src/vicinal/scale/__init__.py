"""Fits on data that no one machine holds."""

from vicinal.scale._dask import fit_distributed

__all__ = ["fit_distributed"]
