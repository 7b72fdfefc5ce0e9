"""FastMMD: the number of features that Theorems 3 and 4 plan for an error, beside the number that is enough."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

import supersample as ss
from benchmarks.papers.fastmmd_data import blobs
from benchmarks.papers.figures import write_numbers

__all__ = ["run"]

_KERNEL = ss.kernels.Gaussian(1.0)
_ERRORS = (0.2, 0.05, 0.01, 0.001)
#: More features than this are not tried.
_MOST = 1 << 16


def run(out: Path, _data: Path, quick: bool) -> None:
    """Plan for the blobs of figure 4, and measure the error of MMD^2 over seeds."""
    rng = np.random.default_rng(0)
    x, y = blobs(200, 1.0, rng), blobs(200, 4.0, rng)
    exact, diameter = ss.mmd2(x, y, kernel=_KERNEL), float(pdist(np.vstack([x, y])).max())
    draws = 20 if quick else 200

    def observed(method: Any, n_features: int) -> float:
        """Return the error that 95% of the draws stay below."""
        found = [
            ss.mmd2(x, y, kernel=_KERNEL, method=method, n_features=n_features, random_state=seed) for seed in range(draws)
        ]
        return float(np.quantile(np.abs(np.array(found) - exact), 0.95))

    print(f"plan         blobs, 200 + 200 rows, diameter {diameter:.1f}: exact MMD^2 {exact:.4f}; {draws} seeds")
    sizes = [1 << power for power in range(1, 14)]
    errors = {method: [observed(method, each) for each in sizes] for method in ("fourier", "fastfood")}
    numbers: dict[str, Any] = {"exact": exact, "diameter": diameter, "sizes": sizes, "observed": errors}
    for error in _ERRORS:
        plans = {
            "Hoeffding": ss.features.n_features_for(error, kernel=_KERNEL, n_inputs=2),
            "Theorem 3": ss.features.n_features_for(error, kernel=_KERNEL, n_inputs=2, diameter=diameter),
            "Theorem 4": ss.features.n_features_for(error, kernel=_KERNEL, n_inputs=2, diameter=diameter, method="fastfood"),
        }
        numbers[f"plans for {error:g}"] = plans
        enough = {
            method: next((size for size, each in zip(sizes, found, strict=True) if each <= error), None)
            for method, found in errors.items()
        }
        planned = ", ".join(f"{name} {each:.3g}" for name, each in plans.items())
        print(f"plan         error {error:g}: {planned}; enough: {enough}")
        if plans["Hoeffding"] <= _MOST and not quick:
            seen = observed("fourier", plans["Hoeffding"])
            print(f"plan         error {error:g}: observed with Hoeffding's number {seen:.2g}")
    write_numbers(out / "plan", numbers)
