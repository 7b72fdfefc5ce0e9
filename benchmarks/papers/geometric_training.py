"""Geometric rates for kernel-based sampling: figure 2, training sets for logistic regression, on one machine and on several.

Splits, sizes, kernel, weights and penalties were fixed before a test loss of these splits was seen. A refit has weights that
sum to the number of training rows, so its penalty is that of the model of all rows; the loss of a refit whose weights have mean
one, with a stronger penalty, stands beside it. The best of the s + 1 choices of Algorithm 2 is the one that is nearest to the
target with the weights of the refit, those on the simplex.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.geometric_data import NAMES, Split, coreset, read
from supersample.engines.herding import Distributed
from supersample.kernels import KernelLike

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_METHODS: dict[str, Callable[..., Any]] = {"WKH": ss.wkh, "SBQ": ss.sbq}
_SIZES = (50, 100, 200, 500, 1_000)
#: Random splits of each data set, none of which was used to choose a setting.
_SPLITS = {"chemreact": (21, 22, 23, 24, 25), "covtype": (21, 22, 23), "phishing": (21, 22, 23, 24, 25)}
#: Machines of Algorithm 2. The paper ran the single methods on ChemReact only; Phishing stands in for WebSpam.
_PARTS = {"chemreact": 5, "covtype": 25, "phishing": 5}
_DRAWS = 10
_STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#CC79A7", "linestyle": ":", "marker": "v"},
    "coreset": {"color": "#009E73", "linestyle": "-.", "marker": "D"},
    "herding": {"color": "#0072B2", "linestyle": "--", "marker": "o"},
    "WKH": {"color": "#56B4E9", "linestyle": "-", "marker": "^"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "marker": "s"},
    "s-WKH": {"color": "#56B4E9", "linestyle": "--", "marker": "<"},
    "s-SBQ": {"color": "#D55E00", "linestyle": "--", "marker": "d"},
    "s-WKH-1": {"color": "#000000", "linestyle": "--", "marker": "1"},
    "s-SBQ-1": {"color": "#000000", "linestyle": ":", "marker": "2"},
}


class Fitted(NamedTuple):
    """Test loss above that of the model of all rows, with its penalty or with that of so few rows; effective number of rows.

    The effective number is (sum w)^2 / sum w^2.
    """

    loss: float
    penalised: float
    effective: float


#: What a line has at each size.
Line = dict[int, Fitted]


def run(out: Path, data: Path, quick: bool) -> None:
    """Summarise three data sets on fresh splits, and count how often the paper's claims hold."""
    sizes = (20, 50) if quick else _SIZES
    for name in NAMES:
        if not (data / f"{'chemreact_pc10' if name == 'chemreact' else name}.parquet").exists():
            print(f"figure 2     skipped {name}: not in {data}")
            continue
        splits = (0,) if quick else _SPLITS[name]
        found = [_lines(read(data, name, seed), name, sizes, quick) for seed in splits]
        _report(out, name, found, sizes)


