"""See supersample work: compare two samples of handwritten digits, alike and different, with a calibrated p-value."""

import time

import numpy as np
from sklearn.datasets import load_digits

import supersample as ss


def main() -> None:
    """Run three tests on scikit-learn's digits and print what they say."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]
    half = len(images) // 2

    show("Two halves of the same digits", images[:half], images[half:])
    show("Digits 0-4 against digits 5-9", images[labels < 5], images[labels >= 5])
    seven_to_one = (labels != 1) | (np.arange(len(labels)) % 2 == 0)
    show("All digits against all digits with half of the ones gone", images, images[seven_to_one])


def show(title: str, left: np.ndarray, right: np.ndarray) -> None:
    """Test two samples and print the result with the time it took."""
    start = time.perf_counter()
    result = ss.two_sample_test(left, right, random_state=0)
    print(f"{title}  ({1000 * (time.perf_counter() - start):.0f} ms)\n{result}\n")


if __name__ == "__main__":
    main()
