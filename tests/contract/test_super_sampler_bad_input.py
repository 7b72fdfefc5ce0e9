"""Bad input to SuperSampler names its argument, and leaves the sampler as it was."""

import numpy as np
import pytest
import scipy.sparse

import stream_oracles
import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError, SupersampleError
from supersample.features import Fourier
from supersample.kernels import Cauchy, Function, Gaussian
from supersample.selection.stream import polish

GOOD = np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    monkeypatch.setattr(polish, "_KICKS", 1)


def with_entry(value):
    points = GOOD.copy()
    points[4, 2] = value
    return points


BAD_ROWS = {
    "nan": (with_entry(np.nan), InputError, "X contains NaN.*row 4, column 2"),
    "infinity": (with_entry(np.inf), InputError, "X contains infinity.*row 4, column 2"),
    "no rows": (np.empty((0, 3)), InputError, "X must have at least 1 row"),
    "no columns": (np.empty((5, 0)), InputError, "X must have columns"),
    "one dimension": (GOOD[:, 0], InputError, "X must have two dimensions"),
    "a number": (3.0, InputError, "X must have two dimensions"),
    "nothing": (None, InputError, "X must have two dimensions"),
    "strings": (np.array([["a", "b", "c"]] * 4), InputTypeError, "X must hold numbers"),
    "complex": (GOOD + 1j, InputError, "X: Complex data not supported"),
    "sparse": (scipy.sparse.csr_matrix(GOOD), InputTypeError, "X must be a dense array"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], InputError, "X must be a rectangular array"),
    "another width": (GOOD[:, :2], MismatchError, "X has 2 features, but SuperSampler is expecting 3"),
}

BAD_WEIGHTS = {
    "negative": ({"sample_weight": -np.ones(60)}, InputError, "sample_weight must not be negative.*row 0"),
    "nan": ({"sample_weight": np.where(np.arange(60) == 7, np.nan, 1)}, InputError, "sample_weight contains NaN.*row 7"),
    "infinite": ({"sample_weight": np.full(60, np.inf)}, InputError, "sample_weight contains infinity"),
    "too few": ({"sample_weight": np.ones(59)}, MismatchError, "sample_weight must be one-dimensional.*60 rows.*59"),
    "two columns": ({"sample_weight": np.ones((60, 2))}, MismatchError, "sample_weight must be one-dimensional"),
    "one number": ({"sample_weight": 2.0}, MismatchError, "sample_weight must be one-dimensional"),
    "strings": ({"sample_weight": ["a"] * 60}, InputTypeError, "sample_weight must hold numbers"),
    "both": (
        {"sample_weight": np.ones(60), "log_weight": np.zeros(60)},
        InputError,
        "sample_weight and log_weight must not both",
    ),
    "log nan": ({"log_weight": np.full(60, np.nan)}, InputError, "log_weight must hold finite numbers.*nan in row 0"),
    "log infinite": ({"log_weight": np.full(60, np.inf)}, InputError, "log_weight must hold finite numbers.*inf in row 0"),
    "log too large": ({"log_weight": np.full(60, 1e16)}, InputError, "log_weight must lie within"),
    "log too few": ({"log_weight": np.zeros(61)}, MismatchError, "log_weight must be one-dimensional"),
}

BAD_PARAMETERS = {
    "no points": ({"n_prototypes": 0}, InputError, "n_prototypes must be at least 1, got 0"),
    "fewer than none": ({"n_prototypes": -1}, InputError, "n_prototypes must be at least 1, got -1"),
    "half a point": ({"n_prototypes": 1.5}, InputTypeError, "n_prototypes must be a whole number"),
    "a truth": ({"n_prototypes": True}, InputTypeError, "n_prototypes must be a whole number"),
    "a word for points": ({"n_prototypes": "ten"}, InputTypeError, "n_prototypes must be a whole number"),
    "kernel name": ({"kernel": "gauss"}, InputError, "kernel must be one of 'gaussian'.*got 'gauss'"),
    "kernel type": ({"kernel": 3}, InputTypeError, "kernel must be a name"),
    "features name": ({"features": "rff"}, InputError, "features must be one of 'auto'.*got 'rff'"),
    "features type": ({"features": None}, InputError, "features must be one of"),
    "search name": ({"search": "fast"}, InputError, "search must be one of 'auto'.*got 'fast'"),
    "bandwidth of zero": ({"bandwidth": 0.0}, InputError, "bandwidth.*positive.*0"),
    "negative bandwidth": ({"bandwidth": -1.0}, InputError, "bandwidth.*positive.*-1"),
    "bandwidth nan": ({"bandwidth": np.nan}, InputError, "bandwidth.*nan"),
    "bandwidth word": ({"bandwidth": "mean"}, SupersampleError, "bandwidth.*mean"),
    "bandwidths of another width": ({"bandwidth": [1.0, 2.0]}, SupersampleError, "bandwidth"),
    "bandwidth beside a kernel": ({"kernel": Gaussian(1.0), "bandwidth": 2.0}, InputError, "bandwidth goes with"),
    "no features": ({"n_features": 0}, InputError, "n_features must be at least"),
    "one feature": ({"n_features": 1}, InputError, "n_features must be at least 2"),
    "features and half": ({"n_features": 8.5}, InputTypeError, "n_features must be a whole number"),
    "too few held-out features": ({"n_held_out": 2}, InputError, "n_held_out must be at least 4, got 2"),
    "odd held-out features": ({"n_held_out": 129}, InputError, "n_held_out must be even.*got 129"),
    "held-out features and half": ({"n_held_out": 8.5}, InputTypeError, "n_held_out must be a whole number"),
    "map of another kernel": (
        {"kernel": Cauchy(1.0), "features": Fourier(Gaussian(1.0), 16, random_state=0)},
        InputError,
        "kernel must be left out or equal",
    ),
    "map of another named kernel": (
        {"kernel": "cauchy", "features": Fourier(Gaussian(1.0), 16, random_state=0)},
        InputError,
        "kernel must be left out or equal",
    ),
    "fourier of no spectrum": (
        {"kernel": Function(lambda x, y: x @ y.T, name="linear"), "features": "fourier"},
        SupersampleError,
        "shift-invariant|spectral",
    ),
    "negative seed": ({"random_state": -1}, InputError, "random_state must not be negative"),
    "a word for a seed": ({"random_state": "one"}, InputTypeError, "random_state must be an int"),
}


