"""What a fit says while it works."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Lines:
    """Lines of a learner on standard output, each beginning with its name.

    A line has a level, and is shown where the user's ``verbose`` is at least that.
    """

    name: str
    verbose: int

    def say(self, line: str, level: int = 1) -> None:
        """Print a line, where the user wants to see it."""
        if self.verbose >= level:
            sys.stdout.write(f"[{self.name}] {line}\n")
            sys.stdout.flush()


QUIET = Lines("", 0)
