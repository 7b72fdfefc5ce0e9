"""What only Dask has: states in the memory of workers, which are let go, and a bar of its own."""

import math

import numpy as np
import pytest

import supersample as ss
from engine_parts import OPTIONS, SIZES, dask_frame, reader
from supersample.engines import local

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


def test_states_are_let_go_once_merged():
    import dask.array as da
    from distributed import Client, LocalCluster, SchedulerPlugin

    class Held(SchedulerPlugin):
        """Counts the states that are in memory at once."""

        def __init__(self):
            self.now, self.most = set(), 0

        def transition(self, key, start, finish, *args, **kwargs):
            if not str(key).startswith(("summarize_part", "merge_parts")):
                return
            if finish == "memory":
                self.now.add(key)
                self.most = max(self.most, len(self.now))
            elif start == "memory":
                self.now.discard(key)

    n_parts = 24
    points = da.from_array(np.random.default_rng(0).normal(size=(n_parts * 500, 2)), chunks=(500, 2))
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster, Client(cluster):
        held = Held()
        cluster.scheduler.add_plugin(held)
        assert ss.summarize(points, prototypes=10, criticisms=0, random_state=0).n_seen == n_parts * 500
    assert 2 <= held.most <= 2 + math.ceil(math.log2(n_parts)) + 2  # one waiting at each level, two in work, two being let go


def test_one_task_at_a_time_ends_in_the_same_bytes(folder, tables):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster, Client(cluster):
        found = ss.summarize(dask_frame(reader(folder), len(SIZES)), **OPTIONS)
    assert found.to_bytes() == local.summarize(tables, **OPTIONS).to_bytes()


def test_a_task_may_summarise_on_its_own_cluster():
    from distributed import Client, LocalCluster

    def nested():
        import dask.array as da

        return ss.summarize(da.from_array(np.eye(4), chunks=(2, 4)), prototypes=2, criticisms=0, random_state=0).n_seen

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as c,
    ):
        assert c.submit(nested, pure=False).result(timeout=120) == 4


def test_a_cluster_shows_a_bar_of_its_own(capsys):
    import dask.array as da
    from distributed import Client, LocalCluster

    points = da.from_array(np.random.default_rng(0).normal(size=(6_000, 2)), chunks=(3_000, 2))
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster, Client(cluster):
        ss.summarize(points, prototypes=10, criticisms=0, random_state=0, progress=True)
    assert "100% Completed" in capsys.readouterr().out