@pytest.mark.parametrize(
    ("name", "n_before"), [(name, n) for name in BAD_ROWS for n in (0, 60, 6000) if (name, n) != ("another width", 0)]
)
def test_bad_rows(name, n_before):
    rows, error, words = BAD_ROWS[name]
    sampler, twin = (ss.SuperSampler(5, n_features=32, random_state=0) for _ in range(2))
    if n_before:
        before = np.random.default_rng(1).normal(size=(n_before, 3))
        sampler.partial_fit(before)
        twin.partial_fit(before)
    state = stream_oracles.to_bytes(getattr(sampler, "_now", None))
    known = sorted(vars(sampler))
    with pytest.raises(error, match=words):
        sampler.partial_fit(rows)
    assert stream_oracles.to_bytes(getattr(sampler, "_now", None)) == state
    assert sorted(vars(sampler)) == known
    if n_before < 6000:
        np.testing.assert_array_equal(sampler.partial_fit(GOOD).prototypes_, twin.partial_fit(GOOD).prototypes_)


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(name):
    weights, error, words = BAD_WEIGHTS[name]
    sampler = ss.SuperSampler(5, random_state=0).fit(GOOD)
    state = stream_oracles.to_bytes(sampler._now.state)
    for method in (sampler.fit, sampler.partial_fit):
        with pytest.raises(error, match=words):
            method(GOOD, **weights)
        assert stream_oracles.to_bytes(sampler._now.state) == state
    twin = ss.SuperSampler(5, random_state=0).fit(GOOD)
    np.testing.assert_array_equal(sampler.partial_fit(GOOD + 1).prototypes_, twin.partial_fit(GOOD + 1).prototypes_)


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    options, error, words = BAD_PARAMETERS[name]
    sampler = ss.SuperSampler(**{"n_prototypes": 5, "random_state": 0, **options})
    with pytest.raises(error, match=words):
        _ = sampler.fit(GOOD).prototypes_


def test_a_fit_without_weight_is_refused_and_changes_nothing():
    sampler = ss.SuperSampler(5, random_state=0).fit(GOOD)
    before = sampler.prototypes_
    with pytest.raises(
        InputError, match="sample_weight or log_weight must give at least one row a positive weight, got 60 zeros"
    ):
        sampler.fit(GOOD + 1, sample_weight=np.zeros(60))
    with pytest.raises(InputError, match="positive weight"):
        sampler.fit(GOOD + 1, log_weight=np.full(60, -np.inf))
    np.testing.assert_array_equal(sampler.prototypes_, before)


def test_a_stream_without_weight_says_what_to_do_when_read():
    sampler = ss.SuperSampler(5, random_state=0).partial_fit(GOOD, sample_weight=np.zeros(60))
    assert sampler.n_seen_ == 60
    for name in ("prototypes_", "mmd_", "kernel_", "comparisons_"):
        with pytest.raises(InputError, match="none of the 60 rows seen has a positive weight; call partial_fit"):
            getattr(sampler, name)
    assert (sampler.partial_fit(GOOD).prototype_indices_ >= 60).all()


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5, 2.0, np.nan])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(InputError, match="delta must lie between 0 and 1"):
        ss.SuperSampler(5, random_state=0).fit(GOOD).bound(delta)


def test_a_bad_kind_of_bound_is_refused():
    sampler = ss.SuperSampler(5, random_state=0).fit(GOOD)
    with pytest.raises(InputError, match="kind must be one of 'auto', 'background', 'bernstein', 'theorem', got 'hoeffding'"):
        sampler.bound(0.05, kind="hoeffding")
    with pytest.raises(InputTypeError, match="population must be True or False, got int 1"):
        sampler.bound(0.05, population=1)
    with pytest.raises(TypeError, match="positional"):
        sampler.bound(0.05, "theorem")


def test_a_bound_by_the_background_needs_rows_of_equal_weight():
    rng = np.random.default_rng(0)
    sampler = ss.SuperSampler(5, kernel=ss.kernels.Gaussian(1.0), random_state=0)
    sampler.fit(rng.normal(size=(5001, 1)), sample_weight=rng.random(5001))
    with pytest.raises(InputError, match=r"kind='background' needs rows of equal weight.*use kind='bernstein'"):
        sampler.bound(kind="background")
    assert sampler.bound() == sampler.bound(kind="bernstein")


def test_a_kernel_without_frequencies_has_no_bound():
    sampler = ss.SuperSampler(5, kernel=lambda x, y: x @ y.T, random_state=0).fit(GOOD[:20])
    with pytest.raises(InputError, match="bound needs a kernel with random Fourier features"):
        sampler.bound()


def test_every_error_is_one_of_ours_and_a_value_or_type_error():
    for _, error, _ in [*BAD_ROWS.values(), *BAD_WEIGHTS.values(), *BAD_PARAMETERS.values()]:
        assert issubclass(error, SupersampleError)
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(MismatchError, ValueError)
