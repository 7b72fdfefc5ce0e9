"""Seconds and memory on a GPU, beside the CPU path of the same machine: `make bench-gpu`.

Every line is printed as soon as it is measured; a line that fails says why, and the others go on. The CPU path runs on a
smaller size where the whole would take minutes; its ratio is by rows (or pairs) a second, which the table says.
"""

import argparse
import json
import os
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import supersample as ss
from supersample.kernels import Gaussian

#: Bandwidth in d standard normal columns: about their median distance.
_WIDTH = {16: 5.6, 64: 11.3, 768: 39.0}


class Bench:
    """Runs lines within a time, and keeps what they gave."""

    def __init__(self, torch: Any, seconds: float, only: str) -> None:
        self.torch, self.deadline, self.only = torch, time.perf_counter() + seconds, only
        self.rows: list[dict[str, Any]] = []

    def line(self, name: str, work: Callable[[], Any], *, told: Callable[[Any], str] = lambda _: "", units: float = 0.0) -> Any:
        """Measure one call after one that warms up if it is short; units: what it does, for a rate."""
        if self.only not in name or time.perf_counter() > self.deadline:
            return None
        torch = self.torch
        try:
            seconds, result = self._timed(work)
            if seconds < 5.0:
                again, result = self._timed(work)
                seconds = min(seconds, again)
            memory = torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else 0.0
            row = {"what": name, "seconds": round(seconds, 4), "gigabytes": round(memory, 2), "note": told(result)}
            row |= {"rate": units / seconds} if units else {}
        except Exception as error:
            traceback.print_exc(limit=3)
            row, result = {"what": name, "failed": f"{type(error).__name__}: {str(error)[:160]}"}, None
        self.rows.append(row)
        print(
            " | ".join(f"{key} {value}" if key != "rate" else f"{value:,.0f} a second" for key, value in row.items()),
            flush=True,
        )
        return result

    def _timed(self, work: Callable[[], Any]) -> tuple[float, Any]:
        torch = self.torch
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.synchronize()
        start = time.perf_counter()
        result = work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter() - start, result


def normal(torch: Any, rows: int, width: int, seed: int, device: str) -> Any:
    """Return a mixture of eight normal heaps, made on the device."""
    generator = torch.Generator(device=device).manual_seed(seed)
    centres = 2.0 * torch.randn((8, width), generator=torch.Generator(device=device).manual_seed(1), device=device)
    parts = torch.randint(0, 8, (rows,), generator=generator, device=device)
    return torch.randn((rows, width), generator=generator, device=device) + centres[parts] / width**0.5


def true_mmd(x: Any, chosen: Any, weights: Any, width: float) -> float:
    """Return the exact MMD of chosen points to rows, or to 200,000 of them, in float64 on the device."""
    kernel, some = Gaussian(width), x[:200_000].double()
    weights, chosen = weights.double(), chosen.double()
    own = ss.mmd2(some, some[:1], kernel=kernel) - 1.0 + 2.0 * float(kernel(some, some[:1]).mean())  # E k(x, x')
    parts = [kernel(some[start : start + 20_000], chosen).sum(axis=0) for start in range(0, len(some), 20_000)]
    across = float((sum(parts) / len(some)) @ weights)
    return float(np.sqrt(max(own - 2.0 * across + float(weights @ kernel(chosen) @ weights), 0.0)))


