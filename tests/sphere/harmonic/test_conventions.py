"""One test for each line of docs/guide/sphere_conventions.md; its docstring is that line."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from math import pi, sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation
from scipy.special import eval_legendre, sph_harm_y
from scipy.stats import kstest
from tests.oracles import harmonics as oracle

from vicinal import sphere

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "sphere_conventions.md"
GRIDS = ["driscoll-healy", "gauss-legendre"]
RNG = np.random.default_rng(0)
TRIANGLES = [(1, 1, 0), (1, 1, 1), (1, 2, 3), (2, 2, 1), (2, 3, 2), (3, 1, 2), (0, 2, 2)]


def words(text: str) -> str:
    return " ".join(text.split())


def lines_of_the_page() -> list[str]:
    return [words(item) for item in re.findall(r"^- ((?:.+\n)(?:  .+\n)*)", PAGE.read_text(), re.M)]


def test_every_line_of_the_page_is_a_test_and_every_test_a_line():
    here = sys.modules[__name__]
    told = [words(t.__doc__) for n, t in vars(here).items() if n.startswith("test_") and t.__doc__]
    assert sorted(told) == sorted(lines_of_the_page())
    assert len(told) > 30


def rotations(n: int = 4) -> torch.Tensor:
    return sphere.random_rotations(n, torch.Generator().manual_seed(0))


def coefficients(l_max: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(l_max + 1) ** 2) + 1j * rng.normal(size=(l_max + 1) ** 2)


def real_coefficients(l_max: int, seed: int = 0) -> np.ndarray:
    """Coefficients of a real function, by quadrature."""
    points, weights = oracle.sphere_nodes(l_max + 2)
    values = oracle.function(coefficients(l_max, seed), points).real
    return (weights * values) @ oracle.harmonics(l_max, *oracle.angles(points)).conj()


def degree(l: int) -> slice:
    return slice(l * l, (l + 1) ** 2)


def found_by(transform: sphere.SphericalTransform, values: np.ndarray) -> np.ndarray:
    """Coefficients of one signal (n_theta, n_phi), in ascending l, then m."""
    parts = transform(torch.from_numpy(values)[None, None]).to_complex()
    return torch.cat(parts, dim=1)[0, :, 0].numpy()


def signal_of(transform: sphere.SphericalTransform, f: np.ndarray) -> np.ndarray:
    parts = [torch.from_numpy(f[degree(l)])[None, :, None] for l in range(transform.l_max + 1)]
    return transform.inverse(sphere.Fragments.from_complex(parts))[0, 0].numpy()


def close(found, expected, atol=1e-12):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=atol)


# Functions and coefficients


def test_angles():
    """Colatitude θ ∈ [0, π] is measured from the z axis and longitude φ ∈ [0, 2π) from the x axis
    towards y: the point is (sin θ cos φ, sin θ sin φ, cos θ)."""
    grid = sphere.spherical_grid(4)
    assert grid.theta.min() >= 0
    assert grid.theta.max() <= pi
    assert grid.phi.min() >= 0
    assert grid.phi.max() < 2 * pi
    theta, phi = np.meshgrid(grid.theta, grid.phi, indexing="ij")
    expected = [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)]
    close(grid.points(), np.stack(expected, -1))


def test_harmonics():
    """Y_l^m(θ, φ) is scipy's `sph_harm_y(l, m, θ, φ)`: orthonormal, with the Condon–Shortley
    phase."""
    theta, phi = RNG.uniform(0, pi, 9), RNG.uniform(0, 2 * pi, 9)
    Y = sphere.spherical_harmonics(12, torch.from_numpy(theta), torch.from_numpy(phi))
    close(Y, oracle.harmonics(12, theta, phi))
    points, weights = oracle.sphere_nodes(6)
    basis = sphere.spherical_harmonics(4, *map(torch.from_numpy, oracle.angles(points))).numpy()
    close(basis.T.conj() @ (weights[:, None] * basis), np.eye(25))


def test_positions():
    """`spherical_harmonics(l_max, θ, φ)` holds Y_l^m at position l² + l + m."""
    Y = sphere.spherical_harmonics(3, torch.tensor(0.7), torch.tensor(2.0))
    for l, m in [(0, 0), (1, -1), (2, 1), (3, -2), (3, 3)]:
        close(Y[l * l + l + m], sph_harm_y(l, m, 0.7, 2.0), atol=1e-6)


def test_mirrored_harmonics():
    """Y_l^{−m} = (−1)^m conj Y_l^m."""
    Y = sphere.spherical_harmonics(5, torch.tensor(0.7), torch.tensor(2.0))
    for l in range(6):
        for m in range(l + 1):
            close(Y[l * l + l - m], (-1) ** m * Y[l * l + l + m].conj())


def test_coefficients():
    """The coefficients of f are f̂_l^m = ∫ f conj(Y_l^m) sin θ dθ dφ."""
    f = coefficients(4)
    points, weights = oracle.sphere_nodes(9)
    integrals = (weights * oracle.function(f, points)) @ oracle.harmonics(
        4, *oracle.angles(points)
    ).conj()
    transform = sphere.SphericalTransform(5, 4).double()
    close(found_by(transform, oracle.function(f, transform.points().numpy())), integrals)


def test_functions():
    """The function of coefficients f̂ is f = Σ_lm f̂_l^m Y_l^m."""
    f = coefficients(4)
    transform = sphere.SphericalTransform(5, 4).double()
    close(signal_of(transform, f), oracle.function(f, transform.points().numpy()))


def test_parseval():
    """∫ |f|² sin θ dθ dφ = Σ_lm |f̂_l^m|²."""
    f = coefficients(4)
    transform = sphere.SphericalTransform(5, 4).double()
    squared = np.abs(signal_of(transform, f)) ** 2
    close((squared * transform.weights.numpy()[:, None]).sum(), (np.abs(f) ** 2).sum())


def test_real_functions():
    """A real function has f̂_l^{−m} = (−1)^m conj f̂_l^m."""
    transform = sphere.SphericalTransform(5, 4).double()
    f = found_by(transform, RNG.normal(size=(10, 10)))
    for l in range(5):
        m = np.arange(-l, l + 1)
        close(f[degree(l)][::-1], (-1.0) ** m * f[degree(l)].conj())


# Grids


def test_driscoll_healy():
    """The Driscoll–Healy grid of bandwidth b has 2b colatitudes θ_k = π(2k + 1)/(4b) and 2b
    longitudes φ_j = πj/b."""
    grid = sphere.spherical_grid(7, "driscoll-healy")
    close(grid.theta, [pi * (2 * k + 1) / 28 for k in range(14)])
    close(grid.phi, [pi * j / 7 for j in range(14)])


def test_gauss_legendre():
    """The Gauss–Legendre grid of bandwidth b has b colatitudes, with cos θ_k the roots of the
    Legendre polynomial of degree b, and 2b longitudes φ_j = πj/b."""
    grid = sphere.spherical_grid(7, "gauss-legendre")
    assert len(set(grid.theta.tolist())) == 7
    close(eval_legendre(7, np.cos(grid.theta.numpy())), np.zeros(7))
    close(grid.phi, [pi * j / 7 for j in range(14)])


def test_signal_axes():
    """A signal is indexed by (batch, channel, k, j)."""
    transform = sphere.SphericalTransform(3, 2, "gauss-legendre").double()
    parts = [torch.zeros(2, 2 * l + 1, 4, dtype=torch.complex128) for l in range(3)]
    parts[2][1, 3, 2] = 1  # Y_2^1 in channel 2 of sample 1
    signal = transform.inverse(sphere.Fragments.from_complex(parts))
    assert signal.shape == (2, 4, 3, 6)
    for k, j in [(0, 0), (1, 4), (2, 5)]:
        expected = sph_harm_y(2, 1, float(transform.theta[k]), float(transform.phi[j]))
        close(signal[1, 2, k, j], expected)
    assert int((signal.abs().amax((2, 3)) > 0).sum()) == 1


def test_weights():
    """On both grids the weighted sum is the integral for every function of degree below 2b."""
    for kind in GRIDS:
        grid = sphere.spherical_grid(4, kind)
        theta, phi = np.meshgrid(grid.theta, grid.phi, indexing="ij")
        Y = oracle.harmonics(7, theta, phi)
        integrals = np.einsum("k,kjn->n", grid.weights.numpy(), Y)
        close(integrals, [sqrt(4 * pi), *np.zeros(63)])


def test_exact_degrees():
    """On both grids the coefficients of degree l ≤ b − 1 are exact for every function of degree at
    most b − 1."""
    for kind in GRIDS:
        transform = sphere.SphericalTransform(6, 5, kind).double()
        f = coefficients(5)
        close(found_by(transform, oracle.function(f, transform.points().numpy())), f)
        with pytest.raises(ValueError, match="up to 5, but l_max = 6"):
            sphere.SphericalTransform(6, 6, kind)


# Rotations


def test_euler_angles():
    """R(α, β, γ) = R_z(α) R_y(β) R_z(γ), where R_z(π/2) takes x to y and R_y(π/2) takes z to x."""
    quarter = torch.tensor(pi / 2, dtype=torch.float64)
    zero = torch.zeros_like(quarter)
    x, y, z = torch.eye(3, dtype=torch.float64)
    close(sphere.euler_to_matrix(quarter, zero, zero) @ x, y)
    close(sphere.euler_to_matrix(zero, quarter, zero) @ z, x)
    a, b, c = torch.tensor([0.3, 1.1, 4.0], dtype=torch.float64)
    product = (
        sphere.euler_to_matrix(a, zero, zero)
        @ sphere.euler_to_matrix(zero, b, zero)
        @ sphere.euler_to_matrix(zero, zero, c)
    )
    close(sphere.euler_to_matrix(a, b, c), product)
    close(product, oracle.rotation(0.3, 1.1, 4.0))


def test_scipy_rotations():
    """Euler angles are scipy's intrinsic "ZYZ" and quaternions its (w, x, y, z), scalar first."""
    R = rotations(20)
    theirs = Rotation.from_matrix(R.numpy())
    close(sphere.euler_to_matrix(*torch.from_numpy(theirs.as_euler("ZYZ")).unbind(-1)), R)
    close(sphere.quaternion_to_matrix(torch.from_numpy(theirs.as_quat(scalar_first=True))), R)