def _report(out: Path, name: str, found: list[dict[str, Line]], sizes: tuple[int, ...]) -> None:
    """Print and draw means over the splits, with standard errors, and differences of lines on the same split."""
    numbers: dict[str, Any] = {"splits": len(found), "parts": _PARTS[name]}
    for ends, each in (next(iter(one.pop("product kernel").items())) for one in found):
        print(
            f"figure 2     {name:9} SBQ with the product kernel of the scores ends after {ends} points: loss {each.loss:+.4f} "
            f"({each.effective:.0f} effective rows)"
        )
        numbers.setdefault("product kernel", []).append({"points": ends, **each._asdict()})
    with panels(out / f"figure-2-{name}", 1, legend_beside=True) as (ax,):
        for line in found[0]:
            at = {m: [each[line][m] for each in found if m in each[line]] for m in sizes}
            whole = {m: np.array(each).T for m, each in at.items() if len(each) == len(found)}
            if not whole:
                continue
            numbers[line] = {m: dict(zip(Fitted._fields, each.tolist(), strict=True)) for m, each in whole.items()}
            losses = {m: each[0] for m, each in whole.items()}
            for kind, place in (("", 0), (", weights of mean one", 1)):
                listed = ", ".join(f"{m}: {each[place].mean():+.4f} +- {_error(each[place]):.4f}" for m, each in whole.items())
                print(f"figure 2     {name:9} {line}{kind}: loss above the full model's  {listed}")
            rows = ", ".join(f"{m}: {each[2].mean():.0f}" for m, each in whole.items())
            print(f"figure 2     {name:9} {line}: effective rows  {rows}")
            ax.loglog(list(losses), [max(each.mean(), 1e-6) for each in losses.values()], label=line, **_STYLE[line])
        ax.set(xlabel="rows", ylabel="test NLL above the full model's", title=name)
    for left, right in (("WKH", "s-WKH"), ("SBQ", "s-SBQ"), ("s-WKH", "s-WKH-1"), ("s-SBQ", "s-SBQ-1"), ("s-SBQ", "s-WKH")):
        if left not in found[0]:
            continue
        for m in (each for each in sizes if all(each in one[left] and each in one[right] for one in found)):
            steps = np.array([one[right][m].loss - one[left][m].loss for one in found])
            print(
                f"figure 2     {name:9} {right} less {left} at {m}: {steps.mean():+.4f} +- {_error(steps):.4f}, "
                f"{left} nearer on {int((steps > 0).sum())} of {steps.size} splits"
            )
    write_numbers(out / f"figure-2-{name}", numbers)


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


class _HeldOut(ss.measures.Empirical):
    """Rows as a target of many runs with one kernel: their energy, costlier than a run on a part, is computed once."""

    def __init__(self, points: Floats, kernel: ss.kernels.Kernel) -> None:
        super().__init__(points)
        self._known = super().energy(kernel)

    def energy(self, kernel: KernelLike) -> float:
        """Return what was computed, for the one kernel there is."""
        return self._known


def _lines(split: Split, name: str, sizes: tuple[int, ...], quick: bool) -> dict[str, Line]:
    """Return every line of one split."""
    full = _loss(_fit(split.train, split.train_labels, None), split)
    count = split.train_labels.size

    def fitted(rows: Indices, weights: Floats) -> Fitted:
        shares = weights / weights.sum()
        loss, penalised = (_refit(split, rows, shares * total) - full for total in (count, rows.size))
        return Fitted(loss, penalised, float(1.0 / (shares @ shares)))

    def mean(each: list[Fitted]) -> Fitted:
        return Fitted(*np.mean(each, axis=0).tolist())

    lines: dict[str, Line] = {"random": {}, "coreset": {}}
    for m in sizes:
        rng = [np.random.default_rng([8, seed]) for seed in range(2 if quick else _DRAWS)]
        lines["random"][m] = mean([fitted(each.choice(count, m, replace=False), np.ones(m)) for each in rng])
        lines["coreset"][m] = mean([fitted(*coreset(split, m, seed)) for seed in range(len(rng))])
    labelled = np.column_stack([split.train, split.train_labels])
    held_out = np.column_stack([split.target, split.target_labels])
    # Scores at the model of all rows with the penalty of a refit to m rows of weight one. At the full model itself the scores
    # of a group that is separated from the rest are near 0 for each of its rows, and no row of it would be chosen.
    model = LogisticRegression(C=max(sizes) / count, solver="newton-cholesky").fit(split.train, split.train_labels)
    phi = ss.features.Fisher(model, kind="whitened", sample=labelled)
    pool = phi.transform(labelled).astype(np.float64)
    rows = np.random.default_rng(5).permutation(count)[: 3_000 if quick else count]
    # Whitened scores have a mean square of D, so sqrt(D) is their own scale.
    kernel = ss.kernels.Gaussian(float(np.sqrt(phi.n_features)))
    measure = _HeldOut(phi.transform(held_out).astype(np.float64), kernel)
    options: dict[str, Any] = {"target": measure, "kernel": kernel}

    def weighted(chosen: Indices) -> Floats:
        return ss.quadrature_weights(pool[chosen], kind="simplex", **options)

    if name != "covtype":
        herded = rows[ss.herd(pool[rows], max(sizes), **options).indices]
        lines["herding"] = {m: fitted(herded[:m], np.ones(m)) for m in sizes}
        for method, choose in _METHODS.items():
            greedy = rows[choose(pool[rows], max(sizes), **options).indices]
            lines[method] = {m: fitted(greedy[:m], weighted(greedy[:m])) for m in sizes if m <= greedy.size}
    for method in _METHODS:
        distributed: Line = {}
        alone: Line = {}
        for m, choices in _algorithm_2(method, _PARTS[name], pool[rows], sizes, options):
            weights = [weighted(rows[each]) for each in choices]
            far = [_square(pool[rows[each]], w, measure, kernel) for each, w in zip(choices, weights, strict=True)]
            best = int(np.argmin(far))
            distributed[m] = fitted(rows[choices[best]], weights[best])
            alone[m] = mean([fitted(rows[each], w) for each, w in zip(choices[:-1], weights[:-1], strict=True)])
        lines[f"s-{method}"], lines[f"s-{method}-1"] = distributed, alone
    few = rows[: 3_000 if quick else 20_000]
    ends = few[ss.sbq(labelled[few], max(sizes), target=held_out, features=phi).indices]
    lines["product kernel"] = {
        ends.size: fitted(ends, ss.quadrature_weights(labelled[ends], kind="simplex", target=held_out, kernel=phi.kernel))
    }
    return lines


