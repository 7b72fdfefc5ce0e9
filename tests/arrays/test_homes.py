"""Where arrays lie: a second device is as good as the first, and what lies elsewhere is refused, not computed on the host."""

import numpy as np
import pytest

import supersample as ss
from supersample.errors import InputTypeError, MismatchError
from supersample.kernels import Gaussian

KERNEL = Gaussian(1.0)
PHI = ss.features.Fourier(KERNEL, 64, random_state=0)


def rows(n=200, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def embedding(x):
    return ss.MeanEmbedding(PHI).update(x)


@pytest.fixture
def second():
    """Two functions: to a device that NumPy cannot read, and back from it."""
    strict = pytest.importorskip("array_api_strict")
    device, host = strict.Device("device1"), strict.Device("CPU_DEVICE")
    return (lambda x: strict.asarray(x, device=device)), (lambda array: np.asarray(array.to_device(host)))


@pytest.mark.parametrize("method", ["herd", "wkh", "sbq", "frank_wolfe"])
def test_selections_on_a_second_device(second, method):
    put, back = second
    ours, there = (getattr(ss, method)(each, 8, kernel=KERNEL) for each in (rows(), put(rows())))
    assert str(there.points.device).endswith("Device('device1')")
    np.testing.assert_array_equal(back(there.indices), ours.indices)
    np.testing.assert_allclose(back(there.weights), ours.weights, atol=1e-6)


def test_discrepancies_and_criticisms_on_a_second_device(second):
    put, back = second
    x, y = rows(), rows(seed=1)
    assert ss.mmd2(put(x), put(y), kernel=KERNEL) == pytest.approx(ss.mmd2(x, y, kernel=KERNEL), abs=1e-9)
    options = {"n_resamples": 99, "n_features": 64, "random_state": 0}
    assert ss.two_sample_test(put(x), put(y), **options).pvalue == ss.two_sample_test(x, y, **options).pvalue
    ours, there = (ss.critic(each, 8, 4, kernel=KERNEL, random_state=0) for each in (x, put(x)))
    np.testing.assert_array_equal(back(there.criticisms.indices), ours.criticisms.indices)
    np.testing.assert_allclose(back(embedding(put(x)).mean), embedding(x).mean, atol=1e-6)


def test_a_stream_on_a_second_device(second):
    put, back = second
    x = rows(5600)
    ours, there = (ss.SuperSampler(5, features=PHI, random_state=0).fit(each) for each in (x, put(x)))
    np.testing.assert_array_equal(x[back(there.prototype_indices_)], back(there.prototypes_))
    assert there.random_mmd_ == pytest.approx(ours.random_mmd_, rel=1e-3)


def test_two_devices_in_one_call_are_refused(second):
    import array_api_strict

    put, _ = second
    here = array_api_strict.asarray(rows())
    with pytest.raises(MismatchError, match=r"Y must lie where X does .*CPU_DEVICE.*, got .*device1"):
        ss.mmd2(here, put(rows()))
    with pytest.raises(MismatchError, match=r"target must lie where candidates does .*device1.*, got .*CPU_DEVICE"):
        ss.herd(put(rows()), 3, target=here, kernel=KERNEL)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: ss.online_critic(x, 3, 2, kernel=KERNEL), "X"),
        (lambda x: ss.ChangeDetector(random_state=0).update(x), "X"),
        (lambda x: ss.ChangeDetector(x), "reference"),
        (lambda x: ss.summarize(x, 5), "source"),
    ],
)
def test_what_numpy_cannot_read_is_refused_in_words(second, function, name):
    put, _ = second
    with pytest.raises(InputTypeError, match=rf"{name} must .*device1.*; pass a NumPy copy of {name}"):
        function(put(rows()))


def test_a_tensor_of_another_device_is_refused_in_words():
    torch = pytest.importorskip("torch")
    there = torch.empty((20, 3), device="meta")  # has no values, so it cannot be copied, as one of a GPU cannot implicitly
    with pytest.raises(InputTypeError, match=r"X must be .* got Tensor on meta .*; pass X.detach\(\).cpu\(\).numpy\(\)"):
        ss.online_critic(there, 3, 2, kernel=KERNEL)


def test_tensors_of_the_host_are_read_where_nothing_runs_on_a_device(lying):
    x = lying.put(rows(300))
    assert len(ss.online_critic(x[:60, :], 3, 2, kernel=KERNEL).prototypes) == 3
    assert ss.summarize(x, 5, random_state=0).n_seen == 300
    detector = ss.ChangeDetector(random_state=0)
    detector.update(x)
    assert detector.n_seen_ == 300


@pytest.mark.parametrize("name", ["include", "target"])
def test_options_that_lie_elsewhere_than_the_rows_are_refused(lying, name):
    x = rows()
    with pytest.raises(MismatchError, match=rf"{name} must lie on the host as X does, got .* on .*; pass"):
        ss.SuperSampler(5, **{name: lying.put(x[:20])}).fit(x)
    if name == "target":
        with pytest.raises(MismatchError, match=r"target must lie on the host as X does, .*; make the measure of NumPy arrays"):
            ss.SuperSampler(5, target=ss.measures.Empirical(lying.put(x))).fit(x)


def test_a_witness_is_evaluated_where_the_rows_lie(lying):
    x, y, points = rows(), rows(seed=1), rows(9, seed=2)
    ours, there = (embedding(put(x)).witness(embedding(put(y))) for put in (np.asarray, lying.put))
    assert isinstance(there(lying.put(points)), lying.type)
    np.testing.assert_allclose(lying.back(there(lying.put(points))), ours(points), atol=1e-5)
    with pytest.raises(
        MismatchError, match=r"points must lie where the rows of the embedding did \(.* on .*\), got on the host"
    ):
        there(points)
    with pytest.raises(MismatchError, match=r"points must lie where the rows of the embedding did \(on the host\), got"):
        ours(lying.put(points))
    mixed = embedding(x).witness(embedding(lying.put(y)))  # sums are numbers of the host: any two of one map can be compared
    np.testing.assert_allclose(mixed(points), ours(points), atol=1e-5)


@pytest.mark.parametrize("features", [None, PHI])
def test_a_mean_embedding_is_an_array_of_its_points(lying, features):
    x, points = rows(), rows(9, seed=2)
    here, there = (ss.measures.Empirical(each, features=features) for each in (x, lying.put(x)))
    expected = here.mean_embedding(KERNEL, points)
    found = there.mean_embedding(KERNEL, lying.put(points))
    assert isinstance(found, lying.type)
    np.testing.assert_allclose(lying.back(found), expected, atol=1e-5)
    np.testing.assert_allclose(there.mean_embedding(KERNEL, points), expected, atol=1e-5)
    with pytest.raises(MismatchError, match="points must be NumPy arrays, since Empirical in 3 dimensions is on the host"):
        here.mean_embedding(KERNEL, lying.put(points))


def test_points_of_another_device_than_the_measure_are_refused(second):
    import array_api_strict

    put, _ = second
    with pytest.raises(MismatchError, match=r"points must lie where the measure's own points do .*device1.*, got .*CPU_DEVICE"):
        ss.measures.Empirical(put(rows())).mean_embedding(KERNEL, array_api_strict.asarray(rows(5)))
