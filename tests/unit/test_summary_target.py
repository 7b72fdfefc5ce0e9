"""Summaries whose rows match a target: from any source, stored, merged, resumed, on parts, and told in true sentences."""

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from helpers import stream_oracles
from supersample.engines import local
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.report.view import view_of

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])


def drawn(seed, n, shares):
    generator = np.random.default_rng(seed)
    kinds = generator.choice(3, n, p=shares)
    return kinds, CENTRES[kinds] + 0.5 * generator.normal(size=(n, 2))


KINDS, POINTS = drawn(0, 12_000, [0.6, 0.37, 0.03])
POOL = pa.table(
    {
        "id": [f"row {place}" for place in range(len(KINDS))],
        "a": POINTS[:, 0],
        "state": np.array(["x", "y", "z"])[KINDS],
        "b": POINTS[:, 1],
    }
)
WANTED = pa.table(dict(zip("ab", drawn(1, 700, [0.0, 0.25, 0.75])[1].T, strict=True)))


def summarize(source=POOL, n=24, **options):
    return ss.summarize(source, n, **{"target": WANTED, "random_state": 0, **options})


def state_bytes(summary):
    return stream_oracles.to_bytes(summary._snapshot.state.stream)


@pytest.fixture(scope="module")
def summary():
    return summarize()


def rare(summary):
    return np.mean(np.array(summary.prototypes["state"].to_pylist()) == "z")


def test_rows_match_the_target_and_keep_all_their_columns(summary):
    assert summary.prototypes.column_names == [*POOL.column_names, "_row", "_weight", "_share"]
    assert abs(rare(summary) - 0.75) < 0.07
    rows = summary.prototypes["_row"].to_numpy()
    assert summary.prototypes.select(POOL.column_names).equals(POOL.take(rows))
    assert (summary.n_seen, summary.n_target, summary.criticisms.num_rows) == (12_000, 700, 0)
    shares = summary.prototypes["_share"].to_numpy()[np.array(summary.prototypes["state"].to_pylist()) == "z"].sum()
    assert abs(shares - 0.75) < 0.05


def test_what_a_summary_with_a_target_says_is_true(summary):
    mean = summary.expect("b")
    assert mean == pytest.approx(np.mean(WANTED["b"].to_numpy()), abs=0.05)
    text, said = str(summary), [str(note) for note in summary.notes]
    assert text.startswith("24 rows stand for a target of 700 rows, chosen from 12,000 of pyarrow.Table: as good as about ")
    assert summary.as_good_as <= 700
    gap = summary.feature_map.transform(summary.encode(POOL)).mean(axis=0) - summary.feature_map.transform(
        summary.encode(WANTED.append_column("id", pa.array([""] * 700)).append_column("state", pa.array([""] * 700)))
    ).mean(axis=0)
    told = float(said[0].split(" have MMD ")[1].split(" to it")[0])
    assert said[0].startswith("the rows are chosen to match a target of 700 rows: all rows of the source together have MMD ")
    assert told == pytest.approx(np.sqrt(gap @ gap), rel=0.25)
    assert any("at least half of its mass nearly everywhere" in each for each in said)
    assert "state: the target does not have them, so they take no part in the choice of rows" in said
    assert all(each.rows == 12_000 for each in summary.column_profiles)


def test_of_a_target_no_larger_than_the_selection_nothing_false_is_said():
    found = summarize(n=30, target=WANTED.slice(0, 20))
    assert found.random_mmd > 10 * found.mmd > 0.0
    assert 19.9 < found.as_good_as < 20.0
    assert str(found).startswith("30 rows stand for a target of 20 rows, chosen from 12,000 of pyarrow.Table\n")
    assert f"{found.random_mmd:.3g} for 30 random rows of the target" in str(found)
    more = summarize(n=30, target=WANTED.slice(0, 31))
    assert str(more).splitlines()[0].endswith(": as good as nearly all 31 rows")


