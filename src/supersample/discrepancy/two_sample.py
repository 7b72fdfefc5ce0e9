"""Two-sample tests: is the discrepancy between two samples larger than between two samples of one population?"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import special

from supersample._random import Seed, as_seed
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_count, choose
from supersample.device.arrays import home_of, working
from supersample.device.checks import refuse
from supersample.discrepancy import weighted_chi2
from supersample.discrepancy.blocks import block_values
from supersample.discrepancy.circular import check_norm
from supersample.discrepancy.mmd import METHODS, Estimator, Method, choose_estimator
from supersample.discrepancy.mmd_on_device import block_values_on
from supersample.discrepancy.resampled_circular import observed_and_permuted, resampled_ensembles
from supersample.discrepancy.resampled_mmd import ExactSums, FeatureSums, ResampledSums
from supersample.discrepancy.result import QUANTILES, TestResult
from supersample.discrepancy.two_samples import TwoSamples, pool, resolve_all
from supersample.errors import InputError
from supersample.kernels import Kernel, KernelLike, as_family
from supersample.kernels.bandwidth import Bandwidth

__all__ = ["two_sample_test"]

Null = Literal["permutation", "bootstrap", "spectral", "normal"]
Statistic = Literal["mmd", "mallows", "sine"]

#: Statistics closer than this share of their size are ties up to rounding; ties count against rejection.
_TIE = 1e-5


def two_sample_test(
    X: PointsLike,
    Y: PointsLike,
    *,
    kernel: KernelLike | Sequence[KernelLike | float] = "gaussian",
    bandwidth: Bandwidth = "median",
    method: Method = "fourier",
    null: Null | None = None,
    estimator: Estimator | None = None,
    statistic: Statistic = "mmd",
    norm: float = 2.0,
    n_resamples: int = 999,
    n_features: int = 1024,
    random_state: RandomState = None,
) -> TestResult:
    """Test whether two samples come from one population, by their maximum mean discrepancy or an ensemble of circular ones.

    The tests are those of Zhao and Meng 2015, section 4.4.

    method: as in `mmd2`; the default scales linearly in the rows.
    null: the distribution of the statistic if both samples came from one population. Permutation and bootstrap are matrix
        products of features with label vectors, O(n D) for each resample.
        permutation (the default): rows assigned to the two samples at random. Exact at any size: rejects at most as often
            as stated.
        bootstrap: both samples drawn from the pooled rows with replacement. Asymptotically exact.
        spectral: the limit, a mixture of chi-squared variables with the eigenvalues of the pooled covariance as weights; no
            resampling. Asymptotically exact. For a family of kernels there is no closed form, and it is simulated.
        normal: for "block" and "linear" only, since their statistics are means over independent blocks; Student's t.
            Conservative with few blocks.
    kernel: one kernel, by name with `bandwidth` or as an object, or a family as a list of kernels or of bandwidths; then the
        statistic is the largest MMD^2 over the family and the null distribution is maximised in the same way, so the level
        holds. A "median" bandwidth comes from the pooled rows, whatever their sample.

    statistic: what is compared with its null.
        mmd (the default): the squared maximum mean discrepancy.
        mallows, sine: the ensemble of circular discrepancies with this distance, as `circular_ensemble` computes it; the
            statistics that Zhao and Meng propose in section 3.3. For "fourier" and "fastfood", with the permutation null only.
            O(n) for each frequency and resample; a byte for each row and resample.
    norm: how "mallows" and "sine" combine the frequencies: 1 is the mean, inf the worst frequency. "mmd" is "sine" with norm 2,
        squared, and takes no other norm.

    Arrays of torch, CuPy and JAX are tested where they lie, with the same frequencies and resamples, so that p-values agree
    with the CPU's to a resample or two. Where there are more than 268 million labels (rows times resamples), permutations are
    drawn on the device from the same seed, and are other ones. The statistics "mallows" and "sine" and the method "fastfood"
    are for the CPU only.

    The p-value of a resampled null is (1 + #{null >= observed}) / (1 + n_resamples); no p-value is ever 0.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(300, 2)), rng.normal(0.5, 1.0, size=(200, 2))
    >>> two_sample_test(x, y, random_state=0).pvalue
    0.001
    >>> two_sample_test(x[:150], x[150:], random_state=0).rejects()
    False
    """
    choose(method, "method", METHODS)
    choose(statistic, "statistic", ("mmd", "mallows", "sine"))
    chosen = choose_estimator(estimator, method)
    chosen_null = _choose_null(null, method)
    order = check_norm(norm)
    _check_statistic(statistic, order, method, chosen_null, chosen)
    count = check_count(n_resamples, "n_resamples")
    check_count(n_features, "n_features")
    with working(home_of(X=X, Y=Y)):
        samples = pool(X, Y, min_rows=2)
        seed = as_seed(random_state)
        kernels = resolve_all(as_family(kernel, bandwidth), samples, seed)
        return _tested(samples, kernels, method, chosen, chosen_null, statistic, order, count, n_features, seed)


def _tested(
    samples: TwoSamples,
    kernels: Sequence[Kernel],
    method: Method,
    chosen: Estimator,
    chosen_null: str,
    statistic: Statistic,
    order: float,
    count: int,
    n_features: int,
    seed: Seed,
) -> TestResult:
    """Test checked samples with kernels whose bandwidths are known."""
    if chosen_null == "normal":
        return _normal_test(samples, kernels, method, chosen)
    if statistic != "mmd":
        refuse(samples.home, f"statistic={statistic!r}", "use 'mmd', or bring X and Y to the host")
        return _circular_test(samples, kernels, statistic, order, method, count, n_features, seed)
    by_features = method in ("fourier", "fastfood")
    sums = _sums(samples, kernels, method, n_features, seed)
    m, n = int(samples.x.shape[0]), int(samples.y.shape[0])
    each = [float(pairs.statistics(m, n, chosen)[0]) for pairs in sums.pairs("observed", 1, seed)]
    if not bool(np.isfinite(each).all()):
        raise InputError("kernel must give a finite discrepancy between X and Y, and does not; scale them, or pass another one")
    best = int(np.argmax(each))
    spectral = chosen_null == "spectral" and len(kernels) == 1
    if spectral:
        pvalue, quantiles = _spectral(each[0], sums, m, n, chosen, seed)
    else:
        values = _null_values(sums, chosen_null, count, m, n, chosen, seed)
        pvalue = _resampled_pvalue(each[best], values)
        quantiles = {level: float(np.quantile(values, level)) for level in QUANTILES}
    return TestResult(
        statistic=each[best],
        pvalue=pvalue,
        null=chosen_null,
        method=method,
        estimator=chosen,
        kernel=kernels[best],
        n_x=m,
        n_y=n,
        n_resamples=None if spectral else count,
        n_features=n_features if by_features else None,
        null_quantiles=quantiles,
        family_statistics=tuple(zip(kernels, each, strict=True)) if len(kernels) > 1 else (),
    )


def _sums(samples: TwoSamples, kernels: Sequence[Kernel], method: str, n_features: int, seed: Seed) -> ResampledSums:
    """Return the kernel matrix of the pooled rows, by features or exact, where the rows lie."""
    by_features = method in ("fourier", "fastfood")
    if samples.home is not None:
        from supersample.discrepancy.sums_on_device import ExactSumsOnDevice, FeatureSumsOnDevice  # not needed on the host

        if by_features:
            return FeatureSumsOnDevice(samples.home, samples, kernels, method, n_features, seed)
        return ExactSumsOnDevice(samples.home, samples, kernels)
    return FeatureSums(samples, kernels, method, n_features, seed) if by_features else ExactSums(samples, kernels)


def _choose_null(null: str | None, method: str) -> str:
    in_blocks = method in ("block", "linear")
    if null is None:
        return "normal" if in_blocks else "permutation"
    choose(null, "null", ("permutation", "bootstrap", "spectral", "normal"))
    if in_blocks != (null == "normal"):
        fitting = "'normal'" if in_blocks else "'permutation', 'bootstrap' or 'spectral'"
        raise InputError(f"null={null!r} does not go with method={method!r}; use {fitting}, or leave null out")
    return null


def _check_statistic(statistic: str, norm: float, method: str, null: str, estimator: str) -> None:
    """Refuse what a statistic does not go with."""
    if statistic == "mmd":
        if norm != 2.0:
            raise InputError(f"norm={norm:g} does not go with statistic='mmd', which is norm=2; use 'sine' or 'mallows'")
        return
    for name, given, fitting in (
        ("method", method, ("fourier", "fastfood")),
        ("null", null, ("permutation",)),
        ("estimator", estimator, ("biased",)),
    ):
        if given not in fitting:
            allowed = " or ".join(map(repr, fitting))
            raise InputError(f"{name}={given!r} does not go with statistic={statistic!r}; use {allowed}, or leave {name} out")


def _circular_test(
    samples: TwoSamples,
    kernels: Sequence[Kernel],
    statistic: Literal["mallows", "sine"],
    norm: float,
    method: Method,
    n_resamples: int,
    n_features: int,
    seed: Seed,
) -> TestResult:
    labels = observed_and_permuted(samples, n_resamples, seed)
    found = np.stack(
        resampled_ensembles(
            samples, kernels, labels, distance=statistic, norm=norm, method=method, n_features=n_features, seed=seed
        )
    )
    best = int(np.argmax(found[:, 0]))
    values = found[:, 1:].max(axis=0)
    return TestResult(
        statistic=float(found[best, 0]),
        pvalue=_resampled_pvalue(float(found[best, 0]), values),
        null="permutation",
        method=method,
        estimator="biased",
        kernel=kernels[best],
        n_x=samples.x.shape[0],
        n_y=samples.y.shape[0],
        n_resamples=n_resamples,
        n_features=n_features,
        null_quantiles={level: float(np.quantile(values, level)) for level in QUANTILES},
        family_statistics=tuple(zip(kernels, found[:, 0].tolist(), strict=True)) if len(kernels) > 1 else (),
        distance=statistic,
        norm=norm,
    )


def _null_values(sums: ResampledSums, null: str, count: int, m: int, n: int, estimator: Estimator, seed: Seed) -> Floats:
    """Return `count` statistics from the null distribution, each the largest over the family."""
    if null == "permutation":
        dealt = sums.pairs("permutation", count, seed)
        return np.asarray(np.max([pairs.statistics(m, n, estimator) for pairs in dealt], axis=0))
    spread = 1.0 / m + 1.0 / n
    if null == "bootstrap":
        drawn = [pairs.statistics(m, n, estimator) for pairs in sums.pairs("bootstrap", count, seed)]
    else:  # in the limit the difference of means is Gaussian with the pooled covariance: a normal combination of centred rows
        drawn = [spread * simulated.xx / (m + n - 1.0) for simulated in sums.pairs("gaussian", count, seed)]
    values = []
    for each, observed, narrowing in zip(drawn, sums.pairs("observed", 1, seed), sums.narrowing(seed), strict=True):
        mean = spread * observed.trace(m + n)
        if estimator == "unbiased":
            each, mean = (each if null == "bootstrap" else each - mean), 0.0
        values.append(mean + narrowing * (each - mean))
    return np.asarray(np.max(values, axis=0))


def _resampled_pvalue(observed: float, values: Floats) -> float:
    slack = _TIE * max(abs(observed), float(np.median(np.abs(values))))
    return float(1 + np.count_nonzero(values >= observed - slack)) / (1 + values.size)


def _spectral(
    observed: float, sums: ResampledSums, m: int, n: int, estimator: Estimator, seed: Seed
) -> tuple[float, dict[float, float]]:
    """Compare m n / (m + n) MMD_b^2 with its limit sum_l lambda_l chi^2_1 (Gretton et al. 2009), of the right variance."""
    weights = sums.spectrum(seed)
    trace = float(weights.sum())
    if not trace > 0:
        return 1.0, dict.fromkeys(QUANTILES, 0.0)
    spread = 1.0 / m + 1.0 / n
    # The unbiased statistic is the biased one minus its mean under the null.
    shift = spread * trace if estimator == "unbiased" else 0.0
    narrowing = sums.narrowing(seed)[0]
    pvalue = weighted_chi2.survival(trace + ((observed + shift) / spread - trace) / narrowing, weights)
    quantiles = {level: trace + narrowing * (weighted_chi2.quantile(level, weights) - trace) for level in QUANTILES}
    return pvalue, {level: spread * value - shift for level, value in quantiles.items()}


def _normal_test(samples: TwoSamples, kernels: Sequence[Kernel], method: Method, estimator: Estimator) -> TestResult:
    if len(kernels) > 1:
        raise InputError(
            f"method={method!r} takes one kernel, got a family of {len(kernels)}; use 'exact', 'fourier' or 'fastfood'"
        )
    paired = estimator == "paired"
    if samples.home is None:
        values = block_values(samples.x, samples.y, kernels[0], linear=method == "linear", paired=paired)
    else:
        values = block_values_on(samples.home, samples, kernels[0], linear=method == "linear", paired=paired)
    if values.size < 2:
        raise InputError(
            f"method={method!r} needs at least two blocks of two rows in each of X and Y, got {samples.x.shape[0]} and "
            f"{samples.y.shape[0]} rows; pass at least 4 of each, or use method='exact'"
        )
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / np.sqrt(values.size)
    rounding = 1e-12 * float(kernels[0].diagonal(samples.at(np.zeros(1, dtype=np.int64)).astype(np.float64))[0])
    if error > rounding:
        pvalue = float(special.stdtr(values.size - 1, -mean / error))
    else:
        # All blocks agree: under the null a block is as likely above zero as below, so all n above have this probability.
        pvalue = 0.5**values.size if mean > rounding else 1.0
    quantiles = {level: float(error * special.stdtrit(values.size - 1, level)) for level in QUANTILES}
    return TestResult(
        statistic=mean,
        pvalue=max(pvalue, np.finfo(np.float64).tiny),
        null="normal",
        method=method,
        estimator=estimator,
        kernel=kernels[0],
        n_x=samples.x.shape[0],
        n_y=samples.y.shape[0],
        null_quantiles=quantiles,
    )
