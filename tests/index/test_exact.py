"""Exact search: the k nearest and all within a radius, against computing everything."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import threadpoolctl
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import NearestNeighbors
from tests.oracles.search import all_squared_distances, nearest, within

from vicinal.index import ExactIndex, FaissIndex, SparseIndex
from vicinal.predict import KNNClassifier


def tables(columns, elements, max_rows=40):
    return st.integers(1, max_rows).flatmap(
        lambda rows: arrays(np.float64, (rows, columns), elements=elements)
    )


def pairs_of_tables(elements):
    return st.integers(1, 5).flatmap(
        lambda columns: st.tuples(tables(columns, elements), tables(columns, elements, 6))
    )


few_integers = st.integers(-2, 2).map(float)
wild_floats = st.one_of(
    st.floats(-1e150, 1e150, allow_nan=False),
    st.sampled_from([0.0, 1e-200, -1e-170, 1e-30, 1e20, 1e6 + 1e-3, 1e6, -1e140]),
)


def build_or_reject(vectors):
    """Build an index; rows that no unit keeps apart are refused, and no example."""
    try:
        return ExactIndex(vectors)
    except ValueError:
        reject()


def assert_same_as_sorting_everything(vectors, queries, k, **options):
    index = ExactIndex(vectors, **options)
    expected = nearest(all_squared_distances(queries / index.unit, vectors / index.unit), k)
    found = index.query(queries, k)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@given(pairs_of_tables(few_integers), st.data())
def test_neighbours_are_those_of_sorting_everything_with_many_ties(tables, data):
    vectors, queries = tables
    k = data.draw(st.integers(1, len(vectors)))
    block_size = data.draw(st.sampled_from([None, 1, 3, 7]))
    assert_same_as_sorting_everything(vectors, queries, k, block_size=block_size)


@given(pairs_of_tables(wild_floats), st.data())
@example((np.full((5, 1), 1e-170), np.zeros((1, 1))), None)
@example((np.zeros((2, 1)), np.full((1, 1), 2e38)), None)
@example((np.zeros((2, 1)), np.full((1, 1), 4e38)), None)
@example((np.array([[1e20, 0.0], [0.0, 1e-20], [1e20, 1.0]]), np.zeros((1, 2))), None)
def test_neighbours_are_those_of_sorting_everything_at_any_scale(tables, data):
    vectors, queries = tables
    assume(np.abs(queries).max(initial=0) <= 1e150 * build_or_reject(vectors).unit)
    k = data.draw(st.integers(1, len(vectors))) if data else len(vectors) - 1
    assert_same_as_sorting_everything(vectors, queries, k, block_size=3)


@given(pairs_of_tables(few_integers), st.sampled_from([0.0, 1.0, 2.0, 2.5, np.inf]))
def test_a_radius_finds_what_sorting_everything_finds(tables, radius):
    vectors, queries = tables
    expected = within(all_squared_distances(queries, vectors), radius * radius)
    found = ExactIndex(vectors, block_size=4).query_radius(queries, radius)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(pairs_of_tables(wild_floats), st.floats(0, 1e160))
@settings(max_examples=50)
def test_a_radius_is_exact_at_any_scale(tables, radius):
    vectors, queries = tables
    index = build_or_reject(vectors)
    assume(np.abs(queries).max(initial=0) <= 1e150 * index.unit)
    with np.errstate(over="ignore"):
        squared_radius = np.float64(radius / index.unit) ** 2
    squared = all_squared_distances(queries / index.unit, vectors / index.unit)
    expected = within(squared, squared_radius)
    found = index.query_radius(queries, radius)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[2], expected[2])


def normal(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 17, 200])
@pytest.mark.parametrize("k", [1, 3, 60])
def test_neighbours_are_exact_on_continuous_data(dtype, d, k):
    vectors, queries = normal(900, d, dtype=dtype), normal(70, d, seed=1, dtype=dtype)
    assert_same_as_sorting_everything(vectors, queries, k, block_size=256)


@pytest.mark.parametrize("block_size", [1, 10, 333, 5000])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_do_not_depend_on_blocks_or_threads(block_size, n_jobs):
    vectors = np.round(normal(700, 6) * 2)
    queries = np.round(normal(2600 if block_size > 100 else 90, 6, seed=1) * 2)
    index = ExactIndex(vectors, block_size=block_size, n_jobs=n_jobs)
    reference = ExactIndex(vectors, n_jobs=1)
    for found, expected in zip(index.query(queries, 9), reference.query(queries, 9), strict=True):
        np.testing.assert_array_equal(found, expected)
    found_within, expected_within = (i.query_radius(queries, 2.0) for i in (index, reference))
    for found, expected in zip(found_within, expected_within, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_threads_do_share_the_queries_without_changing_them():
    vectors, queries = normal(2000, 30), normal(1500, 30, seed=1)  # enough work for threads
    one, four = (ExactIndex(vectors, n_jobs=n, block_size=256).query(queries, 5) for n in (1, 4))
    np.testing.assert_array_equal(one[0], four[0])
    np.testing.assert_array_equal(one[1], four[1])


def test_results_do_not_depend_on_float32_or_float64():
    vectors, queries = normal(500, 40, dtype=np.float32), normal(50, 40, seed=1, dtype=np.float32)
    narrow = ExactIndex(vectors).query(queries, 7)
    wide = ExactIndex(vectors.astype(np.float64)).query(queries.astype(np.float64), 7)
    mixed = ExactIndex(vectors).query(queries.astype(np.float64), 7)
    for other in (wide, mixed):
        np.testing.assert_array_equal(narrow[0], other[0])
        np.testing.assert_array_equal(narrow[1], other[1])


def test_a_query_gets_the_same_answer_alone_and_in_company():
    vectors, queries = normal(300, 8), normal(64, 8, seed=1)
    index = ExactIndex(vectors)
    together = index.query(queries, 4)
    order = np.random.default_rng(2).permutation(64)
    shuffled = index.query(queries[order], 4)
    np.testing.assert_array_equal(shuffled[0], together[0][order])
    np.testing.assert_array_equal(shuffled[1], together[1][order])
    alone = [index.query(query[None], 4) for query in queries]
    np.testing.assert_array_equal(np.vstack([a[0] for a in alone]), together[0])


def test_equal_rows_are_at_distance_zero_and_come_by_index():
    vectors = np.repeat(normal(3, 50), 4, axis=0)[[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]]
    squared_distances, indices = ExactIndex(vectors).query(vectors[:3], 4)
    assert squared_distances.tolist() == [[0.0] * 4] * 3
    assert indices.tolist() == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_common_offset_costs_no_accuracy(dtype):
    vectors, queries = normal(400, 10), normal(30, 10, seed=1)
    far, far_queries = (vectors + 1e6).astype(dtype), (queries + 1e6).astype(dtype)
    assert_same_as_sorting_everything(far, far_queries, 5)
    if dtype == np.float64:
        near = ExactIndex(vectors).query(queries, 5)[1]
        np.testing.assert_array_equal(ExactIndex(far).query(far_queries, 5)[1], near)


def test_tight_clusters_far_apart_are_told_apart():
    # 1e-7 within a cluster, 1 between: float32 about any one centre sees each cluster as a point.
    centres = np.repeat(normal(4, 5), 300, axis=0)
    vectors = centres + 1e-7 * normal(1200, 5, seed=1)
    assert_same_as_sorting_everything(vectors, vectors[::40], 6, block_size=100)


def test_rows_ever_nearer_to_the_query_are_all_seen():
    vectors = np.linspace(100, 0.001, 3000)[:, None]
    assert_same_as_sorting_everything(vectors, np.zeros((1, 1)), 10, block_size=128)


def test_it_agrees_with_scikit_learn_where_nothing_ties():
    vectors, queries = normal(2000, 20), normal(100, 20, seed=1)
    theirs = NearestNeighbors(n_neighbors=8, algorithm="brute").fit(vectors).kneighbors(queries)
    squared_distances, indices = ExactIndex(vectors).query(queries, 8)
    np.testing.assert_array_equal(indices, theirs[1])
    np.testing.assert_allclose(np.sqrt(squared_distances), theirs[0], rtol=1e-12)


def test_no_queries_give_empty_answers_of_the_right_shape():
    index = ExactIndex(normal(5, 2))
    squared_distances, indices = index.query(np.empty((0, 2)), 3)
    assert squared_distances.shape == indices.shape == (0, 3)
    values, rows, indptr = index.query_radius(np.empty((0, 2)), 1.0)
    assert values.shape == rows.shape == (0,)
    assert indptr.tolist() == [0]


def test_a_single_row_is_everyones_neighbour():
    assert ExactIndex([[1.0]]).query([[1.0], [3.0]], 1)[0].tolist() == [[0.0], [4.0]]


def test_small_integers_are_searched_as_they_are():
    pixels = np.random.default_rng(0).integers(0, 256, (50, 9), dtype=np.uint8)
    assert ExactIndex(pixels).vectors.dtype == np.float32
    assert_same_as_sorting_everything(pixels, pixels, 5)


def test_a_pickled_index_answers_alike():
    index = ExactIndex(normal(60, 3), block_size=7, n_jobs=2)
    again = pickle.loads(pickle.dumps(index))
    assert again.block_size == 7
    np.testing.assert_array_equal(
        again.query(index.vectors, 3)[1], index.query(index.vectors, 3)[1]
    )


def test_a_pickle_holds_the_vectors_once():
    index = ExactIndex(normal(2000, 20))
    assert len(pickle.dumps(index)) < 1.1 * index.vectors.nbytes


def test_the_linear_algebra_library_keeps_its_threads():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
        ExactIndex(normal(100, 3)).query(normal(100, 3), 2)
        with pytest.raises(ValueError, match="columns"):
            ExactIndex(normal(100, 3)).query(normal(100, 4), 2)
        after = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
    assert before == after


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_their_row(bad):
    vectors = normal(5, 2)
    vectors[3, 1] = bad
    with pytest.raises(ValueError, match="vectors hold NaN or infinity, first in row 3"):
        ExactIndex(vectors)
    with pytest.raises(ValueError, match="queries hold NaN or infinity, first in row 3"):
        ExactIndex(normal(5, 2)).query(vectors, 1)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones(3), r"two axes .* got shape \(3,\)"),
        (np.ones((0, 3)), "at least one row"),
        (np.ones((3, 0)), "at least one row and one column"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[1j]]), "real numbers"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(vectors, message):
    with pytest.raises(ValueError, match=message):
        ExactIndex(vectors)


@pytest.mark.parametrize("exponent", [-320, -300, -200, -150, 150, 200, 300])
def test_rows_at_any_scale_have_the_neighbours_of_the_rows(exponent):
    vectors, queries, scale = (
        normal(60, 3),
        normal(7, 3, seed=1),
        2.0 ** (exponent * np.log2(10) // 1),
    )
    if exponent > -308:  # below, values themselves lose digits
        vectors, queries = vectors.astype(np.float32), queries.astype(np.float32)
    vectors, queries = np.float64(vectors), np.float64(queries)
    index = ExactIndex(vectors * scale)
    squared, rows = index.query(queries * scale, 5)
    expected, neighbours = ExactIndex(vectors * scale / scale).query(queries * scale / scale, 5)
    np.testing.assert_array_equal(rows, neighbours)
    np.testing.assert_allclose(np.sqrt(squared) * (index.unit / scale), np.sqrt(expected))
    found = index.query_radius(queries * scale, 1.5 * scale)
    np.testing.assert_array_equal(
        found[2], ExactIndex(vectors * scale / scale).query_radius(queries * scale / scale, 1.5)[2]
    )


def test_queries_much_farther_than_the_rows_are_refused():
    with pytest.raises(ValueError, match="so much farther than the indexed vectors"):
        ExactIndex(np.full((2, 2), 1e-200)).query(np.ones((1, 2)), 1)


@pytest.mark.parametrize("k", [0, 4, 2.5, True])
def test_a_number_of_neighbours_that_cannot_be_is_refused(k):
    with pytest.raises(ValueError, match="n_neighbors"):
        ExactIndex(np.ones((3, 2))).query(np.ones((1, 2)), k)


@pytest.mark.parametrize("radius", [-1.0, np.nan, "1", True])
def test_a_radius_that_cannot_be_is_refused(radius):
    with pytest.raises(ValueError, match="radius must be"):
        ExactIndex(np.ones((3, 2))).query_radius(np.ones((1, 2)), radius)


@pytest.mark.parametrize(
    "settings",
    [{"block_size": bad} for bad in (0, -3, 1.5, True)] + [{"n_jobs": bad} for bad in (0, 1.5)],
)
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(ValueError, match="|".join(settings)):
        ExactIndex(np.ones((3, 2)), **settings)


MEMORY_OF_TWO_QUERIES = """
import resource
import numpy as np
from vicinal.index import ExactIndex, FaissIndex, SparseIndex
from vicinal.predict import KNNClassifier