def test_weights_of_the_target_count():
    low = WANTED["b"].to_numpy() < 2.5
    pool, target = POOL.append_column("mass", pa.array(np.ones(12_000))), WANTED.append_column("mass", pa.array(1.0 * low))
    found = summarize(pool, weight="mass", target=target)
    assert max(found.prototypes["b"].to_pylist()) < 2.5
    assert found.n_target == low.sum()


def test_what_is_not_asked_for_is_not_said_to_be_missing():
    found = summarize(columns={"a": 1.0, "b": 0.0})
    assert {note.name: note.note for note in found.columns if not note.used} == dict.fromkeys(
        ["id", "state", "b"], "not asked for"
    )
    made = summarize(target=ss.summarize(WANTED, 10, columns=["a"], random_state=0))
    assert {note.name: note.note for note in made.columns}["b"] == "left out of the target: not asked for"
    assert "state: the target does not have them" in next(note.text for note in made.notes if note.kind == "not in the target")


def test_what_the_source_lacks_is_told():
    """A fifth of the target lies where the source has no row."""
    alone = np.random.default_rng(5).normal(size=(175, 2)) + 40.0
    target = pa.concat_tables([WANTED, pa.table(dict(zip("ab", alone.T, strict=True)))])
    notes = {note.kind: note.text for note in summarize(target=target).notes}
    share = float(notes["out of reach"].split("about ")[1].split("%")[0])
    assert abs(share - 20.0) < 2.0


def test_the_page_speaks_of_the_target(summary, tmp_path):
    view = view_of(summary)
    assert view.headline.startswith("24 rows stand for a target of 700 rows, chosen from 12,000, as good as about ")
    assert "drawn at random from the target" in view.meaning
    assert "over all of the target" in view.meaning
    page = summary.report(tmp_path / "page.html").read_text()
    for said in (
        "stand for the target",
        "how much of the target is nearest",
        "follow the target",
        "drawn at random from the target",
    ):
        assert said in page
    for false in ("stand for all of it", "of the data is nearest", "the closer the two, the better", "at random from the data"):
        assert false not in page


@pytest.mark.parametrize("rows", [97, 4_000])
def test_batches_do_not_matter(rows):
    table = POOL.select(["a", "b"])
    whole, parts = summarize(table), summarize(iter(table.to_batches(max_chunksize=rows)))
    assert state_bytes(parts) == state_bytes(whole)
    assert parts.prototypes.equals(whole.prototypes)


def test_it_is_stored(summary, tmp_path):
    summary.save(tmp_path / "rows.ss")
    loaded = ss.load(tmp_path / "rows.ss")
    assert loaded.prototypes.equals(summary.prototypes)
    assert (loaded.mmd, loaded.n_target, str(loaded)) == (summary.mmd, 700, str(summary))
    assert loaded.to_bytes() == summary.to_bytes()
    assert loaded.notes == summary.notes
    longer = loaded.update(POOL.slice(0, 500))
    assert longer.n_seen == 12_500


@pytest.mark.parametrize(
    "target",
    [
        ss.summarize(WANTED, 10, random_state=3),
        ss.measures.Empirical(np.column_stack([WANTED["a"], WANTED["b"]])),
        WANTED.to_pandas(),
    ],
    ids=["summary", "measure", "frame"],
)
def test_targets_of_all_kinds(target, summary):
    columns = ["a", "b"] if isinstance(target, ss.measures.Empirical) else None
    found = summarize(target=target, columns=columns)
    assert abs(rare(found) - 0.75) < 0.07
    assert found.n_target == 700
    assert found.kernel.bandwidth == pytest.approx(summary.kernel.bandwidth, rel=0.1)