def test_quaternion_sign():
    """Quaternions q and −q are one rotation, and their length does not matter."""
    q = torch.randn(500, 4, dtype=torch.float64)
    for other in (-q, 3 * q):
        close(sphere.quaternion_to_matrix(other), sphere.quaternion_to_matrix(q))


def test_haar():
    """Random rotations are Haar: fixed ones before or after them change no distribution, and cos β
    is uniform."""
    R = rotations(4000)
    fixed = rotations(2)
    for moved in (R, fixed[0] @ R, R @ fixed[1]):
        alpha, beta, gamma = Rotation.from_matrix(moved.numpy()).as_euler("ZYZ").T % (2 * pi)
        for uniform in ((np.cos(beta) + 1) / 2, alpha / (2 * pi), gamma / (2 * pi)):
            assert kstest(uniform, "uniform").pvalue > 0.001


# Wigner matrices


def test_rotated_functions():
    """A rotated function is (Rf)(x) = f(R⁻¹x), and its coefficients are D^l(R) f̂_l."""
    f, R = coefficients(4), rotations(1)[0]
    transform = sphere.SphericalTransform(5, 4).double()
    points = transform.points().numpy()
    turned = found_by(transform, oracle.function(f, points @ np.linalg.inv(R.numpy()).T))
    for l in range(5):
        close(turned[degree(l)], sphere.wigner_d(l, R).numpy() @ f[degree(l)])


