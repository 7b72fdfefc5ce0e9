"""random_state: what is accepted, that it repeats, and that NumPy's global state is left alone."""

import json

import numpy as np
import pytest

import supersample as ss

X, Y = np.random.default_rng(0).normal(size=(2, 60, 2))


def build(random_state):
    return ss.features.Fourier(ss.kernels.Gaussian(1.0), 16, random_state=random_state)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 7,
        lambda: np.int64(7),
        lambda: 2**200,
        lambda: np.random.default_rng(7),
        lambda: np.random.SeedSequence(7),
        lambda: np.random.SeedSequence(7).spawn(3)[2],
        lambda: np.random.SeedSequence([1, 2, 3]),
    ],
)
def test_every_kind_of_seed_repeats(make):
    first, second = build(make()), build(make())
    assert first == second
    assert first.transform(X).tobytes() == second.transform(X).tobytes()
    assert json.loads(json.dumps(first.identity)) == first.identity
    results = [ss.two_sample_test(X, Y, n_resamples=19, n_features=16, random_state=make()) for _ in range(2)]
    assert results[0] == results[1]


def test_different_seeds_differ():
    sequence = np.random.SeedSequence(7)
    kinds = [0, 1, np.random.default_rng(0), sequence, *sequence.spawn(2), np.random.SeedSequence([7, 8]), None, None]
    maps = [build(kind) for kind in kinds]
    assert len({phi.transform(X).tobytes() for phi in maps}) == len(maps)
    assert len(set(maps)) == len(maps)


def test_a_generator_is_advanced_so_that_two_maps_from_it_differ():
    generator = np.random.default_rng(3)
    assert build(generator) != build(generator)


def test_the_identity_of_an_unseeded_map_holds_the_entropy_it_drew():
    phi = build(None)
    entropy, *path = phi.identity["seed"]
    again = build(np.random.SeedSequence(entropy, spawn_key=path))
    assert again == phi
    assert again.transform(X).tobytes() == phi.transform(X).tobytes()


def test_global_random_state_is_neither_read_nor_changed():
    def everything():
        maps = [
            build(1),
            ss.features.Fastfood(ss.kernels.Cauchy(1.0), 9, random_state=1),
            ss.features.Fourier(ss.kernels.Gaussian(1.0), 9, frequencies="sobol", random_state=1),
            ss.features.Nystroem.from_sample("gaussian", X, 5, random_state=1),
        ]
        tests = [
            ss.two_sample_test(X, Y, null=null, n_resamples=19, n_features=16, random_state=1)
            for null in ("permutation", "bootstrap", "spectral")
        ]
        ensemble = ss.circular_ensemble(X, Y, n_frequencies=8, random_state=1)
        return b"".join(phi.transform(X).tobytes() for phi in maps), tests, ensemble

    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    first = everything()
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert everything() == first
