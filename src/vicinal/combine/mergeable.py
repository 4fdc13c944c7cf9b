"""What a fit over partitions needs of the means and choices here; see :mod:`vicinal.scale`."""

from vicinal.combine._averaging import mean_map, near_squared_distance
from vicinal.combine._mean import draw_seed, linear_map
from vicinal.combine._members import check_member, fit_member, prepare_member
from vicinal.combine._race import average
from vicinal.combine._target import read_target

__all__ = [
    "average",
    "check_member",
    "draw_seed",
    "fit_member",
    "linear_map",
    "mean_map",
    "near_squared_distance",
    "prepare_member",
    "read_target",
]
