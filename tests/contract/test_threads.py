"""Blocks of work: the same results whatever the number of cores, threads and processes."""

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import supersample as ss
from lines import at_line, each_line
from supersample import _locking
from supersample._threads import ahead, cut, map_blocks
from supersample.embedding import mean as mean_module
from supersample.selection.stream import lifecycle as stream_module
from supersample.selection.stream.plan import Settings
from supersample.summary import sampler as sampler_module
from supersample.summary import snapshot as snapshot_module
from supersample.summary import state as state_module
from supersample.summary import summary as summary_module


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


SAMPLE = """
    import hashlib
    import numpy as np
    import supersample as ss
    data = np.random.default_rng(0).normal(size=(12_000, 3))
    sampler = ss.SuperSampler(20, 5, random_state=0).fit(data)
    exact = ss.mmd2(data[:3000], data[3000:7000] + 0.1, kernel=ss.kernels.Gaussian(1.0))
    state = sampler._now.state.moments.totals.tobytes() + sampler.prototypes_.tobytes() + sampler.criticisms_.tobytes()
    print(hashlib.sha256(state).hexdigest(), exact.hex())
    data = np.random.default_rng(0).normal(size=(9_000, 50))
    print(hashlib.sha256(ss.summarize(data, random_state=0).to_bytes()).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_cores():
    assert run(SAMPLE, OMP_NUM_THREADS="1") == run(SAMPLE, OMP_NUM_THREADS="2")


def test_a_forked_child_can_work():
    code = """
        import os
        import numpy as np
        import supersample as ss
        data = np.random.default_rng(0).normal(size=(5000, 2))
        before = ss.mmd2(data[:2000], data[2000:], kernel=ss.kernels.Gaussian(1.0))
        child = os.fork()
        if child == 0:
            after = ss.mmd2(data[:2000], data[2000:], kernel=ss.kernels.Gaussian(1.0))
            os._exit(0 if after == before else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code).strip() == "0"


def test_work_within_work_does_not_wait_for_itself():
    def outer(block):
        return sum(map_blocks(lambda inner: inner.stop - inner.start, cut(block.stop - block.start, 2)))

    assert sum(map_blocks(outer, cut(64, 8))) == 64
    assert list(ahead(outer, cut(64, 8))) == [8] * 8


def test_threads_of_a_user_get_what_one_would():
    data = np.random.default_rng(0).normal(size=(20_000, 2))
    feature_map = ss.features.Fourier(ss.kernels.Gaussian(1.0), 64, random_state=0)
    expected = feature_map.transform(data)
    results = [None] * 4

    def work(i):
        results[i] = feature_map.transform(data)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def _at_once(*works):
    """Run some functions in threads that start together; return what they raised."""
    start, raised = threading.Barrier(len(works)), []

    def run(work):
        start.wait()
        try:
            work()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_threads_that_feed_one_sampler_lose_no_row():
    batches = np.random.default_rng(0).normal(size=(4, 12, 250, 2))
    sampler = ss.SuperSampler(20, 3, bandwidth=1.0, random_state=0).partial_fit(batches[0, 0])
    seen = []

    def read():
        seen.extend(int(sampler.prototype_indices_.max()) < sampler.n_seen_ for _ in range(5))

    works = [lambda mine=mine: [sampler.partial_fit(batch) for batch in mine] for mine in batches]
    assert _at_once(*works, read) == []
    assert sampler.n_seen_ == 250 + 4 * 12 * 250
    assert seen == [True] * 5
    assert len(sampler.prototypes_) == 20
    rows = {row.tobytes() for row in batches.reshape(-1, 2)}
    assert all(row.tobytes() in rows for row in sampler.prototypes_)
    # What is read afterwards is that of all rows, and not of a state that another thread has replaced meanwhile.
    again = ss.SuperSampler(20, 3, bandwidth=1.0, random_state=0)
    again._now = dataclasses.replace(sampler._now)  # without what was computed for it
    np.testing.assert_array_equal(sampler.prototypes_, again.prototypes_)


def test_threads_that_feed_one_embedding_or_one_summary_lose_no_row():
    batches = np.random.default_rng(1).normal(size=(4, 10, 200, 2))
    embedding = ss.MeanEmbedding(ss.features.Fourier(ss.kernels.Gaussian(1.0), 64, random_state=0))
    summary = ss.summarize(batches[0, 0], prototypes=10, criticisms=2, random_state=0)
    before = summary.n_seen
    feeding = [lambda mine=mine: [embedding.update(batch) for batch in mine] for mine in batches]
    updating = [lambda mine=mine: [summary.update(batch) for batch in mine] for mine in batches]
    sizes = []
    reading = [lambda: sizes.append([summary.prototypes.num_rows for _ in range(10)])]
    assert _at_once(*feeding, *updating, *reading) == []
    assert embedding.n_seen == 8_000
    assert summary.n_seen == before + 8_000
    assert sizes == [[10] * 10]


def test_a_shared_object_can_be_copied_and_pickled():
    sampler = ss.SuperSampler(5, random_state=0).fit(np.random.default_rng(2).normal(size=(100, 2)))
    assert sampler.n_seen_ == 100  # its lock has been made
    for copied in (copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))):
        np.testing.assert_array_equal(copied.prototypes_, sampler.prototypes_)


