"""A messy table of orders: numbers and dates in text, ids, mixed case, free text, nested fields, a heavy tail, gaps."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

#: Rows of the table that tests and docs speak of.
ROWS = 30_000
#: How many rows there are to one cell of `score` that is no number; there is at least one.
ROWS_TO_A_BAD_CELL = 20_000
EVEN_MIX = (0.25, 0.25, 0.25, 0.25)
REGIONS = tuple(f"{side}-{place}" for side in ("north", "south", "east", "west") for place in range(1, 6))
_COMMON_WORDS = (
    "the a and to of it was is in my for i with this that on have not but you order please would like so very just get as "
    "had me they from at we been about again after what time when one will still could there how or by time much now only "
    "an your store customer received said asked days today thanks hello really because did more than first all if any "
    "good bought shop need"
)
_TOPIC_WORDS = (
    "courier parcel delivery tracking shipped address driver doorstep late warehouse package arrived transit carrier "
    "delayed depot route neighbour postcode customs shipment dispatch missing van box collect pickup signature freight "
    "estimate",
    "refund return money invoice charged credit card payment amount bank statement receipt cancelled billing overcharged "
    "discount voucher balance transaction fee currency paid price coupon deposit twice reimbursed tax account total",
    "broken scratched quality material colour size fits shoes sweater fabric zip seam torn sole faded stitching sturdy "
    "comfortable leather cotton sleeves waist smaller larger texture washed shrunk worn design defect",
    "password login website page error app browser checkout reset email screen loading link crashed button update version "
    "account phone install mobile form captcha freezes blank username verify session upgrade support",
)
#: The share of a note's words that are of its topic.
_OF_TOPIC = 0.35


def notes(n, rng, topic_mix=EVEN_MIX):
    """Draw free text of 5 to 30 words, each about one of four topics; some words are more frequent than others."""
    topics = rng.choice(len(_TOPIC_WORDS), size=n, p=topic_mix)
    lengths = rng.integers(5, 31, size=n)
    of_topic = rng.random(int(lengths.sum())) < _OF_TOPIC
    common = _drawn(_COMMON_WORDS, of_topic.size, rng)
    whose = np.repeat(topics, lengths)
    special = np.empty(of_topic.size, dtype=object)
    for topic, words in enumerate(_TOPIC_WORDS):
        rows = np.flatnonzero(whose == topic)
        special[rows] = _drawn(words, rows.size, rng)
    words = np.where(of_topic, special, common)
    ends = np.cumsum(lengths)
    return [" ".join(words[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _drawn(text, size, rng):
    """Draw words of a text, the first ones more often than the others."""
    words = np.array(text.split())
    chances = 1.0 / np.arange(2, len(words) + 2)
    return rng.choice(words, size=size, p=chances / chances.sum())


def orders(n=ROWS, seed=0, *, topic_mix=EVEN_MIX, sort_by=None):
    """Return n orders. sort_by: "region", "price" (by the amount, not by its text) or "time"; by default they come in time."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.integers(0, 366 * 86_400, size=n))
    ordered = np.datetime64("2024-01-01T00:00:00") + seconds
    shipped = ordered + rng.integers(3_600, 6 * 86_400, size=n)
    price = np.round(rng.lognormal(3.5, 1.4, size=n) + 0.99, 2)
    region = rng.choice(len(REGIONS), size=n, p=_uneven(len(REGIONS)))
    score = np.array([f"{value:.3f}" for value in rng.normal(50.0, 12.0, size=n)], dtype=object)
    bad = rng.choice(n, size=n // ROWS_TO_A_BAD_CELL, replace=False)
    score[bad if bad.size else n // 2] = "oops"
    country = np.array(["US", "us", "Us", "DE", "de", "FR", "GB", "CA"])
    zips = rng.integers(501, 99_951, size=n)
    cities = np.array(["Springfield", "Riverside", "Fairview", "Salem", "Georgetown", "Clinton"])[zips % 6]
    rating = rng.integers(1, 6, size=n).astype(np.float64)
    table = pa.table(
        {
            "order_id": 700_000 + np.cumsum(rng.integers(1, 9, size=n)),
            "customer_id": [f"C-{number:06d}" for number in rng.integers(0, 10**6, size=n)],
            "order_date": [f"{day[5:7]}/{day[8:10]}/{day[:4]}" for day in ordered.astype("M8[D]").astype(str)],
            "shipped_at": shipped.astype("M8[s]").astype(str).tolist(),
            "price": [f"${value:,.2f}" for value in price],
            "discount": [f"{value:g}%" for value in rng.choice([0.0, 2.5, 5.0, 10.0, 12.5, 20.0], size=n)],
            "quantity": rng.poisson(2.0, size=n) + 1,
            "region": np.array(REGIONS)[region].tolist(),
            "country": country[rng.choice(len(country), size=n, p=[0.4, 0.1, 0.05, 0.2, 0.05, 0.1, 0.05, 0.05])].tolist(),
            "is_gift": np.array(["no", "yes"])[(rng.random(n) < 0.15).astype(np.int64)].tolist(),
            "channel": ["web"] * n,
            "amount": 20.0 * (1.0 + rng.pareto(1.3, size=n)),
            "score": score.tolist(),
            "note": notes(n, rng, topic_mix),
            "address": [{"city": city, "zip": f"{number:05d}"} for city, number in zip(cities.tolist(), zips, strict=True)],
            "rating": pa.array(rating, mask=rng.random(n) < 0.2),
            "churned": (rng.random(n) < 0.1 + 0.1 * (rating < 3)).astype(np.int64),
        }
    )
    keys = {None: seconds, "time": seconds, "region": region, "price": price}
    return table.take(np.argsort(keys[sort_by], kind="stable"))


def _uneven(count):
    shares = 1.0 / np.arange(4, count + 4)
    return shares / shares.sum()


def write_csv(table, path):
    """Write a CSV file; fields of structures become columns with dotted names."""
    pyarrow.csv.write_csv(table.flatten(), path)


def write_ndjson(table, path):
    """Write one JSON object a line, with structures as they are; missing values are left out."""
    with path.open("w") as file:
        for row in table.to_pylist():
            file.write(json.dumps({name: value for name, value in row.items() if value is not None}) + "\n")


def write_parquet(table, path):
    pyarrow.parquet.write_table(table, path)
