"""See supersample work: the digits that stand for all others, what they miss, and whether two samples differ."""

import time

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

import supersample as ss

Pixels = npt.NDArray[np.float64]


def main() -> None:
    """Summarise scikit-learn's digits as a stream, then compare some samples of them."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]

    start = time.perf_counter()
    sampler = ss.SuperSampler(n_prototypes=10, n_criticisms=5, random_state=0)
    for batch in np.array_split(images, 10):
        sampler.partial_fit(batch)
    chosen, odd = labels[sampler.prototype_indices_], labels[sampler.criticism_indices_]
    better = sampler.random_mmd_ / sampler.mmd_
    print(f"{sampler.n_seen_:,} handwritten digits, in ten batches ({time.perf_counter() - start:.1f} s)\n")
    print(f"Ten that stand for all of them: {' '.join(map(str, chosen))}")
    draw(sampler.prototypes_)
    print(
        f"MMD to the data {sampler.mmd_:.4f} +- {sampler.mmd_error_:.4f}: {better:.1f} times nearer than ten random digits.\n"
    )
    print(f"Five that they miss: {' '.join(map(str, odd))}")
    draw(sampler.criticisms_)

    half = len(images) // 2
    print("Do two halves of the same digits differ?")
    print(ss.two_sample_test(images[:half], images[half:], random_state=0), "\n")
    print("Does the first half differ from the second without its ones?")
    rest = images[half:][labels[half:] != 1]
    print(ss.two_sample_test(images[:half], rest, random_state=0))


def draw(images: Pixels) -> None:
    """Print 8 x 8 images side by side, two rows of pixels a line."""
    shades = np.array(list(" .:-=+*#%@"))
    pixels = images.reshape(-1, 8, 8)
    levels = np.minimum((pixels[:, ::2] + pixels[:, 1::2]) / 32.0 * len(shades), len(shades) - 1).astype(int)
    for line in range(4):
        print("   ".join("".join(shades[image[line]]) for image in levels))
    print()


if __name__ == "__main__":
    main()
