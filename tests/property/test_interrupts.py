"""Ctrl-C at any moment: all rows of a call are taken in or none, and the rest of the stream ends as if nothing had happened."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import supersample as ss
from lines import at_line, each_line
from supersample import _threads
from supersample.embedding import mean as mean_module
from supersample.summary import sampler as sampler_module
from supersample.summary import snapshot as snapshot_module
from supersample.summary import summary as summary_module

PROGRAM = Path(__file__).parents[1] / "helpers" / "interrupts.py"


@pytest.mark.parametrize("fed", ["sampler", "summary"])
def test_what_is_interrupted_at_random_moments_loses_and_doubles_no_row(fed):
    """Alarms strike in a process of their own; how many are seen is up to the machine, what is found afterwards is not."""
    done = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM, fed], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["torn"] == []
    assert [found for found in report["found"] if found != report["expected"]] == []
    assert report["interrupts"] >= 24


def _raise():
    raise KeyboardInterrupt


def _at_each_line(make, call, check, *modules):
    """Interrupt call(x) at each line that it runs in some modules, each time with an x of its own; then check(x)."""

    def attempt(number):
        made = make()
        with contextlib.suppress(KeyboardInterrupt):
            at_line(lambda: call(made), number, _raise, modules)
            return False
        check(made)
        return True

    return each_line(attempt)


BATCHES = np.random.default_rng(4).normal(size=(2, 60, 2))
SMALL = {"bandwidth": 1.0, "n_features": 16, "random_state": 0}


def _sampler(*batches):
    sampler = ss.SuperSampler(5, 2, **SMALL)
    for batch in batches:
        sampler.partial_fit(batch)
    return sampler


def _chosen(sampler):
    return [sampler.prototype_indices_.tolist(), sampler.criticism_indices_.tolist(), sampler.mmd_]


def test_what_a_sampler_shows_is_of_the_rows_it_has_whatever_line_is_interrupted():
    wholes = {60: _chosen(_sampler(BATCHES[0])), 120: _chosen(_sampler(*BATCHES))}

    def read_before():
        sampler = _sampler(BATCHES[0])
        _chosen(sampler)  # now it holds a result, which the next rows make an old one
        return sampler

    def check(sampler):
        assert _chosen(sampler) == wholes[sampler.n_seen_]
        if sampler.n_seen_ == 60:
            sampler.partial_fit(BATCHES[1])
        assert _chosen(sampler) == wholes[120]

    lines = _at_each_line(read_before, lambda sampler: sampler.partial_fit(BATCHES[1]), check, sampler_module)
    assert lines >= 10


def test_a_sampler_knows_no_columns_of_rows_that_it_did_not_take_in():
    named = pd.DataFrame(BATCHES[0], columns=["a", "b"])

    def check(sampler):
        if hasattr(sampler, "_now"):
            assert (sampler.n_seen_, list(sampler.feature_names_in_)) == (60, ["a", "b"])
        else:
            assert sampler.partial_fit(BATCHES[0][:, :1]).n_features_in_ == 1

    assert _at_each_line(_sampler, lambda sampler: sampler.partial_fit(named), check, sampler_module) >= 10

    def check_names(sampler):
        assert hasattr(sampler, "feature_names_in_") == (sampler.n_seen_ == 60)

    assert (
        _at_each_line(lambda: _sampler(named), lambda sampler: sampler.fit(BATCHES[1][:40]), check_names, sampler_module) >= 10
    )


def test_what_a_summary_shows_is_of_the_rows_it_has_whatever_line_is_interrupted():
    def make():
        summary = ss.summarize(BATCHES[0], 5, 2, **SMALL)
        summary.to_bytes()
        return summary

    wholes = {60: make().to_bytes(), 120: make().update(BATCHES[1]).to_bytes()}

    def check(summary):
        assert summary.to_bytes() == wholes[summary.n_seen]
        if summary.n_seen == 60:
            summary.update(BATCHES[1])
        assert summary.to_bytes() == wholes[120]

    assert _at_each_line(make, lambda summary: summary.update(BATCHES[1]), check, summary_module) >= 5
    modules = (summary_module, snapshot_module)
    unread = _at_each_line(lambda: make().update(BATCHES[1]), lambda summary: summary.to_bytes(), check, *modules)
    assert unread >= 8


def test_an_embedding_knows_no_columns_of_rows_that_it_did_not_take_in():
    phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 16, random_state=0)

    def check(embedding):
        if embedding.n_seen == 0:
            embedding.update(BATCHES[0][:, :1])
        assert embedding.n_seen == 60
        assert embedding.update(np.zeros((1, embedding.n_inputs))).n_seen == 61

    assert _at_each_line(lambda: ss.MeanEmbedding(phi), lambda embedding: embedding.update(BATCHES[0]), check, mean_module) >= 8


class _Library:
    """A BLAS that notes how many threads it was given, and interrupts once where asked to."""

    def __init__(self):
        self.threads, self.interrupts = 8, False

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, threads):
        if self.interrupts:
            self.interrupts = False
            raise KeyboardInterrupt
        self.threads = threads


@pytest.mark.parametrize("depth", [1, 2])
def test_an_interrupt_does_not_leave_blas_with_one_thread(monkeypatch, depth):
    libraries = [_Library(), _Library()]
    monkeypatch.setattr(_threads, "_blas", lambda: libraries)
    monkeypatch.setattr(_threads, "_LIMIT", _threads._BlasLimit())

    def threads():
        return [library.threads for library in libraries]

    @_threads.one_blas_thread()
    def work():
        assert threads() == [1, 1]

    def nested():
        with _threads.one_blas_thread():
            work()
            assert threads() == [1, 1]

    def check(_):
        assert threads() == [8, 8]
        nested()
        assert threads() == [8, 8]

    call = nested if depth == 2 else work
    assert _at_each_line(lambda: None, lambda _: call(), check, _threads, contextlib, sys.modules[__name__]) >= 15


def test_a_thread_that_needs_blas_while_another_is_interrupted_gets_it_whole(monkeypatch):
    libraries = [_Library(), _Library()]
    monkeypatch.setattr(_threads, "_blas", lambda: libraries)
    limit = _threads._BlasLimit()

    def interrupted(call, user):
        libraries[1].interrupts = True
        with pytest.raises(KeyboardInterrupt):
            call(user)
        return [library.threads for library in libraries]

    def threads_after(call, user):
        call(user)
        return [library.threads for library in libraries]

    assert interrupted(limit.enter, "first") == [1, 8]
    assert threads_after(limit.enter, "second") == [1, 1]
    assert threads_after(limit.leave, "first") == [1, 1]
    assert interrupted(limit.leave, "second") == [8, 1]
    assert threads_after(limit.enter, "third") == [1, 1]
    assert threads_after(limit.leave, "second") == [1, 1]
    assert threads_after(limit.leave, "third") == [8, 8]
