"""Weights under which prototypes have the means and shares that the profile has of all rows."""

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.errors import InputError

N_ROWS = 8_000


def table(seed=0):
    """Rows sorted by region; prices with a heavy tail, as text, some of them missing."""
    rng = np.random.default_rng(seed)
    prices = rng.lognormal(3.5, 1.4, N_ROWS)
    texts = np.array([f"${price:,.2f}" for price in prices], dtype=object)
    return pa.table(
        {
            "region": np.sort(rng.choice(["east", "north", "south", "west"], N_ROWS)),
            "price": pa.array(texts, mask=rng.random(N_ROWS) < 0.1),
            "gift": rng.random(N_ROWS) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def rows():
    return table()


@pytest.fixture(scope="module")
def summary(rows):
    return ss.summarize(rows, 250, 0, random_state=0)


def priced(rows):
    """Return the prices as numbers, NaN where they are missing."""
    texts = rows["price"].to_pylist()
    return np.array([np.nan if text is None else float(text[1:].replace(",", "")) for text in texts])


def test_means_and_shares_are_those_of_all_rows(rows, summary):
    weights, prices, chosen = summary.weights("profile"), priced(rows), priced(summary.prototypes)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.099 / 250
    mean = np.nanmean(prices)
    assert summary.expect("price", weighting="profile") == pytest.approx(mean, rel=0.01)
    assert abs(summary.expect("price") / mean - 1) > 0.01  # so there was something to gain
    below = np.nanquantile(prices, 0.95)
    assert weights[chosen > below].sum() / weights[~np.isnan(chosen)].sum() == pytest.approx(0.05, abs=0.002)
    assert weights[np.isnan(chosen)].sum() == pytest.approx(np.isnan(prices).mean(), abs=0.001)
    east = weights @ (np.array(summary.prototypes["region"]) == "east")
    assert east == pytest.approx(np.mean(np.array(rows["region"]) == "east"), abs=0.001)
    assert weights @ np.array(summary.prototypes["gift"]) == pytest.approx(np.mean(rows["gift"]), abs=0.001)


def test_their_mmd_is_not_above_that_of_equal_weights(rows, summary):
    points, chosen = summary.encode(rows), summary.encode(summary.prototypes)
    equal, nearest, found = (
        ss.mmd2(chosen, points, kernel=summary.kernel, weight_x=summary.weights(kind))
        for kind in ("uniform", "simplex", "profile")
    )
    assert nearest < found < equal


def test_they_are_the_same_when_loaded(summary, tmp_path):
    summary.save(tmp_path / "summary.ss")
    np.testing.assert_array_equal(ss.load(tmp_path / "summary.ss").weights("profile"), summary.weights("profile"))


@pytest.mark.parametrize(
    ("rows", "size"), [(np.ones((60, 2)), 8), (np.arange(8.0)[:, None], 8), (np.repeat([1.0, 2.0], 50)[:, None], 100)],
    ids=["all alike", "all kept", "all kept, with copies"],
)  # fmt: skip
def test_rows_without_anything_to_gain_keep_equal_weights(rows, size):
    summary = ss.summarize(rows, size, 0, random_state=0)
    np.testing.assert_allclose(summary.weights("profile"), np.full(size, 1 / size), atol=1e-9)


def test_what_the_profile_does_not_count_is_refused(rows):
    weighted = ss.summarize(rows.slice(0, 500).append_column("n", pa.array(np.arange(1.0, 501.0))), 10, 0, weight="n")
    fading = ss.summarize(rows.slice(0, 500), 10, 0, half_life=100)
    aimed = ss.summarize(rows.slice(0, 500), 10, 0, target=rows.slice(500, 500))
    for summary, why in ((weighted, "rows have weights"), (fading, "rows have weights"), (aimed, "match a target")):
        with pytest.raises(InputError, match=rf"weighting='profile' cannot be used: .*{why}.*use weighting='simplex'"):
            summary.weights("profile")


def test_more_prototypes_than_can_be_weighted_are_refused():
    summary = ss.summarize(np.random.default_rng(0).normal(size=(2_100, 1)), 2_001, 0, random_state=0)
    with pytest.raises(InputError, match="takes at most 2,000 prototypes, got 2,001"):
        summary.expect("x0", weighting="profile")
