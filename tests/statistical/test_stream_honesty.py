"""What a SuperSampler says of its own quality is true of the exact kernel."""

import numpy as np
import pytest

import stream_oracles
import supersample as ss
from supersample.discrepancy.certificate import captured_energy, certify
from supersample.features import Landmark
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern
from supersample.selection.stream import polish
from supersample.selection.stream.calibration import Control

N = 6000


@pytest.fixture(scope="module", autouse=True)
def shorter_second_look():
    """A selection is judged alike, however long it was polished."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polish, "_KICKS", 3)
        yield


@pytest.fixture(scope="module")
def judged():
    """Samplers over four mixtures in 2 and 5 columns, three seeds each, with the truth."""
    found = []
    for number in range(4):
        data, _ = stream_oracles.mixture(N, np.random.default_rng(number), width=2 + 3 * (number % 2))
        kernel = Gaussian(float(np.median(np.linalg.norm(data[:2000] - data[2000:4000], axis=1))))
        truth = stream_oracles.Truth(data, kernel)
        found += [(ss.SuperSampler(50, kernel=kernel, random_state=seed).fit(data), truth) for seed in range(3)]
    return found


def test_the_held_out_estimate_is_unbiased(judged):
    # Twelve estimates of MMD^2 with a relative error of some 0.25 each: the mean has 0.07, so the interval is 4 of them.
    ratios = [(sampler.mmd_ / truth.mmd(sampler.prototypes_, sampler.weights_)) ** 2 for sampler, truth in judged]
    assert 0.7 < np.mean(ratios) < 1.4
    assert np.min(ratios) > 0.2
    assert np.max(ratios) < 3.0


def test_the_standard_error_says_how_far_off_it_is(judged):
    exact = [truth.mmd(sampler.prototypes_, sampler.weights_) for sampler, truth in judged]
    found = np.array([(sampler.mmd_, sampler.mmd_error_, mmd) for (sampler, _), mmd in zip(judged, exact, strict=True)])
    assert np.mean(np.abs(found[:, 0] - found[:, 2]) < 2 * found[:, 1]) >= 0.9
    # Of 6,000 rows 5,000 are in the background: no more is claimed than 64 frequencies can see, 1 / 128 of the MMD.
    assert (found[:, 1] > found[:, 0] / 129).all()
    assert np.median(found[:, 1] / found[:, 0]) == pytest.approx(1 / 128, rel=1e-3)
    selected = [sampler._now.selected for sampler, _ in judged]
    alone = np.array([certify(each.plan.held_out, each.held_out, each.rows.points, each.weights) for each in selected])
    z = (alone[:, 0] - found[:, 2]) / alone[:, 1]
    # Twelve, of which 95% are to be below 2. Nor is the error far too large: the spread of z is near one.
    assert np.mean(np.abs(z) < 2) >= 0.75
    assert 0.3 < np.sqrt(np.mean(z**2)) < 2.0


def test_the_truth_by_mmd2(judged):
    sampler, truth = judged[0]
    square = ss.mmd2(sampler.prototypes_, truth.data, kernel=sampler.kernel_)
    assert np.sqrt(square) == pytest.approx(truth.mmd(sampler.prototypes_), rel=1e-6)


def test_the_random_set_is_as_bad_as_random_sets_are(judged):
    # The mean over 20 sets of a random MMD^2, which varies by about a third, and by an eighth in its estimate.
    ratios = [(sampler.random_mmd_ / truth.random_mmd(50)) ** 2 for sampler, truth in judged]
    assert 0.6 < np.mean(ratios) < 1.5
    for sampler, truth in judged:
        sets = sampler._now.selected.background.rows.points[:1000].reshape(20, 50, -1)
        exact = np.sqrt(np.mean([truth.mmd(each) ** 2 for each in sets]))
        # One estimate against the truth for the very sets: a relative error of an eighth, five of them.
        assert sampler.random_mmd_ == pytest.approx(exact, rel=0.6)


def test_the_random_baseline_of_a_weighted_stream_is_that_of_draws_by_weight():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(3000, 2))
    weights = np.exp(2.0 * data[:, 0])
    sampler = ss.SuperSampler(40, random_state=0).fit(data, sample_weight=weights)
    shares = weights / weights.sum()
    gram = sampler.kernel_(data)
    expected = np.sqrt((1.0 - shares @ gram @ shares) / 40)  # E |mean of 40 draws - mean|^2
    assert sampler.random_mmd_ == pytest.approx(expected, rel=0.25)


def test_the_selection_is_several_times_better_than_random(judged):
    for sampler, truth in judged:
        assert truth.mmd(sampler.prototypes_) < truth.random_mmd(50) / 10


@pytest.mark.parametrize("features", ["auto", "fourier", "nystroem"])
def test_the_judge_never_uses_the_features_of_the_selection(features):
    data = np.random.default_rng(0).normal(size=(400, 2))
    sampler = ss.SuperSampler(10, features=features, n_features=64, random_state=0).fit(data)
    plan = sampler._now.selected.plan
    assert plan.held_out != plan.feature_map
    assert plan.held_out.kernel == plan.feature_map.kernel == sampler.kernel_
    own = plan.feature_map.waves if isinstance(plan.feature_map, Landmark) else plan.feature_map
    if hasattr(own, "seed"):
        assert own.seed != plan.held_out.seed
    judged = plan.held_out.transform(data).mean(axis=0, dtype=np.float64)
    difference = judged - sampler.weights_ @ plan.held_out.transform(sampler.prototypes_).astype(np.float64)
    alone = certify(plan.held_out, sampler._now.selected.held_out, sampler.prototypes_, sampler.weights_)
    assert alone.mmd == pytest.approx(np.linalg.norm(difference), rel=1e-9)
    # All rows are in the background: what the stream says is then the exact value.
    exact = np.sqrt(ss.mmd2(sampler.prototypes_, data, kernel=sampler.kernel_, weight_x=sampler.weights_))
    assert sampler.mmd_ == pytest.approx(exact, rel=1e-9)
    assert 0 < sampler.mmd_error_ < 1e-6 * exact


def test_feature_space_flatters_a_selection_in_few_features_and_the_judge_does_not():
    data, _ = stream_oracles.mixture(N, np.random.default_rng(0))
    sampler = ss.SuperSampler(50, kernel=Gaussian(1.0), features="fourier", n_features=16, random_state=0).fit(data)
    truth = stream_oracles.Truth(data, Gaussian(1.0)).mmd(sampler.prototypes_)
    assert sampler.mmd_ == pytest.approx(truth, rel=0.4)


@pytest.mark.parametrize(
    "kernel", [Matern(0.5, 1.5), Matern(1.5, 1.5), Cauchy(1.5), Laplacian(2.0), Gaussian(0.5) + Gaussian(3.0)]
)
def test_other_kernels_are_judged_fairly(kernel):
    # Rough kernels keep part of their energy beyond any frequency that 64 draws meet: fair within a factor of two here.
    data, _ = stream_oracles.mixture(3000, np.random.default_rng(5))
    truth = stream_oracles.Truth(data, kernel)
    ratios = []
    for seed in range(3):
        sampler = ss.SuperSampler(30, kernel=kernel, random_state=seed).fit(data)
        ratios.append((sampler.mmd_ / truth.mmd(sampler.prototypes_, sampler.weights_)) ** 2)
    assert 0.5 < np.mean(ratios) < 2.0


def test_weighted_data_are_judged_by_their_weights():
    rng = np.random.default_rng(3)
    data, weights = rng.normal(size=(N, 2)), rng.exponential(size=N) ** 2
    kernel = Gaussian(1.5)
    ratios = []
    for seed in range(4):
        sampler = ss.SuperSampler(40, kernel=kernel, random_state=seed).fit(data, sample_weight=weights)
        square = ss.mmd2(sampler.prototypes_, data, kernel=kernel, weight_y=weights)
        ratios.append(sampler.mmd_**2 / square)
        assert np.sqrt(square) < sampler.random_mmd_ / 4
    # Four estimates with a relative error of some 0.3: the mean has 0.15, four of them.
    assert 0.4 < np.mean(ratios) < 1.7


def test_the_bounds_are_above_the_truth(judged):
    for sampler, truth in judged[::4]:
        mmd = truth.mmd(sampler.prototypes_, sampler.weights_)
        for kind in ("background", "bernstein", "theorem"):
            found = [sampler.bound(delta, kind=kind) for delta in (1e-6, 0.05, 0.5)]
            assert found[0] > found[1] > found[2] > mmd
        assert sampler.bound() == sampler.bound(0.05, kind="background") < 0.05 * sampler.bound(kind="theorem")
        assert sampler.bound(kind="bernstein") < sampler.bound(kind="theorem")


def test_the_certificate_worked_by_hand():
    data = np.random.default_rng(0).normal(size=(50, 2))
    sampler = ss.SuperSampler(5, random_state=0).fit(data)
    plan, held_out = sampler._now.selected.plan, sampler._now.selected.held_out
    points, mass = data[:7], np.arange(1.0, 8.0) / 28.0
    found = certify(plan.held_out, held_out, points, mass)
    phi = plan.held_out.transform(data).astype(np.float64)
    squares = (phi.mean(axis=0) - mass @ phi[:7]) ** 2
    half = squares.size // 2
    terms = half * (squares[:half] + squares[half:])
    assert found.mmd == pytest.approx(np.sqrt(terms.mean()), rel=1e-6)
    assert found.error == pytest.approx(error_by_hand(terms) / (2 * found.mmd), rel=1e-6)
    # A control: 45 rows with weights, and their exact MMD^2 to the points.
    weights = np.random.default_rng(1).dirichlet(np.full(45, 50.0))
    gram, signed = sampler.kernel_(data[:45]), weights.copy()
    signed[:7] -= mass
    square = float(signed @ gram @ signed)
    control = Control(data[:45], weights, float(weights @ gram @ weights), gram[:7] @ weights)
    assert control.square(sampler.kernel_, points, mass) == pytest.approx(square, rel=1e-9)
    near = (signed @ phi[:45]) ** 2
    rest = terms - half * (near[:half] + near[half:])
    found = certify(plan.held_out, held_out, points, mass, control)
    assert error_by_hand(rest) < error_by_hand(terms)
    assert found.mmd == pytest.approx(np.sqrt(square + rest.mean()), rel=1e-6)
    least = (square + rest.mean()) / terms.size  # what so few frequencies can see
    assert found.error == pytest.approx(max(error_by_hand(rest), least) / (2 * found.mmd), rel=1e-6)


def error_by_hand(terms):
    """The standard error of a mean, larger by the share |skewness| / sqrt(n)."""
    skewness = np.mean((terms - terms.mean()) ** 3) / terms.std() ** 3
    return terms.std(ddof=1) / np.sqrt(terms.size) * (1 + abs(skewness) / np.sqrt(terms.size))


def test_a_control_that_is_far_away_is_not_used():
    data = np.random.default_rng(0).normal(size=(300, 2))
    selected = ss.SuperSampler(20, random_state=0).fit(data)._now.selected
    far = Control(data[:3] + 5.0, np.full(3, 1 / 3), 0.5, np.zeros(20))
    given = selected.plan.held_out, selected.held_out, selected.rows.points, selected.weights
    assert certify(*given, far) == certify(*given)


def test_an_estimate_below_zero_is_zero_with_an_error_that_says_how_little_is_known():
    data = np.random.default_rng(0).normal(size=(300, 2))
    selected = ss.SuperSampler(20, random_state=0).fit(data)._now.selected
    control = selected.control._replace(weights=selected.control.weights * 1.001, complete=False)
    given = selected.plan.held_out, selected.held_out, selected.rows.points, selected.weights
    found = certify(*given, control._replace(energy=-1.0))
    assert found.mmd == 0.0
    assert 0 < found.error < 0.1
    every = ss.SuperSampler(300, random_state=0).fit(data)
    assert (every.mmd_, every.mmd_error_) == (0.0, 0.0)


def test_a_control_of_all_rows_is_exact_however_features_are_rounded():
    """Products of float32 features depend on the size of the blocks, on some processors: these have other frequencies."""
    data = np.random.default_rng(0).normal(size=(300, 2))
    sampler = ss.SuperSampler(20, random_state=0).fit(data)
    selected = sampler._now.selected
    exact = np.sqrt(ss.mmd2(sampler.prototypes_, data, kernel=sampler.kernel_, weight_x=sampler.weights_))
    others = ss.SuperSampler(20, random_state=1, kernel=sampler.kernel_).fit(data)._now.selected
    found = certify(others.plan.held_out, selected.held_out, selected.rows.points, selected.weights, selected.control)
    assert found.mmd == pytest.approx(exact, rel=1e-6)
    assert found.error < 1e-5 * exact


def test_captured_energy_is_the_share_that_landmarks_span():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(3000, 2))
    smooth = ss.SuperSampler(10, bandwidth=2.0, random_state=0).fit(data)
    assert 0.99 < smooth.energy_ <= 1.0001
    rough = ss.SuperSampler(10, bandwidth=0.05, random_state=0).fit(data)
    assert rough.energy_ < 0.5
    assert ss.SuperSampler(10, features="fourier", random_state=0).fit(data).energy_ == 1.0
    phi = Landmark(Gaussian(1.0), data[:5], 16, random_state=0)
    half = np.concatenate([data[:5], 1e3 + data[:5]])
    assert captured_energy(phi, half, np.full(10, 0.1)) == pytest.approx(0.5, abs=1e-4)
    assert captured_energy(phi, half, np.repeat([0.2, 0.0], 5)) == pytest.approx(1.0, abs=1e-4)


def test_landmarks_that_miss_the_stream_are_told_by_their_energy():
    data = np.random.default_rng(0).normal(size=(12_000, 2))
    data[6000:] += 30.0
    sampler = ss.SuperSampler(10, bandwidth=1.0, random_state=0).fit(data)
    assert sampler.energy_ == pytest.approx(0.5, abs=0.05)
