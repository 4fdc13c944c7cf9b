"""Lines that say how far a fit is."""

from __future__ import annotations

import time

from vicinal._lines import Lines


class Iterations:
    """Print a line an iteration where asked to, with the time that is left at most.

    It is a :data:`~vicinal.metric.descent.Listener` that never ends a descent.

    Parameters
    ----------
    name : str
        Of the learner.
    verbose : int
        0 prints nothing.
    n_iter : int
        How many iterations there will be at most.
    """

    def __init__(self, name: str, verbose: int, n_iter: int) -> None:
        self.lines, self.n_iter = Lines(name, verbose), n_iter
        self.began = time.monotonic()

    def __call__(self, iteration: int, loss: float, parameters: object = None) -> bool:
        """Print the line of an iteration, 1 the first."""
        self.tell(iteration, loss)
        return False

    def tell(self, iteration: int, loss: float, more: str = "") -> None:
        """Print the line of an iteration with something more to say."""
        left = (time.monotonic() - self.began) / iteration * (self.n_iter - iteration)
        self.lines.say(
            f"iteration {iteration} of {self.n_iter}, loss {loss:.5g}{more}, "
            f"at most {left:.0f} s left"
        )
