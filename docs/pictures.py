"""Draw the pictures of docs/concepts with the package's own code: `make pictures`, or python docs/pictures.py.

Each function draws one file, from fixed seeds. Backgrounds are left out and colours lie in the middle, so that a picture is
readable on light and on dark paper.
"""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import supersample as ss

FOLDER = Path(__file__).parent / "concepts" / "img"
INK, DATA, BLUE, ORANGE, GREEN, PURPLE = "#7d8590", "#949ca5", "#1c8cc0", "#e0662a", "#2d9d6c", "#9a6fd0"

STYLE: dict[str, Any] = {
    "svg.hashsalt": "supersample",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "savefig.transparent": True,
    "savefig.bbox": "tight",
    "savefig.dpi": 110,
}


def mixture() -> ss.measures.GaussianMixture:
    """Return the three heaps that most pictures show."""
    covariances = [[[0.5, 0.25], [0.25, 0.3]], [[0.25, 0.0], [0.0, 0.6]], [[0.8, -0.3], [-0.3, 0.35]]]
    return ss.measures.GaussianMixture([0.5, 0.3, 0.2], [[-1.6, 0.0], [1.4, 1.6], [2.0, -1.4]], covariances)


def cloud(axes: Any, points: Any, **options: Any) -> None:
    """Scatter every other of many points as a picture within the picture, which keeps the file small."""
    axes.scatter(*points[::2].T, **{"s": 4, "color": DATA, "alpha": 0.5, "linewidths": 0, "rasterized": True, **options})


def plain(axes: Any, title: str) -> None:
    """Leave the frame out: these axes only show where points lie."""
    axes.set_title(title)
    axes.set_axis_off()
    axes.set_aspect("equal")


