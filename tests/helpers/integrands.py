"""Ten families of random functions on a box with integrals in closed form, for the coverage of standard deviations."""

import numpy as np
from scipy import special


def gaussian_process(rng, width, nu=None):
    """A draw of a Gaussian process on [0, 1], Gaussian kernel or Matern.

    A sum of waves on a grid of frequencies, with normal amplitudes whose variance is the kernel's spectral density. Random
    frequencies would not do for rough kernels: most draws would have no high ones, and be smooth.
    """
    frequencies = np.arange(1, 8001) / 4.0  # a period of 25, and waves of 0.003
    if nu is None:
        density = np.exp(-0.5 * (frequencies * width) ** 2)
    else:
        density = (2 * nu / width**2 + frequencies**2) ** -(nu + 0.5)
    sizes = np.sqrt(density / density.sum())
    a, b = rng.normal(size=frequencies.size) * sizes, rng.normal(size=frequencies.size) * sizes
    truth = ((a * np.sin(frequencies) + b * (1 - np.cos(frequencies))) / frequencies).sum()
    return (lambda x: np.cos(x * frequencies) @ a + np.sin(x * frequencies) @ b), truth


def kinks(rng):
    """Up to four kinks on a slope."""
    places, slopes, slope = rng.uniform(0.05, 0.95, size := rng.integers(1, 5)), rng.normal(size=size), rng.normal()
    truth = (slopes * (places**2 + (1 - places) ** 2) / 2).sum() + slope / 2
    return (lambda x: (slopes * np.abs(x - places)).sum(axis=1) + slope * x[:, 0]), truth


def steps(rng):
    """Up to three steps, up or down."""
    places, heights = rng.uniform(0.03, 0.97, size := rng.integers(1, 4)), rng.normal(size=size)
    return (lambda x: (heights * (x > places)).sum(axis=1)), (heights * (1 - places)).sum()


def bumps(rng):
    """Two bumps."""
    places, widths, heights = rng.uniform(0.0, 1.0, 2), np.exp(rng.uniform(np.log(0.06), np.log(0.25), 2)), rng.normal(size=2)
    ends = special.erf((1 - places) / widths / np.sqrt(2)) + special.erf(places / widths / np.sqrt(2))
    return (lambda x: (heights * np.exp(-0.5 * ((x - places) / widths) ** 2)).sum(axis=1)), (
        heights * widths * np.sqrt(np.pi / 2) * ends
    ).sum()


def waves(rng):
    """One wave of up to 4.5 periods."""
    frequency, phase = rng.uniform(4, 28), rng.uniform(0, 2 * np.pi)
    return (lambda x: np.sin(frequency * x[:, 0] + phase)), (np.cos(phase) - np.cos(frequency + phase)) / frequency


def kink_2d(rng):
    """A kink along a line through the unit square."""
    angle = rng.uniform(0.2, 1.37)
    a, b = np.cos(angle), np.sin(angle)
    level = rng.uniform(0.25, 0.75) * (a + b)

    def primitive(t):  # its second derivative is |t|
        return np.abs(t) ** 3 / 6

    truth = (primitive(a + b - level) - primitive(a - level) - primitive(b - level) + primitive(-level)) / (a * b)
    return (lambda x: np.abs(a * x[:, 0] + b * x[:, 1] - level)), truth


FAMILIES = {
    "GP, Gaussian kernel": lambda rng: gaussian_process(rng, rng.uniform(0.12, 0.4)),
    "GP, narrow kernel": lambda rng: gaussian_process(rng, rng.uniform(0.06, 0.12)),
    "GP, wide kernel": lambda rng: gaussian_process(rng, rng.uniform(0.8, 3.0)),
    "GP, Matern 3/2": lambda rng: gaussian_process(rng, rng.uniform(0.2, 0.8), 1.5),
    "GP, Matern 1/2": lambda rng: gaussian_process(rng, rng.uniform(0.3, 1.5), 0.5),
    "kinks": kinks,
    "steps": steps,
    "bumps": bumps,
    "waves": waves,
    "kink, 2 columns": kink_2d,
}


def integrand(family, number):
    """Return function, integral and number of columns; values are scaled by 1e-3 to 1e3, and a constant is added to half."""
    rng = np.random.default_rng([list(FAMILIES).index(family), number])
    f, truth = FAMILIES[family](rng)
    scale = 10.0 ** rng.uniform(-3, 3)
    constant = scale * rng.normal(scale=5.0) * rng.integers(0, 2)
    return (lambda x: scale * f(x) + constant), scale * truth + constant, 2 if family.endswith("2 columns") else 1