def _algorithm_2(
    method: str, parts: int, pool: Floats, sizes: tuple[int, ...], options: dict[str, Any]
) -> Iterator[tuple[int, list[Indices]]]:
    """Yield, for each size, the choices of all parts of one partition and the one from their union, on Dask.

    The methods are greedy: what a part chooses for a smaller size is the beginning of what it chooses for the largest. Parts
    end early where no other row adds anything.
    """
    blocks = da.from_array(pool, chunks=(-(-len(pool) // parts), pool.shape[1]))
    with dask.config.set(scheduler="sync"):
        whole: Distributed = _METHODS[method](blocks, max(sizes), random_state=0, **options)
    for m in sizes:
        firsts = [each[:m] for each in whole.choices[:-1]]
        union = np.concatenate(firsts)
        last = whole.choices[-1]
        if m < max(sizes):
            last = union[_METHODS[method](pool[union], m, **options).indices]
        yield m, [*firsts, last]


def _square(points: Floats, weights: Floats, measure: ss.measures.Measure, kernel: ss.kernels.Kernel) -> float:
    """Return MMD^2 between weighted points and the target."""
    pull = measure.mean_embedding(kernel, points)
    return float(weights @ kernel(points, points) @ weights - 2.0 * weights @ pull + measure.energy(kernel))


def _fit(inputs: Floats, labels: Floats, weights: Floats | None) -> LogisticRegression:
    return LogisticRegression(solver="newton-cholesky", max_iter=500).fit(inputs, labels, sample_weight=weights)


def _loss(model: LogisticRegression, split: Split) -> float:
    logits = model.decision_function(split.test)
    return float(np.mean(np.logaddexp(0.0, logits) - split.test_labels * logits))


def _refit(split: Split, rows: Indices, weights: Floats) -> float:
    labels = split.train_labels[rows]
    if np.unique(labels[weights > 0]).size < 2:
        share = float(np.clip(labels.mean(), 1e-3, 1.0 - 1e-3))  # rows of one class fit no model; the constant is the best left
        return float(-np.mean(np.where(split.test_labels > 0, np.log(share), np.log1p(-share))))
    return _loss(_fit(split.train[rows], labels, weights), split)
