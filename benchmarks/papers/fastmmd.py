"""The experiments of FastMMD (Zhao and Meng 2015), section 4, and the choice between two forms of Fourier features.

The paper's L is the number of frequencies, which in the paired form is half the number of features.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

import supersample as ss
from benchmarks.papers.fastmmd_data import best_bandwidth, blobs, blobs_measure, mixture, rings
from benchmarks.papers.fastmmd_power import figure7
from benchmarks.papers.figures import LINES, loglog_slope, panels, write_numbers
from benchmarks.papers.trials import one_thread_workers

__all__ = ["figure1", "figure3", "figure4", "figure5", "figure7", "forms", "run"]

Floats = npt.NDArray[np.float64]
Estimator = Literal["biased", "unbiased"]
Form = Literal["paired", "phase"]
Frequencies = Literal["independent", "orthogonal", "sobol"]

ESTIMATORS: tuple[Estimator, ...] = ("biased", "unbiased")
_DRAWS: tuple[Frequencies, ...] = ("independent", "orthogonal", "sobol")
_FORMS: tuple[Form, ...] = ("paired", "phase")
_CHOICES = list(product((128, 512), _DRAWS, _FORMS))
#: Width and bandwidth, as a share of the median distance; a tenth of it is about the paper's bandwidth of 1 on its blobs.
_SETTINGS = [(2, 1.0), (2, 0.25), (2, 0.1), (10, 1.0), (10, 0.25), (50, 1.0), (50, 0.25)]
MAPS = {"fourier": ss.features.Fourier, "fastfood": ss.features.Fastfood}


def run(out: Path, _data: Path, quick: bool) -> None:
    """Run everything; all data are synthetic."""
    figure1(out)
    figure3(out)
    with one_thread_workers() as pool:
        figure4(out, quick, pool)
        figure5(out, quick, pool)
        figure7(out, quick, pool)
        forms(out, quick, pool)


def figure1(out: Path) -> None:
    """Figure 1: two samples wrapped around a circle by one frequency, and the diameter that separates them best."""
    rng = np.random.default_rng(31)
    x, y = rng.normal(0.0, 0.6, 30), rng.normal(1.8, 0.8, 30)
    found = ss.circular_discrepancy(x, y)
    ends = np.linspace(0.0, 2.0 * np.pi, 721)
    heights = np.sin(ends[:, None] - x).mean(axis=1) - np.sin(ends[:, None] - y).mean(axis=1)
    best = ends[int(np.argmax(heights))]
    print(f"figure 1  circular discrepancy {found:.4f}; largest difference of mean sines on a grid {heights.max():.4f}")
    with panels(out / "figure1", 1) as (axis,):
        axis.scatter(1.12 * np.cos(ends), 1.12 * np.sin(ends), c=heights, cmap="Greys_r", s=14)
        axis.plot(np.cos(x), np.sin(x), "o", color="#D55E00", mfc="none", label="sample 1")
        axis.plot(np.cos(y), np.sin(y), "o", color="#0072B2", mfc="none", label="sample 2")
        axis.plot([np.cos(best), -np.cos(best)], [np.sin(best), -np.sin(best)], color="#009E73", label="decision diameter")
        axis.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
        axis.grid(visible=False)
        axis.legend(loc="center", fontsize=7)


def figure3(out: Path) -> None:
    """Figure 3: samples of the blobs P and Q; and the bandwidth with the largest MMD, by how the blobs are read."""
    rng = np.random.default_rng(33)
    with panels(out / "figure3", 2) as axes:
        for axis, (title, ratio) in zip(axes, (("(a) P", 1.0), ("(b) Q, ε = 4", 4.0)), strict=True):
            axis.plot(*blobs(1000, ratio, rng).T, ".", markersize=2, color="#0072B2")
            axis.set(title=title, aspect="equal", xlim=(-6, 26), ylim=(-6, 26))
    numbers = {}
    bandwidths = 10.0 ** (np.arange(-10, 21) / 10.0)
    for spacing, (name, power) in product((5.0, 10.0), (("(ε, 1)", 0.0), ("(√ε, 1/√ε)", 0.5))):
        found = {}
        for ratio in (1.1, 2.0, 3.0, 4.0):
            q = blobs_measure(ratio ** (1.0 - power), spacing, ratio**-power)
            found[ratio] = best_bandwidth(blobs_measure(1.0, spacing), q, bandwidths)
        numbers[f"{spacing:g} {name}"] = found
        listed = ", ".join(f"{ratio:g}: {each:.2f}" for ratio, each in found.items())
        print(f"figure 3  blobs {spacing:g} apart, eigenvalues {name}: bandwidth of the largest MMD by ratio {listed}")
    write_numbers(out / "figure3", numbers)


def figure4(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 4: relative error of MMD^2 against L, biased and unbiased, for both maps; fresh data and frequencies a trial."""
    sizes = [2**power for power in range(4, 8 if quick else 13)]
    counts = [30 if quick else min(1000, 2**19 // size) for size in sizes]
    trials = list(pool.map(partial(_errors, sizes=sizes, counts=counts), range(max(counts)), chunksize=5))
    errors: Floats = np.nanmean(np.abs(trials), axis=0)
    deviations: Floats = np.nanstd(np.abs(trials), axis=0) / np.sqrt(counts)[:, None, None]
    ratios = errors[:, 1] / errors[:, 0]
    numbers: dict[str, object] = {"L": sizes, "trials": counts, "n": 1000, "ratio": 4.0, "bandwidth": 1.0}
    for (m, name), (e, estimator) in product(enumerate(MAPS), enumerate(ESTIMATORS)):
        slope = loglog_slope(sizes, errors[:, m, e])
        print(f"figure 4  {name:8} {estimator:8} slope {slope:+.3f}  error at L={sizes[-1]}: {errors[-1, m, e]:.3%}")
        numbers[f"{name} {estimator}"] = {
            "slope": slope,
            "mean_relative_error": errors[:, m, e],
            "standard_error": deviations[:, m, e],
        }
    overall = np.exp(np.log(ratios).mean(axis=0))
    print(f"figure 4  Fastfood / Fourier error: biased {overall[0]:.2f}, unbiased {overall[1]:.2f}, largest {ratios.max():.2f}")
    numbers["fastfood_over_fourier"] = dict(zip(ESTIMATORS, ratios.T, strict=True))
    for diagonal in (True, False):
        found = np.array(list(pool.map(partial(_stretched, diagonal=diagonal), range(30 if quick else 1500), chunksize=5)))
        ratio = float(found[:, 1].mean() / found[:, 0].mean())
        # The two maps see the same data: the error of the ratio is that of the paired residuals.
        error = float(np.std(found[:, 1] - ratio * found[:, 0], ddof=1) / np.sqrt(len(found)) / found[:, 0].mean())
        along = "the diagonal" if diagonal else "an axis"
        print(
            f"figure 4  blobs stretched along {along}, L = 128, 500 + 500 points: Fastfood / Fourier {ratio:.2f} +- {error:.2f}"
        )
        numbers[f"fastfood_over_fourier, stretched along {along}"] = {"ratio": ratio, "standard_error": error}
    write_numbers(out / "figure4", numbers)
    with panels(out / "figure4", 2) as axes:
        for e, axis in enumerate(axes):
            for m, name in enumerate(MAPS):
                axis.errorbar(sizes, errors[:, m, e], deviations[:, m, e], **LINES[name], mfc="none")
            axis.plot(sizes, errors[0, 0, e] * np.sqrt(sizes[0] / np.array(sizes)), color="0.6", lw=1, label="slope -1/2")
            _logarithmic(axis, "frequencies L", "relative error of MMD²", f"({'ab'[e]}) {ESTIMATORS[e]}")
            axis.set_xscale("log", base=2)


def _errors(trial: int, sizes: Sequence[int], counts: Sequence[int]) -> Floats:
    """Return the relative errors (L x map x estimator) of one trial; NaN for the L that have fewer trials."""
    rng = np.random.default_rng([4, trial])
    kernel = ss.kernels.Gaussian(1.0)
    x, y = blobs(1000, 1.0, rng), blobs(1000, 4.0, rng)
    exact = [ss.mmd2(x, y, kernel=kernel, estimator=estimator) for estimator in ESTIMATORS]
    errors = np.full((len(sizes), len(MAPS), len(ESTIMATORS)), np.nan)
    for place, (size, count) in enumerate(zip(sizes, counts, strict=True)):
        if trial >= count:
            continue
        for m, make in enumerate(MAPS.values()):
            phi = make(kernel, 2 * size, random_state=rng)
            left, right = ss.MeanEmbedding(phi).update(x), ss.MeanEmbedding(phi).update(y)
            for e, estimator in enumerate(ESTIMATORS):
                errors[place, m, e] = left.mmd2(right, estimator=estimator) / exact[e] - 1.0
    return errors


def _stretched(trial: int, diagonal: bool) -> list[float]:
    """Return the absolute errors of MMD^2 by both maps with 128 frequencies."""
    rng = np.random.default_rng([44, trial])
    kernel = ss.kernels.Gaussian(1.0)
    x, y = blobs(500, 1.0, rng), blobs(500, 4.0, rng, diagonal=diagonal)
    exact = ss.mmd2(x, y, kernel=kernel)
    maps = [make(kernel, 256, random_state=rng) for make in MAPS.values()]
    return [abs(ss.MeanEmbedding(phi).update(x).mmd2(ss.MeanEmbedding(phi).update(y)) - exact) for phi in maps]


def figure5(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 5: MMD^2 over a family of bandwidths on one ring data set; means and deviations over frequencies or orders."""
    bandwidths = 10.0 ** (np.arange(-5, 11) / 5.0)
    n_trials = 10 if quick else 1000
    x, y = rings(200, np.random.default_rng(5))
    trials = np.array(list(pool.map(partial(_family, x=x, y=y, bandwidths=bandwidths), range(n_trials), chunksize=5)))
    exact = {e: np.array([ss.mmd2(x, y, kernel=ss.kernels.Gaussian(b), estimator=e) for b in bandwidths]) for e in ESTIMATORS}
    curves = [("fourier", "biased"), ("fastfood", "biased")]
    curves += [(method, "unbiased") for method in ("fourier", "fastfood", "block", "linear", "printed block", "printed linear")]
    means, deviations = trials.mean(axis=0), trials.std(axis=0, ddof=1)
    numbers: dict[str, object] = {"bandwidth": bandwidths, "trials": n_trials, "n": 200, "L": 1024, "exact": exact}
    best = int(np.argmax(exact["unbiased"]))
    for row, (method, estimator) in enumerate(curves):
        found = float(np.mean(trials[:, row].argmax(axis=1) == np.argmax(exact["biased" if row < 2 else "unbiased"])))
        numbers[f"{method} {estimator}"] = {
            "mean": means[row],
            "deviation": deviations[row],
            "share_finding_the_best_bandwidth": found,
        }
        print(
            f"figure 5  {method:14} {estimator:8} deviation at bandwidth {bandwidths[best]:.2g}: {deviations[row, best]:.2e}; "
            f"finds the bandwidth of the largest MMD in {found:.0%}"
        )
    write_numbers(out / "figure5", numbers)
    with panels(out / "figure5", 3) as axes:
        for row, (method, estimator) in enumerate(curves):
            if method.startswith("printed"):  # in the numbers only: the lines lie upon ours
                continue
            axis = axes[0] if estimator == "biased" else axes[1]
            shifted = bandwidths * 1.06 ** (row % 4 - 1.5)  # bars beside each other, not on top
            axis.errorbar(shifted, means[row], deviations[row], **{**LINES[method], "linestyle": ""}, mfc="none", capsize=2)
            if estimator == "unbiased":
                axes[2].plot(bandwidths, deviations[row], **LINES[method], mfc="none")
        for axis, estimator in zip(axes[:2], ESTIMATORS, strict=True):
            axis.plot(bandwidths, exact[estimator], **{**LINES["exact"], "marker": ""}, lw=1)
            axis.set(xscale="log", xlabel="bandwidth", ylabel="MMD²", title=f"({'ab'[axis is axes[1]]}) {estimator}")
            axis.legend()
        _logarithmic(axes[2], "bandwidth", "standard deviation of MMD²", "(c) deviations, unbiased")


def _family(trial: int, x: Floats, y: Floats, bandwidths: Floats) -> Floats:
    """Return MMD^2 (curve x bandwidth) for one draw of frequencies, shared by the family, and one order of the rows."""
    rng = np.random.default_rng([55, trial])
    shuffled = rng.permutation(x), rng.permutation(y)
    biased: dict[str, list[float]] = {name: [] for name in MAPS}
    unbiased: dict[str, list[float]] = {name: [] for name in (*MAPS, "block", "linear", "printed block", "printed linear")}
    for bandwidth in bandwidths:
        kernel = ss.kernels.Gaussian(float(bandwidth))
        for name, make in MAPS.items():
            phi = make(kernel, 2048, random_state=trial)
            left, right = ss.MeanEmbedding(phi).update(x), ss.MeanEmbedding(phi).update(y)
            biased[name].append(left.mmd2(right))
            unbiased[name].append(left.mmd2(right, estimator="unbiased"))
        unbiased["block"].append(ss.mmd2(*shuffled, kernel=kernel, method="block"))
        unbiased["linear"].append(ss.mmd2(*shuffled, kernel=kernel, method="linear"))
        unbiased["printed block"].append(ss.mmd2(*shuffled, kernel=kernel, method="block", estimator="paired"))
        unbiased["printed linear"].append(ss.mmd2(*shuffled, kernel=kernel, method="linear", estimator="paired"))
    return np.array([*biased.values(), *unbiased.values()])


def forms(out: Path, quick: bool, pool: Executor) -> None:
    """Compare cosine-with-phase and paired cosine/sine features at an equal number of features (docs/decisions/003)."""
    n_trials = 4 if quick else 100
    rows = []
    for width, narrow in _SETTINGS:
        trials = list(pool.map(partial(_form_errors, width=width, narrow=narrow), range(n_trials), chunksize=2))
        errors = np.sqrt(np.mean(np.square(trials), axis=0))
        for (n_features, draw, form), (kernel, near, mmd) in zip(_CHOICES, errors, strict=True):
            choice = {"d": width, "bandwidth": f"{narrow:g} median", "D": n_features, "frequencies": draw, "form": form}
            rows.append({**choice, "kernel": kernel, "near_pairs": near, "mmd2_relative": mmd})
            if n_features == 512:
                print(
                    f"forms     d={width:<2} D=512 bandwidth {narrow:<4g} median, {draw:11} {form:6} "
                    f"kernel {kernel:.4f}, near pairs {near:.4f}, MMD^2 {mmd:.1%}"
                )
    write_numbers(out / "forms", {"trials": n_trials, "n": 300, "errors": "root mean squares", "rows": rows})


def _form_errors(trial: int, width: int, narrow: float) -> Floats:
    """Return, for each choice, RMS kernel errors over all pairs and the nearest hundredth, and the relative error of MMD^2."""
    rng = np.random.default_rng([3, trial])
    x, y = mixture(300, 1.0, width, rng), mixture(300, 4.0, width, rng)
    rows = np.concatenate([x, y])
    kernel = ss.kernels.Gaussian(narrow * ss.kernels.median_distance(rows))
    gram = kernel(rows)
    apart = ~np.eye(len(rows), dtype=bool)
    near = apart & (gram >= np.quantile(gram[apart], 0.99))
    exact = ss.mmd2(x, y, kernel=kernel)
    errors = []
    for n_features, draw, form in _CHOICES:
        phi = ss.features.Fourier(kernel, n_features, form=form, frequencies=draw, random_state=trial)
        features = phi.transform(rows)
        squares = (features @ features.T - gram) ** 2
        difference = features[:300].mean(axis=0, dtype=np.float64) - features[300:].mean(axis=0, dtype=np.float64)
        relative = difference @ difference / exact - 1.0
        errors.append([np.sqrt(squares[apart].mean()), np.sqrt(squares[near].mean()), relative])
    return np.array(errors)


def _logarithmic(axis: Axes, x: str, y: str, title: str) -> None:
    axis.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axis.legend()
