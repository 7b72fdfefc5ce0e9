"""Seconds and memory on a GPU, beside the CPU path on two cores of the same machine: `make bench-gpu`.

Every line is printed as soon as it is measured; a line that fails says why, and the others go on. Lines that are compared run
on the same rows, on the device and in a process of its own that may use two cores. Their ratio is that of the rates, so above
1 the device is faster; the ratio of true MMD is the device's over the CPU's, both by the exact kernel to the same rows. Where
the whole would take the CPU minutes, both run on fewer rows. At the end all lines are printed as a Markdown table, and written
with the device, versions and commit.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
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
    centres = 2.0 * torch.randn((8, width), generator=torch.Generator(device=device).manual_seed(1), device=device) / width**0.5
    made = torch.empty((rows, width), device=device)
    for start in range(0, rows, 1_000_000):  # all of a large one would be held several times
        part = made[start : start + 1_000_000]
        heaps = torch.randint(0, 8, (len(part),), generator=generator, device=device)
        part.normal_(generator=generator).add_(centres[heaps])
    return made


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
        m = min(m, len(some))
        one = Gaussian(_WIDTH[width])
        bench.line(
            f"herd {m} of {len(some):,} x {width}",
            lambda some=some, one=one, m=m: ss.herd(some, m, kernel=one, random_state=0),  # type: ignore[misc]
        )
        coreax_line(bench, some, m, _WIDTH[width])
    bench.line(f"frank_wolfe {m} of {len(some):,} x 64", lambda: ss.frank_wolfe(some, m, kernel=kernel, random_state=0))
    bench.line(f"critic 100 + 20 of {len(some):,} x 64", lambda: ss.critic(some, 100, 20, kernel=kernel, random_state=0))
    bench.line(f"wkh 500 of {len(some):,} x 64", lambda: ss.wkh(some, min(500, len(some)), kernel=kernel, random_state=0))


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
    for d, features, m, rows in ((64, 1024, 1000, 10_000_000), (64, 512, 100, 10_000_000), (768, 2048, 4000, 10_000_000)):
        n = int(rows * scale)
        x = normal(torch, n, d, 7, device)
        kernel = Gaussian(_WIDTH[d])
        phi = ss.features.Fourier(kernel, features, random_state=0)

        def sampler(m: int = m, phi: Any = phi) -> Any:
            return ss.SuperSampler(m, features=phi, random_state=0)

        name = f"{n:,} x {d}, D = {features:,}, M = {m:,}"
        fitted = bench.line(f"SuperSampler.fit {name}", lambda sampler=sampler, x=x: sampler().fit(x), units=n)  # type: ignore[misc]
        if fitted is not None and m <= 1000:
            bench.line("  reading it", partial(_read, fitted, x[:1]), told=_mmd_told)
        del x, fitted


def _fit(m: int, n_features: int) -> Callable[[Any], Any]:
    phi = ss.features.Fourier(Gaussian(_WIDTH[64]), n_features, random_state=0)
    return lambda x: ss.SuperSampler(m, features=phi, random_state=0).fit(x)


def compared(scale: float) -> dict[str, tuple[int, int, Callable[[Any], Any]]]:
    """Return what runs on both: the rows that it takes, how many things it does for a rate, and the call."""
    kernel = Gaussian(_WIDTH[64])
    phi = ss.features.Fourier(kernel, 1024, random_state=0)
    n, some = int(20_000 * scale), int(200_000 * scale)
    m, few = min(1000, n // 4), min(500, n // 8)
    both: dict[str, Any] = {"kernel": kernel, "random_state": 0}
    return {
        f"SuperSampler.fit {some:,} x 64, D = 1,024, M = 1,000": (some, some, _fit(1000, 1024)),
        f"SuperSampler.fit {some:,} x 64, D = 512, M = 100": (some, some, _fit(100, 512)),
        f"features.Fourier, D = 1,024, of {some:,} x 64": (some, some, phi.transform),
        f"herd {m} of {n:,} x 64": (n, n * m, lambda x: ss.herd(x, m, **both)),
        f"sbq {few} of {n:,} x 64": (n, n * few, lambda x: ss.sbq(x, few, **both)),
        f"wkh {few} of {n:,} x 64": (n, n * few, lambda x: ss.wkh(x, few, **both)),
        f"frank_wolfe {few} of {n:,} x 64": (n, n * few, lambda x: ss.frank_wolfe(x, few, **both)),
        f"critic 100 + 20 of {n:,} x 64": (n, n, lambda x: ss.critic(x, min(100, n // 4), 20, **both)),
        f"mmd2 exact, {n // 2:,} + {n // 2:,} x 64": (
            n, n * n // 2, lambda x: ss.mmd2(x[: n // 2], x[n // 2 :], kernel=kernel),
        ),
        f"two_sample_test {n // 2:,} + {n // 2:,} x 64, 999 permutations": (
            n, n, lambda x: ss.two_sample_test(x[: n // 2], x[n // 2 :], n_features=1024, **both),
        ),
    }  # fmt: skip


def chosen(found: Any) -> tuple[Any, Any] | None:
    """Return the points of a result and their weights, if it has any."""
    if isinstance(found, ss.SuperSampler):
        return found.prototypes_, found.weights_
    held = getattr(found, "prototypes", found)
    return (held.points, held.weights) if hasattr(held, "points") else None


def against_two_cores(bench: Bench, device: str, scale: float) -> None:
    """Run the same lines here and on two cores, and print ratios."""
    cases = compared(scale)
    x = normal(bench.torch, max(rows for rows, _, _ in cases.values()), 64, 8, device)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "rows.npy", x.cpu().numpy())
        for name, (rows, units, work) in cases.items():
            there = bench.line(name, partial(work, x[:rows]), units=units)
            if there is None:
                continue
            row, cpu = bench.rows[-1], _on_two_cores(name, scale, Path(folder), bench)
            row["on two cores"] = cpu["seconds"]
            if not isinstance(cpu["seconds"], float):
                continue
            row["times as fast"] = round(cpu["seconds"] / row["seconds"], 2)
            points = chosen(there)
            if points is not None:
                ours = [
                    bench.torch.tensor(np.load(Path(folder) / f"{each}.npy"), device=device) for each in ("points", "weights")
                ]
                mmd = [true_mmd(x[:rows], held, weights, _WIDTH[64]) for held, weights in (points, (ours[0], ours[1]))]
                row["true MMD over the CPU's"] = round(mmd[0] / mmd[1], 3)
            print("  " + " | ".join(f"{key} {row[key]}" for key in row if key in _RATIOS), flush=True)


#: What a line has beside its own figures if it was compared.
_RATIOS = ("on two cores", "times as fast", "true MMD over the CPU's")


def _on_two_cores(name: str, scale: float, folder: Path, bench: Bench) -> dict[str, Any]:
    """Run one line in a process that may use two cores; return its seconds, or why there are none."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    command = ["taskset", "--cpu-list", ",".join(map(str, cores)), sys.executable, "-m", "benchmarks.gpu"]
    asked = ["--child", name, "--scale", str(scale), "--out", str(folder)]
    environment = os.environ | {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}
    left = max(1.0, bench.deadline - time.perf_counter())
    try:
        subprocess.run([*command, *asked], env=environment, check=True, timeout=left)
    except (OSError, subprocess.SubprocessError) as error:
        return {"seconds": f"none: {type(error).__name__}"}
    found: dict[str, Any] = json.loads((folder / "child.json").read_text(encoding="utf-8"))
    return found


