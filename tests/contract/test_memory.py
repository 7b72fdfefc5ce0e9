"""Memory does not grow with the number of rows, and kernels that call kernels do not lock up."""

import subprocess
import sys

MEASURE = """
import re
from pathlib import Path
import numpy as np
import supersample as ss

def peak_mb():
    # And not ru_maxrss, which begins with what the parent held: beside a large one nothing would ever grow.
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

{setup}
work(*data[: 2])
before = peak_mb()
work(*data[2 :])
print(peak_mb() - before)
"""
# All arrays exist before the first measurement, so growth is what the work itself takes.
EXACT = """
rng = np.random.default_rng(0)
data = [rng.normal(size=(n, 16)) for n in (1000, 1000, 10_000, 10_000)]
work = lambda x, y: ss.mmd2(x, y, kernel=ss.kernels.Gaussian(4.0))
"""
EMBEDDING = """
phi = ss.features.Fourier(ss.kernels.Gaussian(4.0), 512, random_state=0)
rng = np.random.default_rng(0)
data = [rng.normal(size=(n, 4)).astype(np.float32) for n in (8000, 8000, 150_000, 150_000)]
work = lambda x, y: ss.MeanEmbedding(phi).update(x).mmd2(ss.MeanEmbedding(phi).update(y))
"""


def growth(setup):
    command = [sys.executable, "-c", MEASURE.format(setup=setup)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return float(done.stdout)


def test_exact_mmd2_holds_no_gram_matrix():
    """One Gram matrix of 10,000 rows is 800 MB; the float64 copies of both samples are 2.6 MB."""
    assert growth(EXACT) < 20


def test_an_embedding_holds_no_feature_matrix():
    """The features of 150,000 rows are 300 MB; a block of them is 8 MB."""
    assert growth(EMBEDDING) < 40


NESTED = """
import numpy as np
import supersample as ss

inner = ss.kernels.Gaussian(1.0)
product = ss.kernels.Function(lambda x, y: inner(x, y) * inner(x, y), name="product")
rng = np.random.default_rng(0)
print(ss.two_sample_test(rng.normal(size=(5, 2)), rng.normal(size=(2500, 2)), kernel=product, method="block").pvalue)
"""


def test_a_users_kernel_may_call_ours_from_every_thread():
    """A product of kernels, called in the worker threads on blocks large enough to be cut again."""
    done = subprocess.run([sys.executable, "-c", NESTED], capture_output=True, text=True, timeout=60, check=True)
    assert 0 < float(done.stdout) <= 1
