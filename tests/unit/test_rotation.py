"""The compiled rotation of a Cholesky factor, against factoring again."""

import numpy as np
import pytest

from supersample._compiled.rotation import first_to_last


@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_first_to_last_is_the_factor_of_the_new_order(m):
    rng = np.random.default_rng(m)
    points = rng.normal(size=(m, 3))
    gram = np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=2))
    columns, z = rng.normal(size=(m, 7)), rng.normal(size=m)
    root = np.linalg.cholesky(gram)
    factor, halves = np.linalg.solve(root, columns), np.linalg.solve(root, z)
    first_to_last(root, factor, halves)
    order = np.roll(np.arange(m), -1)
    np.testing.assert_allclose(root @ root.T, gram[np.ix_(order, order)], atol=1e-12)
    assert np.array_equal(root, np.tril(root))
    np.testing.assert_allclose(root @ factor, columns[order], atol=1e-10)
    np.testing.assert_allclose(root @ halves, z[order], atol=1e-10)
