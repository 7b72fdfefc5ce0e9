"""The experiments of super-sampling with a reservoir (Paige, Sejdinovic and Wood 2016), section 5."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

import supersample as ss
from benchmarks.drained import drained
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.reservoir_data import FUNCTIONS
from benchmarks.papers.reservoir_digits import figure4
from benchmarks.papers.reservoir_importance import figure5
from benchmarks.papers.reservoir_tree import figure2
from benchmarks.papers.reservoir_trial import MEASURES, D, M, Trial, fourier_map, mixture_stream, trial
from benchmarks.papers.trials import one_thread_workers

__all__ = ["figure1", "figure2", "figure3", "figure4", "figure5", "run"]

Floats = npt.NDArray[np.float64]

#: How each method is drawn: colours of Okabe and Ito. Those with a marker change with n.
STYLES: dict[str, dict[str, Any]] = {
    "all": {"color": "0.75", "linewidth": 4, "linestyle": "-", "label": "all data so far"},
    "printed": {"color": "black", "marker": "x", "linestyle": "-", "label": "Algorithm 2, exact"},
    "printed tree": {"color": "#56B4E9", "marker": "v", "linestyle": "--", "label": "Algorithm 2, the paper's tree"},
    "exact": {"color": "#0072B2", "marker": "o", "linestyle": "-", "label": "our stream, exact"},
    "tree": {"color": "#D55E00", "marker": "^", "linestyle": "--", "label": "our stream, our tree"},
    "second look": {"color": "#009E73", "marker": "s", "linestyle": "-", "label": "exact + second look"},
    "herding": {"color": "#CC79A7", "linestyle": "-.", "label": "herding"},
    "random": {"color": "0.55", "linestyle": ":", "label": "random"},
}


def run(out: Path, data: Path, quick: bool) -> None:
    """Run everything; figure 4 needs mnist_test.parquet in the folder of data."""
    with one_thread_workers() as pool:
        n, count = (10_000, 2) if quick else (100_000, 10)
        places = [round(place) for place in np.geomspace(M, n, 4 if quick else 19)]
        trials = list(pool.map(partial(trial, places=places), range(count)))
        figure1(out, places, trials)
        figure3(out, places, trials)
        figure2(out, quick, pool)
        figure5(out, quick, pool)
    figure4(out, data, quick)


def figure1(out: Path, places: Sequence[int], trials: Sequence[Trial]) -> None:
    """Figure 1: the points chosen for one mixture; MMD to all data against n, in the features and by the exact kernel."""
    curves, ends = _means(trials)
    numbers: dict[str, Any] = {"mixtures": len(trials), "M": M, "D": D, "n": places}
    numbers["largest_error_of_exact_kernel"] = max(each.kernel_error for each in trials)
    for place in (0, 1):
        numbers[MEASURES[place]] = {
            **{name: values[:, place] for name, values in curves.items()},
            **{name: values[place] for name, values in ends.items()},
        }
    finals = {name: np.array([each.curves[name][-1, :2] for each in trials]) for name in curves if name != "all"}
    finals |= {name: np.array([each.ends[name][:2] for each in trials]) for name in ends}
    numbers["standard_error_at_N"] = {
        name: values.std(axis=0, ddof=1) / np.sqrt(len(trials)) for name, values in finals.items()
    }
    numbers["comparisons"] = {name: np.mean([each.comparisons[name] for each in trials]) for name in ("exact", "tree")}
    write_numbers(out / "figure1", numbers)
    for name, values in finals.items():
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(trials))
        print(
            f"figure 1  {name:18} MMD at N in the features {values[:, 0].mean():.5f} +- {errors[0]:.5f}, true "
            f"{values[:, 1].mean():.5f} +- {errors[1]:.5f}"
        )
    mixture, data = mixture_stream(0, places[-1])
    sampler = ss.SuperSampler(M, features=fourier_map(data, 0), search="tree", random_state=0).fit(data)
    chosen = drained(sampler).reservoir.rows.points
    with panels(out / "figure1", 3) as axes:
        x, y, density = mixture.grid(200)
        axes[0].contour(x, y, np.sqrt(density), levels=8, cmap="Greys", linewidths=0.7, vmin=-0.2 * np.sqrt(density.max()))
        axes[0].plot(*chosen.T, "o", color="#D55E00", markersize=3)
        inside = np.quantile(data, (0.0005, 0.9995), axis=0)
        axes[0].set(
            xlim=inside[:, 0] + [-1, 1], ylim=inside[:, 1] + [-1, 1], aspect="equal", title=f"(a) {M} points by the tree"
        )
        axes[0].grid(visible=False)
        for place, axis in enumerate(axes[1:]):
            _draw(axis, places, curves, ends, place)
            axis.set(ylabel="MMD to all data", title=("(b) in the features, as in the paper", "(c) by the exact kernel")[place])
            axis.set_ylim(bottom=2e-4)
        axes[1].legend(loc="lower left")
        axes[2].sharey(axes[1])


def figure3(out: Path, places: Sequence[int], trials: Sequence[Trial]) -> None:
    """Figure 3: root mean square errors of the expectations of four functions against n."""
    curves, ends = _means(trials)
    numbers: dict[str, Any] = {"mixtures": len(trials), "M": M, "n": places}
    for place, function in enumerate(FUNCTIONS, start=2):
        numbers[function] = {
            **{name: values[:, place] for name, values in curves.items()},
            **{name: values[place] for name, values in ends.items()},
        }
    write_numbers(out / "figure3", numbers)
    for name in (*curves, *ends):
        values = curves[name][-1] if name in curves else ends[name]
        errors = ", ".join(f"{function} {value:.4f}" for function, value in zip(FUNCTIONS, values[2:], strict=True))
        print(f"figure 3  {name:18} RMSE at N: {errors}")
    with panels(out / "figure3", 4) as axes:
        for place, (axis, function) in enumerate(zip(axes, FUNCTIONS, strict=True), start=2):
            _draw(axis, places, curves, ends, place)
            axis.set(ylabel="RMSE", title=f"({'abcd'[place - 2]}) {function}")
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        figure.set_size_inches(13.0, 3.3)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(STYLES))


def _means(trials: Sequence[Trial]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the measures averaged over mixtures."""
    curves = {name: np.mean([each.curves[name] for each in trials], axis=0) for name in trials[0].curves}
    ends = {name: np.mean([each.ends[name] for each in trials], axis=0) for name in trials[0].ends}
    return curves, ends


def _draw(axis: Axes, places: Sequence[int], curves: dict[str, Floats], ends: dict[str, Floats], measure: int) -> None:
    for name, style in STYLES.items():
        if name in curves:
            # All data are at no distance from themselves: no point on a logarithmic axis.
            values = np.where(curves[name][:, measure] > 0, curves[name][:, measure], np.nan)
            axis.plot(places, values, **{**style, "markersize": 3.5}, mfc="none")
        else:
            axis.axhline(float(ends[name][measure]), **style)
    axis.set(xscale="log", yscale="log", xlabel="rows seen n")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
