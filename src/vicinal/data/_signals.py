"""Images as functions on the sphere."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._hemisphere import sample_hemisphere
from vicinal._threads import map_blocks, thread_count
from vicinal._types import AnyArray, FloatArray

_BLOCK = 256  # images a thread draws at a time
PROJECTIONS = ("lambert", "stereographic")


def project_images(
    images: AnyArray,
    theta: AnyArray,
    phi: AnyArray,
    *,
    rotations: AnyArray | None = None,
    warps: AnyArray | None = None,
    projection: str = "lambert",
    n_jobs: int | None = None,
) -> FloatArray:
    """Return images laid on the northern hemisphere, as values at given directions.

    The disc inscribed in the image covers the hemisphere, its centre at the pole and its circle on
    the equator: by Lambert's azimuthal map, which gives equal areas of the image equal areas of
    the sphere, or by the stereographic one, which keeps angles and draws the centre larger. Seen
    from above the pole with x to the right and y up, the image is not mirrored. What lies outside
    the circle is left out, and the southern half is zero. A rotation R carries the drawn sphere
    along: its value at x is the unrotated one's at R⁻¹x, read from the image itself, not from a
    transform.

    Parameters
    ----------
    images : array of shape (n, height, width)
        Read bilinearly between the centres of pixels.
    theta, phi : arrays that broadcast to the shape of the grid
        Colatitude and longitude of the directions.
    rotations : array of shape (n, 3, 3), optional
        One rotation an image.
    warps : array of shape (n, 2, 3), optional
        [A | b] of each image: the disc's point p shows the image's at A p + b, in halves of the
        image's shorter side. For drawing a training image a little differently.
    projection : {"lambert", "stereographic"}, default="lambert"
        At colatitude θ the distance from the image's centre is √2 sin(θ/2) or tan(θ/2), in halves
        of the image's shorter side.
    n_jobs : int, default=None
        Threads. None takes as many as the linear algebra library is set to use.

    Returns
    -------
    float32 ndarray: one value for each image and direction, images first

    Notes
    -----
    Time O(n · grid), memory the result.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((1, 5, 5)); image[0, 2, 4] = 1  # a dot at the right edge
    >>> east = project_images(image, np.array([np.pi / 3]), np.array([0.0]))
    >>> north = project_images(image, np.array([np.pi / 3]), np.array([np.pi / 2]))
    >>> bool(east > 0.5), bool(north == 0)
    (True, True)
    """
    check_projection(projection)
    images = np.ascontiguousarray(check_images(images), dtype=np.float32)
    theta, phi = np.broadcast_arrays(np.asarray(theta, float), np.asarray(phi, float))
    points = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)
    points = points.reshape(-1, 3)
    frames = _one_each(rotations, np.eye(3), len(images), "rotations")
    warps = _one_each(warps, np.eye(2, 3), len(images), "warps")
    n_threads = thread_count(n_jobs)
    size = max(1, min(_BLOCK, -(-len(images) // n_threads)))
    blocks = [slice(start, start + size) for start in range(0, len(images), size)]

    def draw(rows: slice) -> FloatArray:
        conformal = projection == "stereographic"
        drawn: FloatArray = sample_hemisphere(
            images[rows], points, frames[rows], warps[rows], conformal
        )
        return drawn

    values = np.concatenate(map_blocks(draw, blocks, n_threads))
    return values.reshape(len(images), *theta.shape)


def draw_warps(
    n: int, generator: np.random.Generator, *, strength: float = 1.0, shift: float = 0.02
) -> FloatArray:
    """Return random slight affine maps [A | b] of the disc, one an image.

    A is a turn, a shear and two stretches, b a shift; each normal around no change, with
    standard deviations of 7°, 0.1, 8 % and ``shift`` of half a side at ``strength`` 1.
    """
    turn, shear = generator.normal(0.0, strength, (2, n)) * np.array([[0.12], [0.1]])
    stretch = np.exp(generator.normal(0.0, 0.08 * strength, (n, 2)))
    rotation = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], -1)
    slant = np.stack([stretch[:, 0], shear, np.zeros(n), stretch[:, 1]], -1)
    warps = np.empty((n, 2, 3))
    warps[:, :, :2] = rotation.reshape(n, 2, 2) @ slant.reshape(n, 2, 2)
    warps[:, :, 2] = generator.normal(0.0, shift * strength, (n, 2))
    return warps


def check_projection(projection: str) -> None:
    """Refuse a map that is not known."""
    if projection not in PROJECTIONS:
        raise ValueError(f"projection={projection!r}: take 'lambert' or 'stereographic'.")


def check_images(images: AnyArray) -> AnyArray:
    """Return images as an array (n, height, width), refusing other shapes and infinities."""
    images = np.asarray(images)
    if images.ndim != 3 or 0 in images.shape:
        raise ValueError(
            f"images of shape {images.shape}: expected (n, height, width), none of them zero."
        )
    if not np.isfinite(images).all():
        raise ValueError("images hold NaN or infinite values; replace them first.")
    return images


def _one_each(given: AnyArray | None, neutral: FloatArray, n: int, name: str) -> FloatArray:
    if given is None:
        return np.broadcast_to(neutral, (n, *neutral.shape)).copy()
    given = np.asarray(given, dtype=np.float64)
    if given.shape != (n, *neutral.shape):
        raise ValueError(
            f"{name} of shape {given.shape} for {n} images: expected {(n, *neutral.shape)}."
        )
    return np.ascontiguousarray(given)
