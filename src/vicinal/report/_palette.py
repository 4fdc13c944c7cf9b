"""Colours of the page: one list for light paper, one for dark, told apart by every eye.

The categorical colours were found by a search that maximises the smallest OKLab distance between
any two of them, as seen with normal vision and with simulated protan-, deutan- and tritanopia.
"""

from __future__ import annotations

LIGHT = (
    "#1f6fb4", "#dd6a12", "#2fae8e", "#b02068", "#3b1a8f", "#5a1b00",
    "#b0a2fe", "#7978fb", "#4c5a09", "#f09c17", "#382b4d", "#bb7cca",
)  # fmt: skip
DARK = (
    "#58a9f0", "#f0883a", "#74edc6", "#c2578d", "#efe05a", "#7d5ee0",
    "#856b1b", "#90b697", "#aec5ec", "#6f83c3", "#f05560", "#fab45f",
)  # fmt: skip
# Viridis in even steps; its ends vanish into black and white paper, so each theme leaves one out.
LIGHT_STEPS = (
    "#440154", "#472c7a", "#3b518a", "#2d728e", "#22918b", "#2dae7e", "#62c95f", "#afdd2f",
)  # fmt: skip
DARK_STEPS = (
    "#404286", "#33638d", "#287e8e", "#209b8a", "#33b57a", "#6bcd5a", "#b3de2c", "#fde725",
)  # fmt: skip
N_COLOURS, N_STEPS = len(LIGHT), len(LIGHT_STEPS)


def css_variables(*, dark: bool) -> str:
    """``--c0`` … for classes and methods, ``--v0`` … for the continuous scale."""
    named = {f"--c{i}": code for i, code in enumerate(DARK if dark else LIGHT)}
    named |= {f"--v{i}": code for i, code in enumerate(DARK_STEPS if dark else LIGHT_STEPS)}
    return ";".join(f"{name}:{code}" for name, code in named.items())