def test_group():
    """D^l is unitary and D^l(R₁R₂) = D^l(R₁) D^l(R₂)."""
    A, B = rotations(2)
    for l in range(9):
        close(sphere.wigner_d(l, A @ B), sphere.wigner_d(l, A) @ sphere.wigner_d(l, B))
        close(sphere.wigner_d(l, A) @ sphere.wigner_d(l, A).mH, np.eye(2 * l + 1))


def test_entries():
    """D^l_mn(α, β, γ) = exp(−imα) d^l_mn(β) exp(−inγ) is at row m + l and column n + l."""
    a, b, c = torch.tensor([0.3, 1.1, 4.0], dtype=torch.float64)
    zero = torch.zeros_like(a)
    for l in range(5):
        D = sphere.wigner_d(l, sphere.euler_to_matrix(a, b, c))
        d = sphere.wigner_d(l, sphere.euler_to_matrix(zero, b, zero))
        for m in range(-l, l + 1):
            for n in range(-l, l + 1):
                phase = np.exp(-1j * (m * 0.3 + n * 4.0))
                close(D[m + l, n + l], phase * complex(d[m + l, n + l]))


def test_small_d():
    """d^l(β) = exp(−iβ J_y) is real, with J_y in the standard basis."""
    beta = torch.tensor(1.1, dtype=torch.float64)
    zero = torch.zeros_like(beta)
    for l in (1, 2, 7):
        d = sphere.wigner_d(l, sphere.euler_to_matrix(zero, beta, zero))
        close(d.imag, np.zeros((2 * l + 1, 2 * l + 1)))
        close(d, oracle.wigner(l, 0, 1.1, 0))


