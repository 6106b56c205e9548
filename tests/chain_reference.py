"""Chains by enumeration of all labelings: what the recursions must agree with, and random problems over chains."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Enumerated(NamedTuple):
    """What all labelings of one sequence say."""

    labelings: np.ndarray  # labelings x length
    scores: np.ndarray
    log_z: float
    entropy: float
    mu: np.ndarray
    edges: np.ndarray


def enumerated(z: np.ndarray, edge: np.ndarray) -> Enumerated:
    """log Z, entropy and marginals of one sequence with scores z and edge."""
    length, k = z.shape
    labelings = np.array(list(product(range(k), repeat=length)))
    scores = z[np.arange(length), labelings].sum(axis=1)
    scores = scores + edge[labelings[:, :-1], labelings[:, 1:]].sum(axis=1)
    log_z = float(np.logaddexp.reduce(scores))
    p = np.exp(scores - log_z)
    mu, edges = np.zeros((length, k)), np.zeros((k, k))
    for share, y in zip(p, labelings, strict=True):
        mu[np.arange(length), y] += share
        np.add.at(edges, (y[:-1], y[1:]), share)
    entropy = float(-(p * np.where(p > 0, np.log(np.where(p > 0, p, 1.0)), 0.0)).sum())
    return Enumerated(labelings, scores, log_z, entropy, mu, edges)


def random_chains(seed: int, lengths: Any = (1, 4, 3, 5, 2), k: int = 3, features: int = 5) -> dict[str, Any]:
    """Tokens, labels of k kinds and lengths, as the problems take them."""
    rng = np.random.default_rng(seed)
    tokens = int(np.sum(lengths))
    X = sp.random_array((tokens, features), density=0.6, format="csr", rng=rng, data_sampler=rng.standard_normal)
    y = np.concatenate([np.arange(k), rng.integers(0, k, max(0, tokens - k))])[:tokens]
    return {"X": X, "y": rng.permutation(y), "lengths": list(lengths)}