def embedding() -> Any:
    """Two samples, their mean embeddings, and the witness between them."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(-0.4, 0.9, size=(60, 1)), np.concatenate([rng.normal(-1.2, 0.5, (30, 1)), rng.normal(1.6, 0.4, (30, 1))])
    kernel, line = ss.kernels.Gaussian(0.5), np.linspace(-4, 4, 300)[:, None]
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 3.9), sharex=True, height_ratios=[1.4, 1])
    means = [kernel(line, sample).mean(axis=1) for sample in (x, y)]
    for sample, mean, colour, name in zip((x, y), means, (BLUE, ORANGE), ("first sample", "second sample"), strict=True):
        above.plot(line, mean, color=colour, label=f"mean embedding of the {name}")
        above.plot(sample, np.full(len(sample), -0.02 if colour == BLUE else -0.05), "|", color=colour, ms=6)
    above.legend(loc="upper right")
    below.axhline(0, color=INK, lw=0.8)
    below.plot(line, means[0] - means[1], color=PURPLE, label="witness: their difference")
    below.fill_between(line[:, 0], means[0] - means[1], color=PURPLE, alpha=0.2, lw=0)
    below.legend(loc="upper right")
    below.set_xlabel(f"MMD = {np.sqrt(ss.mmd2(x, y, kernel=kernel)):.2f}: the length of the witness in the kernel's space")
    return figure


def features() -> Any:
    """Error of MMD^2 against the number of features, for each map."""
    pool = mixture().sample(1_500, random_state=0)
    other = pool[:700] + np.array([0.35, 0.0])
    kernel = ss.kernels.Gaussian(1.0)
    truth = ss.mmd2(pool, other, kernel=kernel)
    sizes = [16, 32, 64, 128, 256, 512]

    def error(make: Callable[[int, int], Any], size: int) -> float:
        found = []
        for seed in range(30):
            phi = make(size, seed)
            left, right = ss.MeanEmbedding(phi).update(pool), ss.MeanEmbedding(phi).update(other)
            found.append(left.mmd2(right) / truth - 1)
        return float(np.sqrt(np.mean(np.square(found))))

    fourier, sobol = ss.features.Fourier, "sobol"
    maps: dict[str, tuple[str, Callable[[int, int], Any]]] = {
        "Fourier, independent frequencies": (BLUE, lambda n, s: fourier(kernel, n, random_state=s)),
        "Fourier, Sobol frequencies": (GREEN, lambda n, s: fourier(kernel, n, frequencies=sobol, random_state=s)),
        "Fastfood": (PURPLE, lambda n, s: ss.features.Fastfood(kernel, n, random_state=s)),
        "Nyström, n landmarks": (
            ORANGE,
            lambda n, s: ss.features.Nystroem.from_sample(kernel, pool, n, dtype=np.float64, random_state=s),
        ),
    }
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    for name, (colour, make) in maps.items():
        shown = sizes[:3] if name.startswith("Ny") else sizes
        axes.loglog(shown, [error(make, size) for size in shown], "o-", ms=4, color=colour, label=name)
    axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("features")
    axes.set_ylabel("relative error of MMD²")
    axes.legend()
    return figure


def stream_points() -> Any:
    """The rows that a stream keeps, beside as many at random."""
    data = mixture().sample(20_000, random_state=0)
    sampler = ss.SuperSampler(60, bandwidth=0.8, random_state=0).fit(data)
    drawn = data[np.random.default_rng(2).choice(len(data), 60, replace=False)]
    figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.0))
    kernel = ss.kernels.Gaussian(0.8)
    for panel, points, colour, name in zip(
        axes, (sampler.prototypes_, drawn), (BLUE, ORANGE), ("kept by the stream", "drawn at random"), strict=True
    ):
        cloud(panel, data[:3_000])
        panel.scatter(*points.T, s=16, color=colour, linewidths=0)
        plain(panel, f"60 rows {name}: MMD {np.sqrt(ss.mmd2(points, data, kernel=kernel)):.3f}")
    return figure


def stream_path() -> Any:
    """Held-out MMD while rows come in, shuffled and sorted, with its standard error, and random rows."""
    data = mixture().sample(65_536, random_state=1)
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    orders = {"shuffled": (BLUE, data), "sorted by the first column": (GREEN, data[np.argsort(data[:, 0])])}
    for name, (colour, rows) in orders.items():
        sampler, seen = ss.SuperSampler(100, bandwidth=0.8, random_state=0), []
        cuts = [0, *(2**power for power in range(9, 17))]
        for start, stop in pairwise(cuts):
            sampler.partial_fit(rows[start:stop])
            seen.append((stop, sampler.mmd_, sampler.mmd_error_, sampler.random_mmd_))
        n, mmd, error, random = np.array(seen).T
        axes.loglog(n, mmd, "o-", ms=3, color=colour, label=f"100 rows kept, {name}")
        axes.fill_between(n, mmd - 2 * error, mmd + 2 * error, color=colour, alpha=0.2, lw=0)
        if name == "shuffled":
            axes.loglog(n, random, color=ORANGE, label="100 rows at random")
    axes.loglog(n, np.sqrt(1.0 / n), "--", color=INK, lw=1, label="n rows at random: about 1/√n")
    axes.set_xlabel("rows seen")
    axes.set_ylabel("MMD to the rows seen")
    axes.set_ylim(bottom=1e-4)
    axes.legend(loc="lower left", ncols=2)
    return figure


def quadrature() -> Any:
    """MMD against the number of points for each way to choose them."""
    target, kernel, m = mixture(), ss.kernels.Gaussian(0.8), 60
    pool = target.sample(3_000, random_state=0)
    given: dict[str, Any] = {"target": target, "kernel": kernel}
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    sizes = np.arange(1, m + 1)
    draws = [ss.herd(target.sample(m, random_state=seed), m, **given).mmd[-1] for seed in range(40)]
    axes.loglog(sizes, np.sqrt(np.mean(np.square(draws)) * m / sizes), color=ORANGE, label="independent draws, on average")
    axes.loglog(sizes, ss.herd(pool, m, **given).mmd, color=BLUE, label="herd: equal weights")
    corrected = ss.frank_wolfe(pool, m, variant="fully-corrective", **given).mmd
    axes.loglog(sizes[: len(corrected)], corrected, color=GREEN, label="frank_wolfe, fully corrective: positive weights")
    axes.loglog(sizes, ss.sbq(pool, m, **given).mmd, color=PURPLE, label="sbq: free weights")
    axes.set_xlabel("points")
    axes.set_ylabel("MMD to the mixture")
    axes.legend(loc="lower left")
    return figure


def weights() -> Any:
    """Points of herding and of sequential Bayesian quadrature, by the size of their weights."""
    target, kernel = mixture(), ss.kernels.Gaussian(0.8)
    pool = target.sample(3_000, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.0))
    for panel, method in zip(axes, (ss.herd, ss.sbq), strict=True):
        found = method(pool, 16, target=target, kernel=kernel)
        cloud(panel, pool)
        colours = np.where(found.weights < 0, ORANGE, BLUE)
        panel.scatter(*found.points.T, s=900 * np.abs(found.weights), color=colours, alpha=0.85, linewidths=0)
        plain(panel, f"16 points of {method.__name__}: MMD {found.mmd[-1]:.3f}")
    return figure


def integral() -> Any:
    """Error and standard deviation of an integral against the number of calls."""
    box, truth = ss.measures.Uniform([0.0, 0.0], [1.0, 1.0]), (1 - np.exp(-1)) * (1 - np.cos(3)) / 3
    sizes = range(4, 31, 2)

    def f(x: Any) -> float:
        return float(np.exp(-x[0]) * np.sin(3 * x[1]))

    found = [ss.integrate(f, box, n, random_state=0) for n in sizes]
    draws = box.sample(20_000, random_state=1)
    spread = float(np.std(np.exp(-draws[:, 0]) * np.sin(3 * draws[:, 1])))
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    axes.semilogy(sizes, spread / np.sqrt(sizes), color=ORANGE, label="standard error of as many random calls")
    axes.semilogy(sizes, [each.sd for each in found], color=BLUE, label="sd that integrate gives")
    axes.semilogy(sizes, [abs(each.mean - truth) for each in found], "o", ms=4, color=PURPLE, label="its error")
    axes.set_xlabel("calls of the function")
    axes.legend(loc="lower left")
    return figure


def criticisms() -> Any:
    """The witness function, prototypes and criticisms."""
    rng = np.random.default_rng(0)
    data = np.concatenate([mixture().sample(2_960, random_state=3), rng.normal([4.6, 3.4], 0.15, size=(40, 2))])
    found = ss.critic(data, 12, 5, random_state=0)
    kernel = ss.kernels.Gaussian("median").resolve(data, random_state=0)
    x, y = np.linspace(-4.5, 5.6, 60), np.linspace(-4.2, 4.6, 50)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    witness = (kernel(grid, data).mean(axis=1) - kernel(grid, found.prototypes.points).mean(axis=1)).reshape(50, 60)
    figure, axes = plt.subplots(figsize=(6.2, 4.4))
    most = float(np.abs(witness).max())
    shade = mpl.colors.LinearSegmentedColormap.from_list("witness", [ORANGE, (0.5, 0.5, 0.5, 0.0), PURPLE])
    frame = (x[0], x[-1], y[0], y[-1])
    axes.imshow(witness, cmap=shade, vmin=-most, vmax=most, alpha=0.55, origin="lower", extent=frame, interpolation="none")
    cloud(axes, data, s=2)
    axes.scatter(*found.prototypes.points.T, s=34, color=BLUE, label="prototypes", linewidths=0)
    axes.scatter(*found.criticisms.points.T, s=46, color=ORANGE, marker="X", label="criticisms", linewidths=0)
    axes.legend(loc="lower left")
    plain(axes, "Purple: the prototypes have too little here; orange: too much")
    return figure


def nulls() -> Any:
    """The permutation null and the spectral one, and what was observed."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 2)), rng.normal([0.14, 0.0], 1.0, size=(250, 2))
    kernel = ss.kernels.Gaussian(1.5)
    test = ss.two_sample_test(x, y, kernel=kernel, method="exact", random_state=0)
    pooled = np.concatenate([x, y])
    dealt = []
    for _ in range(1_000):
        rows = rng.permutation(pooled)
        dealt.append(ss.mmd2(rows[:150], rows[150:], kernel=kernel))
    centred = kernel(pooled)
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    values = np.clip(np.linalg.eigvalsh(centred), 0, None)[-40:] / (len(pooled) - 1)
    limit = (1 / 150 + 1 / 250) * (rng.chisquare(1, size=(200_000, 40)) @ values)
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    bins = np.linspace(0, 0.03, 46)
    axes.hist(dealt, bins, density=True, color=BLUE, alpha=0.45, label="1,000 permutations of the labels")
    height, edges = np.histogram(limit, bins, density=True)
    axes.plot((edges[:-1] + edges[1:]) / 2, height, color=PURPLE, label="spectral limit: a weighted sum of χ²")
    axes.axvline(test.statistic, color=ORANGE, label=f"observed, p = {test.pvalue:.3g}")
    axes.set_xlabel("MMD²")
    axes.set_yticks([])
    axes.legend()
    return figure