def selections(bench: Bench, device: str, scale: float) -> None:
    """Herding and quadrature."""
    torch, d = bench.torch, 64
    kernel = Gaussian(_WIDTH[d])
    x = normal(torch, int(1_000_000 * scale), d, 0, device)
    m = 1000

    def path(found: Any) -> str:
        return f"true MMD {true_mmd(x, found.points, found.weights, _WIDTH[d]):.5f}"

    phi = ss.features.Fourier(kernel, 8192, random_state=0)
    bench.line(f"herd {m} of {len(x):,} x {d}, exact target", lambda: ss.herd(x, m, kernel=kernel, random_state=0), told=path)
    fourier = bench.line(
        f"target of {len(x):,} x {d}, 8,192 Fourier features", lambda: ss.measures.Empirical(x, features=phi), units=len(x)
    )
    if fourier is not None:
        for name, select in (("herd", ss.herd), ("sbq", ss.sbq)):
            bench.line(
                f"{name} {m} of {len(x):,} x {d}, Fourier target of 8,192 (the target included)",
                lambda select=select: select(  # type: ignore[misc]
                    x, m, target=ss.measures.Empirical(x, features=phi), kernel=kernel, random_state=0
                ),
                told=path,
            )
    bench.line(
        f"herd {m} of {len(x):,} x {d}, 8,192 features throughout",
        lambda: ss.herd(x, m, features=phi, random_state=0),
        told=path,
    )
    for rows, width in ((60_000, 16), (100_000, 64)):
        some = normal(torch, int(rows * scale), width, 2, device)
        one = Gaussian(_WIDTH[width])
        bench.line(
            f"herd {m} of {len(some):,} x {width}",
            lambda some=some, one=one: ss.herd(some, m, kernel=one, random_state=0),  # type: ignore[misc]
        )
        coreax_line(bench, some, m, _WIDTH[width])
    bench.line(f"frank_wolfe {m} of {len(some):,} x 64", lambda: ss.frank_wolfe(some, m, kernel=kernel, random_state=0))
    bench.line(f"critic 100 + 20 of {len(some):,} x 64", lambda: ss.critic(some, 100, 20, kernel=kernel, random_state=0))
    host = x[:20_000].cpu().numpy()
    ours = bench.line("CPU: herd 1,000 of 20,000 x 64", lambda: ss.herd(host, m, kernel=kernel))
    there = bench.line("GPU: herd 1,000 of 20,000 x 64", lambda: ss.herd(x[:20_000], m, kernel=kernel))
    agree("herd", ours, there)
    ours = bench.line("CPU: sbq 500 of 20,000 x 64", lambda: ss.sbq(host, 500, kernel=kernel))
    there = bench.line("GPU: sbq 500 of 20,000 x 64", lambda: ss.sbq(x[:20_000], 500, kernel=kernel))
    agree("sbq", ours, there)


def agree(name: str, ours: Any, there: Any) -> None:
    """Print how near the two paths end."""
    if ours is not None and there is not None:
        print(f"  {name}: MMD {ours.mmd[-1]:.6g} on the CPU, {float(there.mmd[-1]):.6g} on the GPU", flush=True)


def coreax_line(bench: Bench, x: Any, m: int, width: float) -> None:
    """Measure coreax on the same rows and device, if it is there."""
    try:
        import coreax
        import equinox
        import jax
        from coreax.solvers import KernelHerding
    except ImportError:
        print("  coreax is not installed here", flush=True)
        return
    jax.config.update("jax_enable_x64", False)
    data = coreax.Data(jax.numpy.asarray(x.cpu().numpy()))
    solver = KernelHerding(coreset_size=m, kernel=coreax.SquaredExponentialKernel(length_scale=width))
    reduce = equinox.filter_jit(lambda solver, data: solver.reduce(data)[0].unweighted_indices)

    def work() -> Any:
        return jax.block_until_ready(reduce(solver, data))

    bench.line(f"coreax herding {m} of {len(x):,} x {x.shape[1]}", work)