def test_sympy_wigner():
    """D^l_mn is sympy's `Rotation.D(l, m, n, α, β, γ)`."""
    from sympy.physics.quantum.spin import Rotation as SympyRotation

    a, b, c = torch.tensor([0.3, 1.1, 4.0], dtype=torch.float64)
    for l in (1, 2):
        D = sphere.wigner_d(l, sphere.euler_to_matrix(a, b, c))
        for m, n in [(l, l), (1, -1), (0, 1), (-l, 1), (-1, 0)]:
            close(D[m + l, n + l], complex(SympyRotation.D(l, m, n, 0.3, 1.1, 4).doit()))


def test_harmonics_in_wigner_matrices():
    """D^l_m0(α, β, γ) = √(4π/(2l + 1)) conj Y_l^m(β, α)."""
    a, b, c = torch.tensor([0.3, 1.1, 4.0], dtype=torch.float64)
    Y = sphere.spherical_harmonics(6, b, a)
    for l in range(7):
        column = sphere.wigner_d(l, sphere.euler_to_matrix(a, b, c))[:, l]
        close(column, sqrt(4 * pi / (2 * l + 1)) * Y[degree(l)].conj())


def test_high_degrees():
    """D^l is unitary and multiplicative to 1e-12 in double precision at l = 64."""
    A, B = rotations(2)
    D, E, product = sphere.wigner_d(64, torch.stack([A, B, A @ B]))
    close(D @ D.mH, np.eye(129), atol=1e-12)
    close(D @ E, product, atol=1e-12)


# Clebsch–Gordan coefficients


def test_sympy_coefficients():
    """C[m1 + l1, m2 + l2, m + l] is sympy's `CG(l1, m1, l2, m2, l, m)`: real, with the standard
    phase."""
    from sympy.physics.quantum.cg import CG

    for l1, l2, l in TRIANGLES:
        C = sphere.clebsch_gordan(l1, l2, l)
        assert C.dtype == torch.float64
        for m1 in range(-l1, l1 + 1):
            for m2 in range(max(-l2, -l - m1), min(l2, l - m1) + 1):
                expected = float(CG(l1, m1, l2, m2, l, m1 + m2).doit())
                close(C[m1 + l1, m2 + l2, m1 + m2 + l], expected, atol=1e-15)


def test_selection_rules():
    """C vanishes unless m = m1 + m2, and is refused unless |l1 − l2| ≤ l ≤ l1 + l2."""
    for l1, l2, l in TRIANGLES:
        C = sphere.clebsch_gordan(l1, l2, l)
        for m1, m2, m in C.nonzero().tolist():
            assert m - l == m1 - l1 + m2 - l2
    for l in (1, 7):
        with pytest.raises(ValueError, match=f"2 to 6 for l1 = 2 and l2 = 4, but l = {l}"):
            sphere.clebsch_gordan(2, 4, l)


def test_orthogonality():
    """As a matrix of (2l1 + 1)(2l2 + 1) rows and 2l + 1 columns, C has orthonormal columns; those
    of all l together are an orthogonal matrix."""
    for l1, l2 in [(1, 1), (2, 3), (4, 1)]:
        blocks = [
            sphere.clebsch_gordan(l1, l2, l).flatten(0, 1) for l in range(abs(l1 - l2), l1 + l2 + 1)
        ]
        for C in blocks:
            close(C.T @ C, np.eye(C.shape[1]))
        whole = torch.cat(blocks, dim=1)
        assert whole.shape[0] == whole.shape[1]
        close(whole @ whole.T, np.eye(len(whole)))


def test_decomposition():
    """D^l = Cᵀ [D^l1 ⊗ D^l2] C."""
    R = rotations(1)[0]
    for l1, l2, l in TRIANGLES:
        C = sphere.clebsch_gordan(l1, l2, l).flatten(0, 1) + 0j
        product = torch.kron(sphere.wigner_d(l1, R), sphere.wigner_d(l2, R))
        close(C.T @ product @ C, sphere.wigner_d(l, R))


def test_exchange():
    """Exchanging (l1, m1) with (l2, m2) multiplies C by (−1)^(l1 + l2 − l)."""
    for l1, l2, l in TRIANGLES:
        exchanged = sphere.clebsch_gordan(l2, l1, l).transpose(0, 1)
        close(exchanged, (-1) ** (l1 + l2 - l) * sphere.clebsch_gordan(l1, l2, l), atol=0)


