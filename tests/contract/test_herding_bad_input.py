"""Bad input to herd, sbq, wkh, frank_wolfe and quadrature_weights names its argument; their signatures are one."""

import inspect

import numpy as np
import pytest
import scipy.sparse

import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels import Gaussian

GOOD = np.random.default_rng(0).normal(size=(20, 3))
PHI = ss.features.Fourier(Gaussian(1.0), 16, random_state=0)
METHODS = [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe]
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)


def with_entry(value):
    points = GOOD.copy()
    points[4, 2] = value
    return points


BAD_ROWS = {
    "nan": (with_entry(np.nan), InputError, "candidates contains NaN.*row 4, column 2"),
    "no rows": (np.empty((0, 3)), InputError, "candidates must have at least 1 row"),
    "one dimension": (GOOD[:, 0], InputError, "candidates must have two dimensions"),
    "strings": (np.array([["a"]] * 20), InputTypeError, "candidates must hold numbers"),
    "sparse": (scipy.sparse.csr_matrix(GOOD), InputTypeError, "candidates must be a dense array"),
}
BAD_OPTIONS = {
    "target width": ({"target": GOOD[:, :2]}, MismatchError, "target must have 3 columns"),
    "target dimension": ({"target": ss.measures.Uniform(0.0, 1.0)}, MismatchError, "target is a measure in 1 dimension and"),
    "target nan": ({"target": with_entry(np.inf)}, InputError, "target contains infinity"),
    "kernel": ({"kernel": "gauss"}, InputError, "kernel must be one of 'gaussian'"),
    "bandwidth twice": (
        {"kernel": Gaussian(1.0), "bandwidth": 2.0},
        InputError,
        "bandwidth goes with a kernel named by a string",
    ),
    "bandwidth": ({"bandwidth": -1.0}, InputError, "bandwidth of Gaussian must be positive"),
    "bandwidths": ({"bandwidth": (1.0, 2.0)}, MismatchError, "bandwidth of Gaussian has 2 values and the points have 3"),
    "weighting": ({"weighting": "positive"}, InputError, "weighting must be one of 'uniform', 'free', 'simplex'"),
    "resume": ({"resume": [1, 2]}, InputTypeError, "resume must be a Selection"),
    "features": ({"features": "fourier"}, InputTypeError, "features must be a feature map"),
    "features and kernel": ({"features": PHI, "kernel": Gaussian(2.0)}, InputError, "kernel must be left out where features"),
    "features and refine": ({"features": PHI, "refine": True}, InputError, "refine=True needs exact kernel values"),
    "random_state": ({"random_state": "yes"}, InputTypeError, "random_state"),
}
BAD_COUNTS = {
    "none": (0, InputError, "m must be at least 1, got 0"),
    "half": (2.5, InputTypeError, "m must be a whole number"),
    "truth": (True, InputTypeError, "m must be a whole number"),
}


@methods
@pytest.mark.parametrize("what", BAD_ROWS)
def test_bad_rows(method, what):
    rows, error, message = BAD_ROWS[what]
    with pytest.raises(error, match=message):
        method(rows, 2)


@methods
@pytest.mark.parametrize("what", BAD_OPTIONS)
def test_bad_options(method, what):
    options, error, message = BAD_OPTIONS[what]
    with pytest.raises(error, match=message):
        method(GOOD, 2, **options)


@methods
@pytest.mark.parametrize("what", BAD_COUNTS)
def test_bad_counts(method, what):
    count, error, message = BAD_COUNTS[what]
    with pytest.raises(error, match=message):
        method(GOOD, count)


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh])
def test_more_points_than_candidates(method):
    with pytest.raises(InputError, match="m must not be more than the 20 candidates, got 21"):
        method(GOOD, 21)
    assert len(ss.herd(GOOD, 21, replace=True)) == 21


@methods
def test_a_selection_to_resume_that_does_not_fit(method):
    first = method(GOOD, 6, kernel=Gaussian(1.0))
    with pytest.raises(InputError, match="m counts the points of resume too: it must be at least"):
        method(GOOD, 2, resume=first, kernel=Gaussian(1.0))
    with pytest.raises(MismatchError, match=r"resume\.points must have 2 columns"):
        method(GOOD[:, :2], 8, resume=first, kernel=Gaussian(1.0))
    with pytest.raises(MismatchError, match=r"resume holds row \d+ and there are 1 candidates"):
        method(GOOD[:1], 8, resume=first, kernel=Gaussian(1.0), replace=True)


def test_a_selection_to_resume_off_the_simplex():
    first = ss.sbq(GOOD, 3, kernel=Gaussian(1.0))
    with pytest.raises(InputError, match="resume must have weights that are positive and sum to one"):
        ss.frank_wolfe(GOOD, 8, resume=first, kernel=Gaussian(1.0))


def test_variant():
    with pytest.raises(InputError, match="variant must be one of 'fixed', 'line-search'"):
        ss.frank_wolfe(GOOD, 3, variant="quick")


def test_quadrature_weights():
    with pytest.raises(InputError, match="target must be a measure or an array of points, got None"):
        ss.quadrature_weights(GOOD, target=None)
    with pytest.raises(InputError, match="kind must be one of"):
        ss.quadrature_weights(GOOD, target=GOOD, kind="best")


def test_one_signature():
    names = [list(inspect.signature(method).parameters) for method in METHODS]
    assert (
        names[1]
        == names[2]
        == [name for each in names[0] for name in ([each] if each != "random_state" else ["exchange", each])]
    )
    assert names[0] == [name for name in names[3] if name != "variant"]
    for method in METHODS:
        parameters = list(inspect.signature(method).parameters.values())
        assert [p.name for p in parameters[:2]] == ["candidates", "m"]
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters[2:])
        assert inspect.signature(method).parameters["random_state"].default is None
