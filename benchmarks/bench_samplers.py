"""Samples a second: our exact samplers against OpenDP's, and against numpy's inexact floats.

OpenDP takes its bits from a secure source, so the row on os.urandom compares like with like; its
time includes the list of results, which is little next to the draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse.laws import exact

OURS, PEERS = 4_000_000, 20_000  # draws a call


def rows() -> list[Row]:
    """Ours at scale 10 next to each peer, in the same run."""
    rng = np.random.default_rng(1)
    laplace = _rate(partial(exact.discrete_laplace, rng, 10), OURS)
    gaussian = _rate(partial(exact.discrete_gaussian, rng, 10), OURS)
    system = _rate(partial(exact.discrete_laplace, exact.SystemRandomness(), 10), OURS)
    floats = _rate(partial(rng.laplace, 0.0, 10.0), OURS)
    peers = _opendp()
    return [
        _row("discrete Laplace, scale 10, against OpenDP", laplace, peers.get("laplace"), 100),
        _row("discrete Gaussian, sigma 10, against OpenDP", gaussian, peers.get("gaussian"), 100),
        _row("the same Laplace on os.urandom, against OpenDP", system, peers.get("laplace"), 100),
        _row("discrete Laplace against numpy's float Laplace", laplace, floats, 0.3),
    ]


def _rate(sampler: Callable[[int], object], size: int) -> float:
    sampler(10)  # builds the table
    return size / best_of(partial(sampler, size))


def _row(name: str, ours: float, peer: float | None, goal: float) -> Row:
    aim = f">= {goal:g} x peer"
    if peer is None:
        note = "opendp is not installed: pip install 'dpcourse[bench]'"
        return Row(name, ours, None, "samples/s", aim, None, note)
    note = f"{ours / peer:.3g} times the peer"
    return Row(name, ours, peer, "samples/s", aim, ours >= goal * peer, note)


def _opendp() -> dict[str, float]:
    """OpenDP's vector samplers on zeros; nothing if it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T=int))
    zeros = [0] * PEERS
    measurements = {
        "laplace": dp.m.make_laplace(vectors, dp.l1_distance(T=int), scale=10.0),
        "gaussian": dp.m.make_gaussian(vectors, dp.l2_distance(T=float), scale=10.0),
    }
    return {name: PEERS / best_of(partial(m, zeros)) for name, m in measurements.items()}
