"""How good the stream's choices are by the exact batch objectives, placed between random sets (0) and batch greedy (1)."""

from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.criticisms_choice import Choice, Judge, batch, drafted, kernel_of, nearest_error, streamed
from benchmarks.papers.criticisms_data import Images
from benchmarks.papers.criticisms_gallery import CRITICISMS, PROTOTYPES
from benchmarks.papers.figures import write_numbers

__all__ = ["placement"]

Floats = npt.NDArray[np.float64]

_RANDOM_SETS = 100
#: Five orders settle the objectives, whose spread is small; errors differ by points from order to order.
_FEW, _ORDERS = 5, 20
#: Fourier features of the draft's stream, which has no second look.
_D = 512
#: Column titles: J of the prototypes; F of the criticisms by the batch prototypes' witness, and by their own prototypes'.
_SCORES = ("J", "F", "F, own prototypes")


def placement(out: Path, name: str, images: Images, held_out: Images | None, quick: bool, pool: Executor) -> None:
    """Score orders of the stream; print targets and what was reached."""
    points, labels = images.points, images.labels
    kernel = kernel_of(points)
    judge = Judge(points, kernel)
    greedy = pool.submit(batch, points, kernel, PROTOTYPES, CRITICISMS).result()

    def scores(choice: Choice) -> Floats:
        mine = judge.F(choice.criticisms, choice.prototypes)
        return np.array([judge.J(choice.prototypes), judge.F(choice.criticisms, greedy.prototypes), mine])

    def error(choice: Choice) -> float:
        if labels is None or held_out is None or held_out.labels is None:
            return float("nan")
        return nearest_error(points[choice.prototypes], labels[choice.prototypes], held_out.points, held_out.labels)

    rng = np.random.default_rng(12)
    drawn = []
    for _ in range(_RANDOM_SETS):
        rows = rng.choice(len(points), PROTOTYPES + CRITICISMS, replace=False)
        drawn.append(Choice(rows[:PROTOTYPES], rows[PROTOTYPES:], 0.0))
    bottom = np.mean([scores(each) for each in drawn], axis=0)
    # By their own prototypes, random criticisms gain from random prototypes' errors: the batch prototypes stand in for those.
    bottom[2] = bottom[1]
    top = scores(greedy)
    trials = list(pool.map(partial(_in_order, points=points, kernel=kernel), range(2 if quick else _ORDERS)))
    numbers: dict[str, object] = {
        "N": len(points), "prototypes": PROTOTYPES, "criticisms": CRITICISMS, "bandwidth": kernel.bandwidth,
        "scores": _SCORES, "random": bottom, "batch": top,
        "error": {"batch": error(greedy), "random": [error(each) for each in drawn]},
    }  # fmt: skip
    by_chance = np.array([error(each) for each in drawn])
    print(f"placement  error: batch {error(greedy):.2%}; random {by_chance.mean():.2%} +- {by_chance.std(ddof=1):.2%}")
    for which, method in enumerate(("stream", f"draft's stream, D = {_D}")):
        places = np.array([(scores(trial[which]) - bottom) / (top - bottom) for trial in trials])
        errors = np.array([error(trial[which]) for trial in trials])
        numbers[method] = {"place": places, "error": errors, "seconds": [trial[which].seconds for trial in trials]}
        listed = "; ".join(
            f"{title} {place.mean():.3f} (least {place.min():.3f})" for title, place in zip(_SCORES, places.T, strict=True)
        )
        print(
            f"placement  {method:22} {len(trials)} orders: {listed}; error {errors.mean():.2%} +- {errors.std(ddof=1):.2%} "
            f"({errors.min():.2%} to {errors.max():.2%}); first {_FEW}: {errors[:_FEW].mean():.2%} "
            f"(most {errors[:_FEW].max():.2%})"
        )
        if which == 0:
            least = places.min(axis=0)
            spread = float(np.hypot(*(each.std(ddof=1) / np.sqrt(each.size) for each in (errors, by_chance))))
            met = {
                "J at least 0.97 in every order": least[0] >= 0.97,
                "F at least 0.9 in every order": min(least[1], least[2]) >= 0.9,
                "mean error within 1.5 points of batch": errors.mean() <= error(greedy) + 0.015,
                "mean error under random by 3 standard errors": by_chance.mean() - errors.mean() > 3.0 * spread,
            }
            print("placement  " + ", ".join(f"{goal}: {'met' if yes else 'MISSED'}" for goal, yes in met.items()))
            print(
                f"placement  orders within 1.5 points of batch: {np.sum(errors <= error(greedy) + 0.015)} of {len(trials)}; "
                f"under the mean of random sets: {np.sum(errors < by_chance.mean())}"
            )
    write_numbers(out / f"placement-{name}", numbers)


def _in_order(seed: int, points: Floats, kernel: ss.kernels.Kernel) -> tuple[Choice, Choice]:
    """Run the stream over the rows in another order; rows are given back in the old one."""
    order = np.random.default_rng([13, seed]).permutation(len(points))
    found = (
        streamed(points[order], kernel, PROTOTYPES, CRITICISMS, seed),
        drafted(points[order], kernel, PROTOTYPES, CRITICISMS, _D, seed),
    )
    first, second = (Choice(order[each.prototypes], order[each.criticisms], each.seconds) for each in found)
    return first, second