def circle() -> Any:
    """One frequency wraps two samples around a circle; the distance of their mean resultants is its discrepancy."""
    rng = np.random.default_rng(4)
    samples = rng.normal(-0.3, 0.7, size=80), rng.normal(0.9, 0.5, size=80)
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3.1), width_ratios=[1, 1.3])
    around = np.linspace(0, 2 * np.pi, 200)
    left.plot(np.cos(around), np.sin(around), color=INK, lw=0.8)
    ends = []
    for values, colour, radius in zip(samples, (BLUE, ORANGE), (1.0, 1.08), strict=True):
        left.scatter(radius * np.cos(values), radius * np.sin(values), s=9, color=colour, alpha=0.6, linewidths=0)
        end = np.exp(1j * values).mean()
        left.plot([0, end.real], [0, end.imag], color=colour)
        ends.append(end)
    left.plot([end.real for end in ends], [end.imag for end in ends], color=PURPLE, lw=2.4)
    plain(left, "angles ω·x, and their means")
    x, y = samples
    scales = np.linspace(0.05, 5, 120)
    found = [ss.circular_discrepancy(scale * x, scale * y) for scale in scales]
    right.plot(scales, found, color=PURPLE)
    right.set_xlabel("frequency ω")
    right.set_title("length of the purple line, at each frequency")
    return figure


PICTURES: tuple[Callable[[], Any], ...] = (
    embedding,
    features,
    stream_points,
    stream_path,
    quadrature,
    weights,
    integral,
    criticisms,
    nulls,
    circle,
)


def main(names: list[str]) -> None:
    """Draw the pictures named, or all."""
    mpl.use("svg")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        name = draw.__name__.replace("_", "-")
        if not names or name in names:
            with mpl.rc_context(STYLE):
                figure = draw()
                figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
                plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
