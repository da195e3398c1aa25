"""Other accountants: prv-accountant and autodp on one workload each, and bounds that are none."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, best_of
from dpcourse.loss import LaplaceLoss

DELTA = 1e-6
GOLDEN = Path(__file__).resolve().parent.parent / "tests/data/golden.json"
Bracket = tuple[float, float]


def others(accounted: Callable[[], Bracket]) -> Iterator[Row]:
    """prv-accountant and autodp on 1000 subsampled Gaussian releases."""
    ours, (low, high) = 1e3 * best_of(accounted, 5), accounted()
    for name, peer in (("prv_accountant", _prv), ("autodp.rdp_acct", _autodp)):
        label = f"1000 subsampled Gaussian against {name.split('.')[0]}"
        module = installed(name)
        if module is None:
            yield Row(label, ours, None, "ms", "faster, narrower", None, "not installed")
            continue
        start = time.perf_counter()
        below, above = peer(module)
        theirs = 1e3 * (time.perf_counter() - start)
        holds = theirs > ours and above - below > high - low
        yield Row(
            label, ours, theirs, "ms", "faster, narrower", holds, f"its epsilon: {below:.4f} to {above:.4f}"
        )


def wrong_side(pld: Any) -> Iterator[Row]:
    """How far on the wrong side of the truth a bound is: an upper one on a fine grid, a lower one far out."""
    truth = json.loads(GOLDEN.read_text("utf-8"))["laplace_kfold_eps"]["rows"]  # by ball arithmetic
    for side, delta, up in (("upper", 1e-6, True), ("lower", 1e-12, False)):
        (exact,) = (float(row["eps"]) for row in truth if (row["k"], float(row["delta"])) == (100, delta))
        ours, theirs, note = (100 * LaplaceLoss(0.1)).epsilon_bounds(delta)[up], None, "not installed"
        if pld is not None:
            one = pld.from_laplace_mechanism(10, pessimistic_estimate=up, value_discretization_interval=1e-6)
            theirs, note = one.self_compose(100).get_epsilon_for_delta(delta), "dp-accounting, grid of 1e-6"
        wrong, peer = (x if x is None else max(0.0, exact - x if up else x - exact) for x in (ours, theirs))
        name = f"{side} bound on the wrong side of the truth, Laplace 0.1, k = 100, delta = {delta:g}"
        yield Row(name, wrong, peer, "in epsilon", "0", wrong == 0, note)


def _prv(module: Any) -> Bracket:
    release = module.PoissonSubsampledGaussianMechanism(sampling_probability=0.01, noise_multiplier=1.0)
    accountant = module.PRVAccountant(
        [release], max_self_compositions=[1000], eps_error=0.01, delta_error=1e-10
    )
    low, _, high = accountant.compute_epsilon(DELTA, [1000])
    return float(low), float(high)


def _autodp(module: Any) -> Bracket:
    bank = importlib.import_module("autodp.rdp_bank")
    accountant = module.anaRDPacct()
    accountant.compose_poisson_subsampled_mechanisms(
        lambda a: bank.RDP_gaussian({"sigma": 1.0}, a), 0.01, coeff=1000
    )
    return 0.0, float(accountant.get_eps(DELTA))  # a bound from above only


def installed(name: str) -> Any:
    """A peer's module, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
