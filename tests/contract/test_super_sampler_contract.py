"""SuperSampler as scikit-learn's tools see it."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.selection.stream import polish

DATA = np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    monkeypatch.setattr(polish, "_KICKS", 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("options", [{}, {"n_prototypes": 3, "search": "tree", "features": "fourier"}])
def test_scikit_learns_own_checks_pass(options):
    done = check_estimator(ss.SuperSampler(random_state=0, **options), on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in done if each["status"] in ("failed", "xfail")] == []
    skipped = [each["check_name"] for each in done if each["status"] == "skipped"]
    assert all("array_api" in name for name in skipped)
    assert sum(each["status"] == "passed" for each in done) > 25


def test_parameters_go_in_and_come_out():
    given = {
        "n_prototypes": 7,
        "kernel": "cauchy",
        "bandwidth": 2.0,
        "features": "fourier",
        "n_features": 32,
        "search": "tree",
        "random_state": 5,
    }
    sampler = ss.SuperSampler(**given)
    # Later parameters may be added: those here keep their names and values.
    assert given.items() <= sampler.get_params().items()
    copied = clone(sampler.fit(DATA))
    assert given.items() <= copied.get_params().items()
    assert not hasattr(copied, "n_features_in_")
    with pytest.raises(NotFittedError):
        _ = copied.prototypes_
    copied.set_params(n_prototypes=4).fit(DATA)
    assert copied.prototypes_.shape == (4, 3)
    assert sampler.prototypes_.shape == (7, 3)


def test_the_kernel_is_not_positional():
    with pytest.raises(TypeError, match="positional"):
        ss.SuperSampler(5, 0, "gaussian")


def test_nothing_can_be_read_before_the_first_rows():
    for name in ("prototypes_", "prototype_indices_", "n_seen_", "mmd_", "mmd_error_", "random_mmd_", "energy_", "kernel_"):
        with pytest.raises(NotFittedError):
            getattr(ss.SuperSampler(5), name)
    with pytest.raises(NotFittedError):
        ss.SuperSampler(5).bound()


def test_methods_return_the_sampler():
    sampler = ss.SuperSampler(5, random_state=0)
    assert sampler.fit(DATA) is sampler
    assert sampler.partial_fit(DATA) is sampler
    assert sampler.n_seen_ == 400


def test_column_names_of_a_frame_are_kept_and_asked_for():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DATA, columns=["a", "b", "c"])
    sampler = ss.SuperSampler(5, random_state=0).fit(frame)
    assert sampler.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(sampler.prototypes_, ss.SuperSampler(5, random_state=0).fit(DATA).prototypes_)
    sampler.partial_fit(frame)
    for columns in (["a", "c", "b"], ["a", "b", "d"]):
        with pytest.raises(MismatchError, match="same columns in the same order"):
            sampler.partial_fit(frame.set_axis(columns, axis=1))
    assert sampler.n_seen_ == 400
    assert sampler.empty_like().feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(sampler.fit(DATA), "feature_names_in_")
    # fit forgets: other names are as good.
    assert sampler.fit(frame.set_axis(["x", "y", "z"], axis=1)).feature_names_in_.tolist() == ["x", "y", "z"]


def test_columns_that_are_not_numbers_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputTypeError, match="X must hold numbers"):
        ss.SuperSampler(5).fit(pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_sparse_rows_are_refused_with_a_way_out(kind):
    with pytest.raises(InputTypeError, match=r"X must be a dense array, got a sparse .*X\.toarray\(\)"):
        ss.SuperSampler(5).fit(kind(DATA))


@pytest.mark.parametrize("read_first", [False, True])
def test_a_pickle_holds_everything(read_first):
    sampler = ss.SuperSampler(5, random_state=0).fit(DATA)
    if read_first:
        _ = sampler.mmd_
    copied = pickle.loads(pickle.dumps(sampler))
    np.testing.assert_array_equal(copied.prototypes_, sampler.prototypes_)
    assert (copied.mmd_, copied.random_mmd_, copied.energy_) == (sampler.mmd_, sampler.random_mmd_, sampler.energy_)
    np.testing.assert_array_equal(copied.partial_fit(DATA + 1).prototypes_, sampler.partial_fit(DATA + 1).prototypes_)


def test_y_is_ignored():
    plain = ss.SuperSampler(5, random_state=0).fit(DATA)
    np.testing.assert_array_equal(ss.SuperSampler(5, random_state=0).fit(DATA, np.ones(3)).prototypes_, plain.prototypes_)


def test_names_of_columns_that_cannot_be_told_apart():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="X must have columns of different names, got 'a' more than once; rename one"):
        ss.SuperSampler(5).fit(pandas.DataFrame(DATA, columns=["a", "b", "a"]))
    with pytest.raises(
        InputTypeError, match="column names that are all strings, or none that is, got names of the types int, str"
    ):
        ss.SuperSampler(5).fit(pandas.DataFrame(DATA, columns=["a", 1, "c"]))
    assert not hasattr(ss.SuperSampler(5).fit(pandas.DataFrame(DATA)), "feature_names_in_")


def test_names_of_pyarrow_tables_are_known():
    tables = [pa.table({name: DATA[:, place] for place, name in enumerate(names)}) for names in ("abc", "cba")]
    sampler = ss.SuperSampler(5).fit(tables[0])
    assert sampler.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(MismatchError, match="X must have the same columns in the same order"):
        sampler.partial_fit(tables[1])
