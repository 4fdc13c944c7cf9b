"""Training images drawn with an unsteady hand."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._bending import bend
from vicinal._types import AnyArray, FloatArray
from vicinal.data._signals import check_images

N_KNOTS = 7  # four spans an image: on 28 pixels, strokes bend over some 7 of them
_SPREAD_OF_SPLINE = 0.479  # root mean square of a field whose coefficients have variance one


def bend_images(
    images: AnyArray, generator: np.random.Generator, *, strength: float = 1.0
) -> FloatArray:
    """Return images bent by random smooth fields of displacements, one field each.

    Pixels move by cubic B-splines with random coefficients, 5 % of the image's side in root mean
    square at ``strength`` 1: elastic distortions, as handwriting has them [simard2003].

    Parameters
    ----------
    images : array of shape (n, height, width)
    generator : numpy Generator
    strength : float, default=1
        Zero bends nothing.

    Returns
    -------
    float32 ndarray of the images' shape

    Examples
    --------
    >>> import numpy as np
    >>> image = np.eye(28)[None]
    >>> bent = bend_images(image, np.random.default_rng(0))
    >>> bool(np.abs(bent - image).max() > 0.1)
    True
    """
    images = np.ascontiguousarray(check_images(images), dtype=np.float32)
    side = np.array(images.shape[1:], float)[:, None, None]
    knots = generator.normal(
        0.0, 0.05 * strength / _SPREAD_OF_SPLINE, (len(images), 2, *2 * (N_KNOTS,))
    )
    return bend(images, knots * side)