def discrepancies(bench: Bench, device: str, scale: float) -> None:
    """MMD and two-sample tests."""
    torch, d = bench.torch, 64
    kernel = Gaussian(_WIDTH[d])
    x, y = (normal(torch, int(200_000 * scale), d, seed, device) for seed in (3, 4))
    pairs = 2.0 * len(x) * len(y)
    bench.line(f"mmd2 exact {len(x):,} + {len(y):,} x {d}", lambda: ss.mmd2(x, y, kernel=kernel), told=str, units=pairs)
    small = [each[:10_000].cpu().numpy() for each in (x, y)]
    bench.line("CPU: mmd2 exact 10,000 + 10,000 x 64", lambda: ss.mmd2(*small, kernel=kernel), told=str, units=2e8)
    bench.line(
        "GPU: mmd2 exact 10,000 + 10,000 x 64", lambda: ss.mmd2(x[:10_000], y[:10_000], kernel=kernel), told=str, units=2e8
    )
    x, y = (normal(torch, int(1_000_000 * scale), d, seed, device) for seed in (5, 6))
    options: dict[str, Any] = {"kernel": kernel, "n_features": 1024, "random_state": 0}

    def told(found: Any) -> str:
        return f"p {found.pvalue:.4g}"

    for null in ("spectral", "permutation"):
        bench.line(
            f"two_sample_test {len(x):,} + {len(y):,} x {d}, D = 1,024, {null}",
            lambda null=null: ss.two_sample_test(x, y, null=null, **options),  # type: ignore[misc]
            told=told,
        )
    few = [each[:20_000].cpu().numpy() for each in (x, y)]
    bench.line("CPU: two_sample_test 20,000 + 20,000 x 64, permutation", lambda: ss.two_sample_test(*few, **options), told=told)
    bench.line(
        "GPU: two_sample_test 20,000 + 20,000 x 64, permutation",
        lambda: ss.two_sample_test(x[:20_000], y[:20_000], **options),
        told=told,
    )
    worst, rng = 0.0, np.random.default_rng(0)
    for case in range(100):
        a, b = rng.normal(size=(100, 3)), rng.normal(0.1 * (case % 4), 1.0, size=(80, 3))
        here = ss.two_sample_test(a, b, n_resamples=199, n_features=128, random_state=case).pvalue
        there = [torch.tensor(each, device=device) for each in (a, b)]
        worst = max(worst, abs(here - ss.two_sample_test(*there, n_resamples=199, n_features=128, random_state=case).pvalue))
    print(f"  p-values of 100 small cases differ by at most {worst * 200:.1f} resamples of 199", flush=True)


def _read(sampler: Any, row: Any) -> float:
    """Return the MMD of a sampler that has taken in one more row, so that nothing is known of it yet."""
    return float(sampler.partial_fit(row).mmd_)


def _mmd_told(mmd: float) -> str:
    return f"MMD {mmd:.5f}"


def streams(bench: Bench, device: str, scale: float) -> None:
    """The stream, with held-out features and background sample."""
    torch = bench.torch
    for d, features, m, rows in ((64, 1024, 1000, 10_000_000), (64, 512, 100, 10_000_000), (768, 2048, 4000, 2_000_000)):
        n = int(rows * scale)
        x = normal(torch, n, d, 7, device)
        kernel = Gaussian(_WIDTH[d])
        phi = ss.features.Fourier(kernel, features, random_state=0)

        def sampler(m: int = m, phi: Any = phi) -> Any:
            return ss.SuperSampler(m, features=phi, random_state=0)

        name = f"{n:,} x {d}, D = {features:,}, M = {m:,}"
        fitted = bench.line(f"SuperSampler.fit {name}", lambda sampler=sampler, x=x: sampler().fit(x), units=n)  # type: ignore[misc]
        if fitted is not None and m <= 1000:
            read = bench.line("  reading it", partial(_read, fitted, x[:1]), told=_mmd_told)
            host = x[:200_000].cpu().numpy()
            ours = bench.line(f"CPU: SuperSampler.fit 200,000 x {d}", lambda s=sampler, h=host: s().fit(h), units=2e5)  # type: ignore[misc]
            there = bench.line(f"GPU: SuperSampler.fit 200,000 x {d}", lambda s=sampler, x=x: s().fit(x[:200_000]), units=2e5)  # type: ignore[misc]
            if ours is not None and there is not None:
                print(
                    f"  MMD {ours.mmd_:.5f} +- {ours.mmd_error_:.5f} on the CPU, {there.mmd_:.5f} on the GPU; {read}",
                    flush=True,
                )


def main() -> None:
    """Print all lines, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/gpu"))
    parser.add_argument("--seconds", type=float, default=330.0, help="start no line after so many seconds")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the sizes")
    parser.add_argument("--only", default="", help="lines whose names contain this")
    parser.add_argument("--parts", default="streams,discrepancies,selections")
    options = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    named = torch.cuda.get_device_name() if device == "cuda" else "no GPU: the CPU"
    print(f"{named}, torch {torch.__version__}, NumPy {np.__version__}, {os.cpu_count()} cores", flush=True)
    bench = Bench(torch, options.seconds, options.only)
    parts: dict[str, Callable[[Bench, str, float], None]] = {
        "streams": streams, "discrepancies": discrepancies, "selections": selections,
    }  # fmt: skip
    for part in options.parts.split(","):
        try:
            parts[part](bench, device, options.scale)
        except Exception:
            traceback.print_exc()
    options.out.mkdir(parents=True, exist_ok=True)
    document = {"device": named, "lines": bench.rows}
    (options.out / "gpu.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