def test_files_and_arrays(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(WANTED, tmp_path / "wanted.parquet")
    pq.write_table(POOL, tmp_path / "pool.parquet")
    found = summarize(tmp_path / "pool.parquet", target=str(tmp_path / "wanted.parquet"))
    assert found.prototypes.equals(summarize().prototypes)
    arrays = ss.summarize(POINTS, 24, target=np.column_stack([WANTED["a"], WANTED["b"]]), random_state=0)
    assert abs((arrays.prototypes["x1"].to_numpy() > 2.5).mean() - 0.75) < 0.07


def test_parts_made_alike_merge():
    first = summarize(POOL.slice(0, 5_000))
    second = ss.summarize(POOL.slice(5_000), like=first, random_state=1)
    assert second.n_target == 700
    merged = first.merge(second)
    assert merged.n_seen == 12_000
    assert merged.mmd < 1.5 * summarize().mmd + 1e-3
    wanted, pool = ss.summarize(WANTED, 24, 0, random_state=0), POOL.select(["a", "b"]).slice(0, 500)
    with pytest.raises(MismatchError, match="match different targets"):
        summarize(pool, target=wanted).merge(ss.summarize(pool, like=wanted))


def test_engines_pass_the_target_on():
    parts = [POOL.slice(start, 3_000) for start in range(0, 12_000, 3_000)]
    found = local.summarize(parts, prototypes=24, target=WANTED, random_state=0)
    assert found.n_target == 700
    assert abs(rare(found) - 0.75) < 0.07


def test_a_stopped_run_resumes(tmp_path):
    def stopping():
        yield from POOL.select(["a", "b"]).slice(0, 6_000).to_batches()
        raise KeyboardInterrupt

    path = tmp_path / "rows.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        summarize(stopping(), checkpoint=path)
    batches = iter(POOL.select(["a", "b"]).to_batches())
    with pytest.raises(MismatchError, match="target"):
        summarize(iter(POOL.select(["a", "b"]).to_batches()), checkpoint=path, target=WANTED.slice(0, 400))
    resumed = summarize(batches, checkpoint=path)
    assert resumed.prototypes.equals(summarize(POOL.select(["a", "b"])).prototypes)


def test_label_weight_and_redacted_columns_of_the_source_stay():
    pool = POOL.append_column("mass", pa.array(np.where(KINDS == 1, 0.0, 1.0)))
    found = summarize(pool, label="state", weight="mass", redact=["id"])
    assert set(found.prototypes["state"].to_pylist()) == {"x", "z"} - {"x"} or "y" not in found.prototypes["state"].to_pylist()
    assert found.prototypes["id"].null_count == 24
    roles = {note.name: note.kind for note in found.columns}
    assert roles["mass"] == "weight"
    assert [note.name for note in found.columns if note.used] == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"target": "no/such.parquet"}, InputError, "target: source"),
        ({"half_life": 100}, InputError, "half_life must be left out with target"),
        ({"criticisms": 3}, InputError, "criticisms must be 0 with target, got 3"),
        ({"criticisms": 20}, InputError, "criticisms must be 0 with target, got 20"),
        (
            {"columns": ["a", "state"]},
            MismatchError,
            r"columns must name .* target has, too, \['a', 'b'\], got 'state'; leave",
        ),
        ({"target": WANTED.rename_columns(["c", "d"])}, MismatchError, "target must share columns with the source"),
        ({"target": ss.MeanEmbedding(ss.features.Fourier(ss.kernels.Gaussian(1.0), 8))}, InputTypeError, "got a MeanEmbedding"),
        ({"target": ss.measures.Empirical(np.zeros((5, 2)))}, MismatchError, "name as many with columns="),
        ({"target": WANTED.slice(0, 0)}, InputError, "target: source must have at least one row"),
        (
            {"target": ss.summarize(WANTED, 5, random_state=0), "columns": ["a"]},
            InputError,
            "columns must be left out where target",
        ),
        ({"target": ss.summarize(WANTED.rename_columns(["a", "c"]), 5)}, MismatchError, r"missing: \['c'\]"),
        ({"like": ss.summarize(WANTED, 5)}, InputError, "target must be left out with like="),
        ({"source": iter(POOL.to_batches())}, InputError, r"the source is a stream with columns that are not matched.*drop="),
        ({"label": "b", "target": ss.summarize(WANTED, 5)}, InputError, "takes part in the match with the target"),
    ],
)
def test_what_cannot_be_is_refused(options, error, words):
    source = options.pop("source", POOL)
    with pytest.raises(error, match=words):
        summarize(source, **options)


def test_a_history_takes_no_target():
    with pytest.raises(InputTypeError, match="target"):
        ss.History("when", "1h", target=WANTED)
