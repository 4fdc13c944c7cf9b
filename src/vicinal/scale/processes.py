"""Processes that train one network together, started by ``torchrun``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def process_group() -> Iterator[int]:
    """Join the processes that ``torchrun`` started; yield this one's number, 0 where it is alone.

    The processes talk by gloo, which needs no more than a CPU and a network. Outside torchrun
    nothing is set up.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield 0
        return
    from torch import distributed

    distributed.init_process_group("gloo")
    try:
        yield distributed.get_rank()
    finally:
        distributed.destroy_process_group()


def wait_for_all() -> None:
    """Go on when every process has come this far."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.barrier()
