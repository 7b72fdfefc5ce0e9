"""Blocks of work: the same results whatever the number of cores, threads and processes."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np

import supersample as ss
from supersample._threads import ahead, cut, map_blocks


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
    state = sampler._state.moments.totals.tobytes() + sampler.prototypes_.tobytes() + sampler.criticisms_.tobytes()
    print(hashlib.sha256(state).hexdigest(), exact.hex())
"""


def test_results_do_not_depend_on_the_number_of_cores():
    assert run(SAMPLE, OMP_NUM_THREADS="1") == run(SAMPLE, OMP_NUM_THREADS="2")


SUMMARY = """
    import hashlib
    import numpy as np
    import supersample as ss
    data = np.random.default_rng(0).normal(size=(9_000, 50))
    print(hashlib.sha256(ss.summarize(data, random_state=0).to_bytes()).hexdigest())
"""


def test_the_bytes_of_a_summary_do_not_depend_on_the_number_of_cores():
    assert run(SUMMARY, OMP_NUM_THREADS="1") == run(SUMMARY, OMP_NUM_THREADS="2")


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
    again._state = sampler._state
    again._single, again._selected, again.n_features_in_ = False, None, 2
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