class _Turnstile:
    """The lock of a shared object, which says when a thread has to wait for it."""

    def __init__(self):
        self.lock, self.waiting = threading.RLock(), threading.Event()

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.waiting.set()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def _overtaken(shared, read, write, number, modules):
    """Return read(shared), and whether write(shared) was started in another thread before line `number` of what reading runs.

    Between two calls of one line it is started when the first returns, its lock given back.
    Reading goes on when the other thread is done or has to wait: nothing depends on how fast either is.
    """
    turnstile = _Turnstile()
    _locking._locks[shared] = turnstile
    raised = []

    def writing():
        try:
            write(shared)
        except Exception as error:
            raised.append(error)
        finally:
            turnstile.waiting.set()

    writer = threading.Thread(target=writing)

    def overtake():
        writer.start()
        assert turnstile.waiting.wait(300)

    try:
        result = at_line(lambda: read(shared), number, overtake, modules, returns=[_locking])
    finally:
        if started := writer.ident is not None:
            writer.join(300)
    assert raised == []
    return result, started


def assert_of_one_moment(make, write, read, *modules):
    made = make()
    old, new = copy.copy(made), copy.copy(made)
    write(new)
    expected = [read(old), read(new)]
    assert expected[0] != expected[1]

    def attempt(number):
        shared = copy.copy(made)
        found, started = _overtaken(shared, read, write, number, modules)
        assert found in expected
        if started:
            assert read(shared) == expected[1]  # and no result of the rows before is kept for those after
        return started

    assert each_line(attempt) >= 3


BATCHES = np.random.default_rng(3).normal(size=(2, 80, 2))
SMALL = {"n_features": 16, "random_state": 0}


OF_A_SAMPLER = {
    "prototype_indices_": lambda sampler: sampler.prototype_indices_.tolist(),
    "prototypes_": lambda sampler: (lambda points: (points.dtype, points.tolist()))(sampler.prototypes_),
    "criticisms_": lambda sampler: (lambda points: (points.dtype, points.tolist()))(sampler.criticisms_),
    "mmd_": lambda sampler: sampler.mmd_,
    "random_mmd_": lambda sampler: sampler.random_mmd_,
    "bound": lambda sampler: sampler.bound(),
}


@pytest.mark.parametrize("name", OF_A_SAMPLER)
def test_what_is_read_of_a_sampler_belongs_to_one_moment(name):
    assert_of_one_moment(
        lambda: ss.SuperSampler(5, 2, **SMALL).partial_fit(BATCHES[0].astype(np.float32)),
        lambda sampler: sampler.partial_fit(BATCHES[1]),
        OF_A_SAMPLER[name],
        sampler_module,
    )


def test_what_is_read_of_a_sampler_that_is_fitted_anew_belongs_to_one_moment():
    def fit_anew(sampler):
        sampler.random_state = 1
        sampler.fit(BATCHES[1])

    assert_of_one_moment(
        lambda: ss.SuperSampler(5, 2, **SMALL).fit(BATCHES[0]), fit_anew, OF_A_SAMPLER["random_mmd_"], sampler_module
    )


OF_A_SUMMARY = {
    "prototypes": lambda summary: summary.prototypes.to_pylist(),
    "criticisms": lambda summary: summary.criticisms.to_pylist(),
    "background": lambda summary: summary.background.to_pylist(),
    "mmd": lambda summary: summary.mmd,
    "kernel": lambda summary: summary.kernel,
    "bound": lambda summary: summary.bound(),
    "weights": lambda summary: summary.weights().tolist(),
    "expect": lambda summary: summary.expect("x0"),
    "encode": lambda summary: summary.encode(iter(BATCHES)).tolist(),
    "to_bytes": lambda summary: summary.to_bytes(),
    "to_dict": lambda summary: summary.to_dict(),
    "str": str,
    "what a report is of": lambda summary: summary._copy().to_bytes(),
}


@pytest.mark.parametrize("name", OF_A_SUMMARY)
def test_what_is_read_of_a_summary_belongs_to_one_moment(name):
    assert_of_one_moment(
        lambda: ss.summarize(BATCHES[0], 5, 2, **SMALL),
        lambda summary: summary.update(100 + BATCHES[1]),
        OF_A_SUMMARY[name],
        summary_module,
        snapshot_module,
    )


@pytest.mark.parametrize("name", ["prototypes", "criticisms", "background"])
def test_rows_of_a_summary_are_those_that_it_held_at_one_moment(name, monkeypatch):
    # Little is kept, and that early on, so that rows held before the update are gone after it.
    monkeypatch.setattr(Settings, "n_background", 20)
    monkeypatch.setattr(state_module, "WARM_UP", 40)
    monkeypatch.setattr(stream_module, "WARM_UP", 40)
    assert_of_one_moment(
        lambda: ss.summarize(BATCHES[0], 5, 2, **SMALL),
        lambda summary: summary.update(100 + np.tile(BATCHES[1], (50, 1))),
        OF_A_SUMMARY[name],
        summary_module,
        snapshot_module,
    )


OF_AN_EMBEDDING = {
    "norm2": lambda embedding: embedding.norm2(),
    "biased": lambda embedding: embedding.mmd2(ss.MeanEmbedding(embedding.feature_map).update([[0.0, 1.0]])),
    "unbiased": lambda embedding: embedding.mmd2(
        ss.MeanEmbedding(embedding.feature_map).update([[0.0, 1.0], [1.0, 0.0]]), estimator="unbiased"
    ),
}


@pytest.mark.parametrize("name", OF_AN_EMBEDDING)
def test_what_is_read_of_an_embedding_belongs_to_one_moment(name):
    phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 16, random_state=0)
    assert_of_one_moment(
        lambda: ss.MeanEmbedding(phi).update(BATCHES[0]),
        lambda embedding: embedding.update(BATCHES[1]),
        OF_AN_EMBEDDING[name],
        mean_module,
    )
