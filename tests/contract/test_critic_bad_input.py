"""Bad input to critic, online_critic and n_criticisms names its argument."""

import numpy as np
import pytest
import scipy.sparse

import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError

GOOD = np.random.default_rng(0).normal(size=(20, 3))


def with_entry(value):
    points = GOOD.copy()
    points[4, 2] = value
    return points


BAD_ROWS = {
    "nan": (with_entry(np.nan), InputError, "X contains NaN.*row 4, column 2"),
    "infinity": (with_entry(-np.inf), InputError, "X contains infinity.*row 4, column 2"),
    "no rows": (np.empty((0, 3)), InputError, "X must have at least 1 row"),
    "one dimension": (GOOD[:, 0], InputError, "X must have two dimensions"),
    "strings": (np.array([["a"]] * 20), InputTypeError, "X must hold numbers"),
    "sparse": (scipy.sparse.csr_matrix(GOOD), InputTypeError, "X must be a dense array"),
}
BAD_COUNTS = {
    "too many prototypes": ((21, 0), InputError, r"prototypes and criticisms must not be more than the rows.*21 \+ 0 for 20"),
    "too many together": ((15, 6), InputError, r"prototypes and criticisms must not be more than the rows.*15 \+ 6 for 20"),
    "no prototypes": ((0, 3), InputError, "prototypes must be at least 1, got 0"),
    "negative prototypes": ((-2, 3), InputError, "prototypes must be at least 1, got -2"),
    "negative criticisms": ((3, -1), InputError, "criticisms must be at least 0, got -1"),
    "half a prototype": ((2.5, 1), InputTypeError, "prototypes must be a whole number, got float 2.5"),
    "a float that is whole": ((2.0, 1), InputTypeError, "prototypes must be a whole number"),
    "half a criticism": ((2, 1.5), InputTypeError, "criticisms must be a whole number, got float 1.5"),
    "a truth": ((2, True), InputTypeError, "criticisms must be a whole number"),
    "none": ((None, 1), InputTypeError, "prototypes must be a whole number"),
}
BAD_OPTIONS = {
    "method": ({"method": "fast"}, InputError, "method must be one of 'auto', 'exact', 'features', got 'fast'"),
    "no method": ({"method": None}, InputError, "method must be one of"),
    "regularizer": ({"regularizer": "none"}, InputError, "regularizer must be one of 'logdet', got 'none'"),
    "regularizer type": ({"regularizer": True}, InputError, "regularizer must be one of"),
    "few labels": ({"labels": np.zeros(19)}, MismatchError, "labels must be one-dimensional.*20 rows.*19"),
    "labels in columns": ({"labels": np.zeros((20, 1))}, MismatchError, "labels must be one-dimensional"),
    "one label": ({"labels": "a"}, MismatchError, "labels must be one-dimensional"),
    "features": ({"method": "features", "n_features": 0}, InputError, "n_features must be at least 1"),
    "half a feature": ({"method": "features", "n_features": 1.5}, InputTypeError, "n_features must be a whole number"),
    "kernel": ({"kernel": "gauss"}, InputError, "kernel must be one of 'gaussian'"),
    "kernel type": ({"kernel": 3}, InputTypeError, "kernel must be a name"),
    "random_state": ({"random_state": "yes"}, InputTypeError, "random_state"),
}
both = pytest.mark.parametrize("function", [ss.critic, ss.online_critic])


@both
@pytest.mark.parametrize("what", BAD_ROWS)
def test_bad_rows(function, what):
    rows, error, message = BAD_ROWS[what]
    with pytest.raises(error, match=message):
        function(rows, 2, 1)


@both
@pytest.mark.parametrize("what", BAD_COUNTS)
def test_bad_counts(function, what):
    counts, error, message = BAD_COUNTS[what]
    with pytest.raises(error, match=f"^{message}"):
        function(GOOD, *counts)


@pytest.mark.parametrize("what", BAD_OPTIONS)
def test_bad_options(what):
    options, error, message = BAD_OPTIONS[what]
    with pytest.raises(error, match=message):
        ss.critic(GOOD, 2, 1, **options)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_bad_choice_of_what_happens_to_displaced_prototypes(value):
    with pytest.raises(InputTypeError, match="offer_displaced must be True or False, got"):
        ss.online_critic(GOOD, 2, 1, offer_displaced=value)


@both
def test_rows_that_are_all_equal_have_no_median_distance(function):
    with pytest.raises(InputError, match=r"bandwidth='median'.*equal"):
        function(np.ones((20, 3)), 2, 1)
    found = function(np.ones((20, 3)), 2, 1, kernel=ss.kernels.Gaussian(1.0))
    assert found.prototypes.mmd[-1] == pytest.approx(0.0, abs=1e-7)


@both
def test_options_are_keyword_only(function):
    with pytest.raises(TypeError, match="positional"):
        function(GOOD, 2, 1, "gaussian")


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, InputError, "n_criticisms must be at least 0, got -1"),
        (2.0, InputTypeError, "n_criticisms must be a whole number, got float 2.0"),
        (True, InputTypeError, "n_criticisms must be a whole number"),
        (None, InputTypeError, "n_criticisms must be a whole number"),
        ("three", InputTypeError, "n_criticisms must be a whole number"),
    ],
)
def test_bad_number_of_criticisms_on_a_stream(value, error, message):
    sampler = ss.SuperSampler(5, value)
    with pytest.raises(error, match=message):
        sampler.fit(GOOD)
    assert not sampler.__sklearn_is_fitted__()