def test_products_of_real_functions():
    """Where f and h are coefficients of real functions, g = Cᵀ [f ⊗ h] has g^{−m} = (−1)^(l1 + l2 −
    l) (−1)^m conj g^m."""
    f, h = real_coefficients(3, 0), real_coefficients(3, 1)
    for l1, l2, l in TRIANGLES:
        C = sphere.clebsch_gordan(l1, l2, l).flatten(0, 1).numpy()
        g = C.T @ np.kron(f[degree(l1)], h[degree(l2)])
        signs = (-1.0) ** (l1 + l2 - l + np.arange(-l, l + 1))
        close(g[::-1], signs * g.conj())


# Functions on SO(3)


def matrices(l_max: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = [(2 * l + 1, 2 * l + 1) for l in range(l_max + 1)]
    return [torch.randn(s, dtype=torch.complex128, generator=generator) for s in shapes]


def at(G: list[torch.Tensor], alpha: float, beta: float, gamma: float) -> complex:
    """Σ_l Tr[G_l D^l(R)†] with D^l as a product of matrix exponentials."""
    D = [oracle.wigner(l, alpha, beta, gamma) for l in range(len(G))]
    return sum(np.trace(g.numpy() @ d.conj().T) for g, d in zip(G, D, strict=True))


def on_rotations(G: list[torch.Tensor], R: torch.Tensor) -> torch.Tensor:
    D = sphere.wigner_d_all(len(G) - 1, R)
    terms = [torch.einsum("mn,...mn->...", g, d.conj()) for g, d in zip(G, D, strict=True)]
    return torch.stack(terms).sum(0)


def test_so3_grid():
    """The grid of bandwidth b on SO(3) has α_i = πi/b, β_k = π(2k + 1)/(4b) and γ_j = πj/b, and a
    signal is indexed by (…, i, k, j)."""
    transform = sphere.SO3Transform(3, 2).double()
    G = matrices(2)
    signal, R = transform.inverse(G), transform.rotations()
    for i, k, j in [(0, 0, 0), (1, 2, 5), (4, 5, 3)]:
        angles = pi * i / 3, pi * (2 * k + 1) / 12, pi * j / 3
        close(R[i, k, j], oracle.rotation(*angles))
        close(signal[i, k, j], at(G, *angles))


def test_so3_coefficients():
    """G_l = (2l + 1) ∫ g(R) D^l(R) dμ(R), with μ the Haar measure of mass 1."""
    G = matrices(2)
    x, w = np.polynomial.legendre.leggauss(5)  # a rule on other points than the transform's
    turns = torch.arange(5, dtype=torch.float64) * (2 * pi / 5) + 0.1
    beta = torch.from_numpy(np.arccos(x))
    R = sphere.euler_to_matrix(turns[:, None, None], beta[:, None], turns)
    g = on_rotations(G, R)
    mass = torch.from_numpy(w)[:, None] / 50
    close(mass.expand(5, 5, 5).sum(), 1)
    transform = sphere.SO3Transform(4, 2).double()
    found = transform(on_rotations(G, transform.rotations()))
    for l in range(3):
        D = sphere.wigner_d(l, R)
        close(found[l], (2 * l + 1) * torch.einsum("akc,akc,akcmn->mn", mass + 0j * g, g, D))


def test_so3_functions():
    """g(R) = Σ_l Tr[G_l D^l(R)†]."""
    transform, G = sphere.SO3Transform(4, 2).double(), matrices(2)
    signal = transform.inverse(G)
    close(signal[3, 1, 6], at(G, 3 * pi / 4, 3 * pi / 16, 6 * pi / 4))
    close(signal, on_rotations(G, transform.rotations()))


def test_so3_moved():
    """The function R ↦ g(Q⁻¹R) has the matrices D^l(Q) G_l."""
    transform, G, Q = sphere.SO3Transform(3, 2).double(), matrices(2), rotations(1)[0]
    moved = transform(on_rotations(G, Q.T @ transform.rotations()))
    for l in range(3):
        close(moved[l], sphere.wigner_d(l, Q) @ G[l])


def test_so3_real():
    """A real function on SO(3) has G_{−m,−n} = (−1)^(m − n) conj G_{m,n}."""
    G = sphere.SO3Transform(3, 2).double()(torch.from_numpy(RNG.normal(size=(6, 6, 6))))
    for l in range(3):
        for m in range(-l, l + 1):
            for n in range(-l, l + 1):
                close(G[l][l - m, l - n], (-1) ** (m - n) * G[l][l + m, l + n].conj())


def test_spherical_correlation():
    """The correlation (h ⋆ f)(R) = ∫ conj h(R⁻¹x) f(x) dx of functions on the sphere has the
    matrices f̂_l ĥ_l†."""
    f, h = coefficients(3, 0), coefficients(3, 1)
    G = [
        torch.from_numpy(np.outer(f[degree(l)], h[degree(l)].conj())) for l in range(4)
    ]  # f̂_l ĥ_l†
    points, weights = oracle.sphere_nodes(5)
    R = rotations(3)
    for r, value in zip(R.numpy(), on_rotations(G, R), strict=True):
        rotated = oracle.function(h, points @ r)  # rows are points: x R = R⁻¹ x
        close(value, weights @ (rotated.conj() * oracle.function(f, points)))
    signal, filters = (
        sphere.Fragments.from_complex(
            [torch.from_numpy(c[degree(l)])[None, :, None] for l in range(4)]
        )
        for c in (f, h)
    )
    for found, expected in zip(sphere.spherical_correlation(signal, filters), G, strict=True):
        close(found[0, 0], expected)


def test_so3_correlation():
    """The correlation (h ⋆ f)(R) = ∫ conj h(R⁻¹S) f(S) dμ(S) of functions on SO(3) has the matrices
    F_l H_l† / (2l + 1)."""
    F, H = matrices(2, 0), matrices(2, 1)
    G = [F[l] @ H[l].mH / (2 * l + 1) for l in range(3)]
    grid = sphere.SO3Transform(3, 0).double()
    S, R = grid.rotations(), rotations(1)[0]
    integrand = on_rotations(H, R.T @ S).conj() * on_rotations(F, S)
    close(on_rotations(G, R), grid(integrand)[0][0, 0])
    found = sphere.so3_correlation([g[None, None] for g in F], [g[None, None] for g in H])
    for one, expected in zip(found, G, strict=True):
        close(one[0, 0], expected)


# e3nn


@pytest.fixture
def o3() -> Iterator[ModuleType]:
    """e3nn in double precision: it computes in torch's default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from e3nn import o3
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield o3
    torch.set_default_dtype(before)


def test_e3nn_coefficients(o3):
    """With U = `to_e3nn_basis(l)`, U f̂_l are the coefficients of f in e3nn's harmonics of
    normalisation "integral", and they are real where f is."""
    points, _ = oracle.sphere_nodes(4)
    for f in (coefficients(3), real_coefficients(3)):
        total = 0
        for l in range(4):
            Y = o3.spherical_harmonics(l, torch.from_numpy(points), True, "integral")
            total = total + Y.numpy() @ (sphere.to_e3nn_basis(l).numpy() @ f[degree(l)])
        close(total, oracle.function(f, points))
    for l in range(4):
        close((sphere.to_e3nn_basis(l).numpy() @ f[degree(l)]).imag, np.zeros(2 * l + 1))


def test_e3nn_harmonics(o3):
    """e3nn's harmonics of normalisation "integral" are conj(U) Y_l."""
    points, _ = oracle.sphere_nodes(4)
    Y = oracle.harmonics(11, *oracle.angles(points))
    for l in range(12):
        theirs = o3.spherical_harmonics(l, torch.from_numpy(points), True, "integral")
        close(Y[:, degree(l)] @ sphere.to_e3nn_basis(l).mH.numpy(force=True), theirs)


def test_e3nn_wigner(o3):
    """e3nn's `Irrep(l, 1).D_from_matrix(R)` is U D^l(R) U†."""
    R = rotations(3)
    for l in range(12):
        U = sphere.to_e3nn_basis(l)
        close(U @ sphere.wigner_d(l, R) @ U.mH, o3.Irrep(l, 1).D_from_matrix(R))


def test_e3nn_coupling(o3):
    """e3nn's `wigner_3j(l1, l2, l)` is C, with its indices moved by U_l1, U_l2 and conj(U_l), times
    (−i)^(l1 + l2 − l) / √(2l + 1)."""
    for l1, l2, l in TRIANGLES:
        U1, U2, U = (sphere.to_e3nn_basis(k) for k in (l1, l2, l))
        C = sphere.clebsch_gordan(l1, l2, l) + 0j
        moved = torch.einsum("abc,ia,jb,kc->ijk", C, U1, U2, U.conj())
        factor = (-1j) ** (l1 + l2 - l) / sqrt(2 * l + 1)
        close(factor * moved, o3.wigner_3j(l1, l2, l, dtype=torch.float64))
