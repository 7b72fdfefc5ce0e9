"""Peers with one method each: apricot, ProtoDash, mmd-critic, the density sketch, k-means and k-medoids."""

import math

import numpy as np

from benchmarks.peers.selection_protocol import EQUAL, Chooser, Chosen, Floats, Task

__all__ = ["density_sketch", "facility_location", "k_means", "k_medoids", "mmd_critic", "protodash"]


def facility_location() -> Chooser:
    """apricot's facility location on Gaussian similarities, by its lazy greedy search."""
    from apricot import FacilityLocationSelection
    from sklearn.metrics.pairwise import rbf_kernel

    def choose(rows: Floats, task: Task) -> Chosen:
        similar = rbf_kernel(rows, gamma=0.5 / task.bandwidth**2)
        selector = FacilityLocationSelection(task.m, metric="precomputed", optimizer="lazy", random_state=task.seed)
        return Chosen(selector.fit(similar).ranking, {EQUAL: None})

    return choose


def protodash() -> Chooser:
    """ProtoDash with its non-negative weights, which are not normalised, solved for by OSQP."""
    from aix360.algorithms.protodash import ProtodashExplainer

    def choose(rows: Floats, task: Task) -> Chosen:
        weights, picked, _ = ProtodashExplainer().explain(
            rows, rows, task.m, kernelType="Gaussian", sigma=task.bandwidth, optimizer="osqp"
        )
        return Chosen(picked, {"non-negative": weights})

    return choose


def mmd_critic() -> Chooser:
    """The PyPI package mmd-critic, prototypes alone; it returns points, not rows."""
    from mmd_critic import MMDCritic
    from mmd_critic.kernels import RBFKernel

    def choose(rows: Floats, task: Task) -> Chosen:
        return Chosen(MMDCritic(rows, RBFKernel(sigma=task.bandwidth)).select_prototypes(task.m)[0], {EQUAL: None})

    return choose


def density_sketch() -> Chooser:
    """The one-pass density sketch of datasketches, with weights 2^level made to sum to one.

    A sketch keeps about k points on each of log2(N / k) levels; k is the largest for which that is at most M. The table says
    how many points there were. Its coin takes no seed.
    """
    import datasketches

    def choose(rows: Floats, task: Task) -> Chosen:
        k = max(each for each in range(2, task.m) if each * math.log2(len(rows) / each) <= task.m)
        sketch = datasketches.density_sketch(k, rows.shape[1], datasketches.GaussianKernel(task.bandwidth))
        for row in rows:
            sketch.update(row)
        points, counts = zip(*sketch, strict=True)
        return Chosen(np.array(points), {"powers of two": np.array(counts) / sum(counts)})

    return choose


def k_means() -> Chooser:
    """scikit-learn's k-means, then the row nearest to each centre, without weights and with each cluster's share."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    def choose(rows: Floats, task: Task) -> Chosen:
        found = KMeans(task.m, random_state=task.seed).fit(rows)
        nearest = pairwise_distances_argmin(found.cluster_centers_, rows)
        return Chosen(nearest, {EQUAL: None, "cluster": np.bincount(found.labels_, minlength=task.m) / len(rows)})

    return choose


def k_medoids() -> Chooser:
    """scikit-learn-extra's k-medoids, without weights and with each cluster's share."""
    from sklearn_extra.cluster import KMedoids

    def choose(rows: Floats, task: Task) -> Chosen:
        found = KMedoids(task.m, init="k-medoids++", random_state=task.seed).fit(rows)
        return Chosen(found.medoid_indices_, {EQUAL: None, "cluster": np.bincount(found.labels_, minlength=task.m) / len(rows)})

    return choose