rng = np.random.default_rng(0)
vectors, queries = (rng.normal(size=(n, 4)).astype(np.float32) for n in (30_000, 8_000))
indexes = [ExactIndex(vectors, block_size=size, n_jobs=2) for size in (512, 4096)]
for index in indexes:
    index.query(queries[:4], 3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index.query(queries, 3)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory as Linux reports it")
def test_the_block_size_bounds_the_memory_of_a_query():
    # All 8,000 × 30,000 distances in float32 would take 960,000 kB.
    command = [sys.executable, "-c", MEMORY_OF_TWO_QUERIES]
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    small, large = (int(kilobytes) for kilobytes in run.stdout.split())
    assert small < 15_000
    assert large < 250_000


@pytest.mark.parametrize("factor", [1.0, 1e-90])
def test_one_extreme_value_does_not_hide_the_differences_of_all_others(factor):
    vectors = normal(60, 4) * factor
    vectors[5, 1] = 1e200 * factor  # beside it all other rows would be equal
    with pytest.raises(ValueError, match=r"size 1e\+\d+ in row 5, beside which the differences"):
        ExactIndex(vectors)
    with pytest.raises(ValueError, match="row 5, beside which"):
        KNNClassifier(3).fit(vectors, np.arange(60) % 2)


def test_a_constant_extreme_column_does_not_hide_the_others():
    with pytest.raises(ValueError, match="beside which the differences of most rows"):
        ExactIndex(np.column_stack([normal(30, 3), np.full(30, 1e200)]))


def test_a_column_may_outweigh_the_others():
    vectors = normal(60, 4) * [1, 1, 1, 1e200]
    expected = ExactIndex(vectors[:, 3:] / 1e200).query(vectors[:, 3:] / 1e200, 3)[1]
    np.testing.assert_array_equal(ExactIndex(vectors).query(vectors, 3)[1], expected)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ma.masked_array(np.eye(3), mask=np.eye(3) > 0), "masked"),
        (np.arange(6).reshape(3, 2) + 2**60, r"beyond 2\*\*53"),
    ],
)
@pytest.mark.parametrize("kind", [ExactIndex, SparseIndex, FaissIndex])
def test_numbers_in_disguise_are_refused(kind, vectors, message):
    if kind is FaissIndex:
        pytest.importorskip("faiss", reason="needs the extra faiss")
    with pytest.raises(ValueError, match=message):
        kind(vectors)
    with pytest.raises(ValueError, match=message):
        kind(np.eye(3)[:, : vectors.shape[1]]).query(vectors, 1)


@pytest.mark.parametrize("kind", [ExactIndex, SparseIndex, FaissIndex])
@pytest.mark.parametrize("radius", [1e200, 1.7e308, 10**400, np.inf])
def test_an_endless_radius_finds_all(kind, radius):
    if kind is FaissIndex:
        pytest.importorskip("faiss", reason="needs the extra faiss")
    assert len(kind(np.eye(3)).query_radius(np.eye(3), radius)[1]) == 9


@pytest.mark.parametrize(
    "rows", [None, 3.0, [1.0, 2.0], np.eye(2) + 1j, [["a", "b"]], np.eye(2)[:, :0]]
)
def test_sparse_search_takes_rows_of_numbers_alone(rows):
    with pytest.raises(ValueError, match="vectors must"):
        SparseIndex(rows)