def as_child(name: str, scale: float, folder: Path) -> None:
    """Measure one line on the host, as the parent does: the better of two calls if they are short."""
    rows, _, work = compared(scale)[name]
    x = np.load(folder / "rows.npy")[:rows]
    seconds, found = _timed_here(work, x)
    if seconds < 5.0:
        again, found = _timed_here(work, x)
        seconds = min(seconds, again)
    points = chosen(found)
    if points is not None:
        for each, values in zip(("points", "weights"), points, strict=True):
            np.save(folder / f"{each}.npy", values)
    (folder / "child.json").write_text(json.dumps({"seconds": round(seconds, 4)}), encoding="utf-8")


def _timed_here(work: Callable[[Any], Any], x: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work(x)
    return time.perf_counter() - start, found


def table(rows: list[dict[str, Any]], where: str) -> str:
    """Return all lines as a Markdown table."""
    keys = ("what", "seconds", "gigabytes", "rate", *_RATIOS, "note")
    titles = ("what", "seconds", "GB", "a second", "seconds on two cores", "times as fast", "true MMD over the CPU's", "note")
    lines = [where, "", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row in rows:
        cells = {**row, "note": row.get("failed") or row.get("note", "")}
        cells |= {"rate": f"{row['rate']:,.0f}"} if "rate" in row else {}
        lines.append("| " + " | ".join(str(cells.get(key, "")) for key in keys) + " |")
    return "\n".join(lines) + "\n"


def commit() -> str:
    """Return the commit of this code, and whether files differ from it."""
    try:
        named = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return "of no known commit"
    return named.stdout.strip()


def main() -> None:
    """Print all lines, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/gpu"))
    parser.add_argument("--seconds", type=float, default=900.0, help="start no line after so many seconds")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the sizes")
    parser.add_argument("--only", default="", help="lines whose names contain this")
    parser.add_argument("--parts", default="compared,streams,discrepancies,selections")
    parser.add_argument("--child", default="", help="measure this line on the host, with the rows in --out")
    options = parser.parse_args()
    if options.child:
        as_child(options.child, options.scale, options.out)
        return
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    named = torch.cuda.get_device_name() if device == "cuda" else "no GPU: the CPU"
    where = (
        f"{named}, torch {torch.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
        f"supersample {ss.__version__} ({commit()}), {os.cpu_count()} cores"
    )
    print(where, flush=True)
    bench = Bench(torch, options.seconds, options.only)
    parts: dict[str, Callable[[Bench, str, float], None]] = {
        "compared": against_two_cores, "streams": streams, "discrepancies": discrepancies, "selections": selections,
    }  # fmt: skip
    for part in options.parts.split(","):
        try:
            parts[part](bench, device, options.scale)
        except Exception:
            traceback.print_exc()
    options.out.mkdir(parents=True, exist_ok=True)
    print(table(bench.rows, where), flush=True)
    document = {"device": named, "where": where, "lines": bench.rows}
    (options.out / "gpu.md").write_text(table(bench.rows, where), encoding="utf-8")
    (options.out / "gpu.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
