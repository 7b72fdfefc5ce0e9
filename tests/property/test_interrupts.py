"""Ctrl-C at any moment: all rows of a call are taken in or none, and the rest of the stream ends as if nothing had happened."""

import signal
import threading

import numpy as np
import pytest

import supersample as ss

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread"
)


def _interrupted(work, seconds):
    """Call work() and interrupt it after some seconds; return whether the interrupt was seen."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


def _fed(take, seen, batches, rng):
    """Feed batches one by one, each interrupted at a random moment until it is in; return the number of interrupts."""
    count, longest = 0, 0.002
    for index, batch in enumerate(batches, 1):
        expected = index * len(batch)
        while seen() < expected:
            if _interrupted(lambda batch=batch: take(batch), float(rng.uniform(1e-5, longest))):
                count += 1
                assert seen() in (expected - len(batch), expected)
            longest *= 1.05  # slow machines must get a call done at some time
    return count


def test_a_sampler_that_is_interrupted_loses_and_doubles_no_row():
    batches = np.random.default_rng(0).normal(size=(12, 1_000, 3))
    whole = ss.SuperSampler(15, 4, bandwidth=1.0, random_state=0)
    for batch in batches:
        whole.partial_fit(batch)
    sampler = ss.SuperSampler(15, 4, bandwidth=1.0, random_state=0)
    count = _fed(
        sampler.partial_fit, lambda: sampler.n_seen_ if hasattr(sampler, "_state") else 0, batches, np.random.default_rng(1)
    )
    assert count >= 12
    seconds = 0.01
    while _interrupted(lambda: sampler.prototypes_, seconds):
        seconds *= 2
    np.testing.assert_array_equal(sampler.prototype_indices_, whole.prototype_indices_)
    np.testing.assert_array_equal(sampler.criticism_indices_, whole.criticism_indices_)
    assert sampler.mmd_ == whole.mmd_


def test_a_summary_that_is_interrupted_loses_and_doubles_no_row():
    batches = np.random.default_rng(2).normal(size=(8, 800, 2))
    options = {"prototypes": 10, "criticisms": 2, "random_state": 0}
    whole, summary = ss.summarize(batches[0], **options), ss.summarize(batches[0], **options)
    for batch in batches[1:]:
        whole.update(batch)
    count = _fed(summary.update, lambda: summary.n_seen - 800, batches[1:], np.random.default_rng(3))
    assert count >= 7
    assert summary.to_bytes() == whole.to_bytes()
