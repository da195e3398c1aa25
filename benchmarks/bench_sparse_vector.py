"""Exact sparse vector: the worst epsilon with its witness, and the whole law of ten answers."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse.interactive import sparse_vector as sv

QUERIES, LIMIT = 10, 0.1


def rows() -> list[Row]:
    """A sound variant and a broken one; then all 1024 outputs of one pair of streams."""
    return [_worst(sv.standard(1.0, 3)), _worst(sv.chen(1.0)), _pair()]


def _worst(variant: sv.Variant) -> Row:
    seconds = best_of(lambda: sv.worst(variant, QUERIES))
    found = sv.worst(variant, QUERIES)
    note = f"epsilon {found.epsilon:.6g}, reached {found.reached:.6f}"
    title = f"exact worst epsilon of {QUERIES} queries, {variant.name}"
    close = found.epsilon - 1e-5 < found.reached <= found.epsilon + 1e-9
    return Row(title, seconds, None, "s", f"< {LIMIT} s", seconds < LIMIT and close, note)


def _pair() -> Row:
    left = np.random.default_rng(1).normal(size=QUERIES)
    right = left + np.where(np.arange(QUERIES) < 5, 1, -1)
    mechanism = sv.SparseVector(sv.chen(1.0))
    seconds = best_of(lambda: mechanism.loss(left, right).max_divergence(), repeat=3)
    note = f"epsilon of the pair {mechanism.loss(left, right).max_divergence():.6f}"
    title = f"exact epsilon of one pair of streams, all {2**QUERIES} outputs"
    return Row(title, seconds, None, "s", "< 1 s", seconds < 1, note)
