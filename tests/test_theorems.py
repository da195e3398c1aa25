"""The named bounds: against the golden values, against each other, and against exact enumeration."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcourse import ApproxDP, BadInput, GaussianMechanism, LaplaceMechanism, PureDP, RandomizedResponse
from dpcourse import accounting as acc
from dpcourse.accounting import misprints
from dpcourse.accounting.common import boundary
from dpcourse.accounting.theorems.optimal import MOST_ATOMS
from dpcourse.accounting.theorems.sampling import _quadrature
from dpcourse.guarantees import RDP, ZCDP, randomized_response_loss
from dpcourse.loss import GaussianLoss, LaplaceLoss
from dpcourse.mechanisms import Subsampled

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden.json").read_text("utf-8"))

epsilons = st.floats(1e-3, 2.0)
counts = st.integers(1, 300)
deltas = st.floats(-12, -1).map(lambda e: 10.0**e)
quick = settings(max_examples=60, deadline=None)


def rows(section: str) -> list[dict[str, Any]]:
    """The rows of a section, numbers as floats (lists and labels as they are)."""

    def read(value: Any) -> Any:
        try:
            return value if isinstance(value, int) else float(value)
        except (TypeError, ValueError):
            return value

    return [{name: read(value) for name, value in row.items()} for row in GOLDEN[section]["rows"]]


def close(found: float, golden: float, digits: float = 1e-12) -> bool:
    """Equal to 12 digits, and not below by more than the rounding of the golden float itself."""
    return golden * (1 - 3e-16) <= found <= golden * (1 + digits) + 1e-300


# Golden values ------------------------------------------------------------------------------------


def test_optimal_epsilon_has_all_digits() -> None:
    for r in rows("kov_optimal_composition_eps"):
        assert close(acc.optimal_epsilon(r["delta"], r["eps0"], r["k"]), r["eps"]), r


def test_optimal_delta_has_all_digits() -> None:
    for r in rows("kov_optimal_composition_delta"):
        assert close(acc.optimal_delta(r["eps"], r["eps0"], r["k"]), r["delta"]), r
    for r in rows("kov_approx_dp_delta"):
        assert close(acc.optimal_delta(r["eps"], r["eps0"], r["k"], r["delta0"]), r["delta_total"]), r
    for r in rows("heterogeneous_optimal_composition_delta"):
        assert close(acc.optimal_delta(r["eps"], [float(e) for e in r["eps_list"]]), r["delta"]), r


def test_closed_forms_have_all_digits() -> None:
    for r in rows("advanced_composition_eps"):
        given_ = r["eps0"], r["k"], r["delta_slack"]
        assert acc.basic_composition(*given_[:2]).epsilon == pytest.approx(r["basic"], rel=1e-15)
        assert close(acc.advanced_composition(*given_, mean="classic").epsilon, r["dwork_rothblum_vadhan"])
        assert close(acc.advanced_composition(*given_, mean="tanh").epsilon, r["kov_term3"])
        assert close(acc.advanced_composition(*given_, mean="half-square").epsilon, r["zcdp_bun_steinke"])
        rho = r["eps0"] ** 2 / 2
        assert close(acc.zcdp_composition(rho, r["k"], r["delta_slack"]), r["zcdp_bun_steinke"])
        simple = acc.kov_simple(*given_)
        assert simple.epsilon == pytest.approx(r["kov_simplified_min3"], rel=1e-12)
        assert simple.delta == pytest.approx(r["delta_slack"], rel=1e-12)


def test_renyi_divergences_have_all_digits() -> None:
    for r in rows("rdp_laplace_rr"):
        if isinstance(r["alpha"], float):
            assert close(acc.laplace_rdp(r["eps0"], r["alpha"]), r["laplace"])
            assert close(acc.randomized_response_rdp(r["eps0"], r["alpha"]), r["randomized_response"])
    for r in rows("rdp_gaussian"):
        assert close(acc.gaussian_rdp(r["sigma"], r["alpha"]), r["rdp"])
    for kind in ("integer", "fractional"):
        for r in rows(f"rdp_poisson_subsampled_gaussian_{kind}"):
            assert close(acc.subsampled_gaussian_rdp(r["q"], r["sigma"], r["alpha"]), r["rdp"]), r


def test_conversions_have_all_digits() -> None:
    for r in rows("rdp_to_dp"):
        one = RDP(lambda _, value=r["rdp_eps"]: value)
        assert one.epsilon_at(r["alpha"], r["delta"], "simple") == pytest.approx(r["mironov"], rel=1e-12)
        assert one.epsilon_at(r["alpha"], r["delta"]) == pytest.approx(r["bbghs_cks"], rel=1e-12)
    for r in rows("zcdp_to_dp"):
        assert close(acc.zcdp_composition(r["rho"], 1, r["delta"]), r["bun_steinke"])
        improved = acc.zcdp_composition(r["rho"], 1, r["delta"], "improved")
        assert improved == pytest.approx(r["cks"], rel=1e-12)
        exact = acc.gdp_composition(math.sqrt(2 * r["rho"]), 1, r["delta"])
        assert exact == pytest.approx(r["gaussian_exact"], rel=1e-12)


def test_the_numbers_of_the_catalogue() -> None:
    assert round(acc.advanced_composition(0.1, 100, 1e-6).epsilon, 6) == 5.756106
    assert round(acc.optimal_epsilon(1e-6, 0.1, 100), 6) == 4.774568
    assert round(acc.largest_epsilon(1, 1e-6, 100), 6) == 0.024011
    assert round(acc.optimal_delta(0.0, 0.0), 12) == 0
    leak = acc.optimal_delta(0.1 * 10, 0.1, 10, 0.01)  # S0.19: 1 - .99^10, below the sum .1
    assert round(leak, 5) == 0.09562
    # S0.25: the literal "epsilon <= 1/sqrt(k ln(2/delta))" overspends.
    literal = 1 / math.sqrt(100 * math.log(2 / 1e-6))
    assert round(literal, 5) == 0.02625
    assert acc.optimal_delta(1, literal, 100) == pytest.approx(5.45e-6, rel=1e-3)
    curve = [acc.rdp_composition(lambda a: a / 32, 100, 1e-5, form) for form in ("simple", "improved")]
    assert [round(v, 4) for v in curve] == [15.1213, 14.1305]
    assert round(acc.gdp_composition(1 / 4, 100, 1e-5), 4) == 13.2067


# Exact enumeration --------------------------------------------------------------------------------


def enumerated(at: float, every: list[float]) -> Any:
    """delta of independent randomized responses by brute force, to 40 digits."""
    with mp.workdps(40):
        total = mp.mpf(0)
        for signs in itertools.product((1, -1), repeat=len(every)):
            loss = mp.fsum(s * mp.mpf(e) for s, e in zip(signs, every, strict=True))
            if loss > at:
                chance = mp.fprod(1 / (1 + mp.exp(-s * mp.mpf(e))) for s, e in zip(signs, every, strict=True))
                total -= chance * mp.expm1(at - loss)
        return total


@quick
@given(st.lists(st.floats(0, 3), min_size=1, max_size=7), st.floats(0, 1.1))
def test_optimal_delta_is_the_enumeration_rounded_up(every: list[float], part: float) -> None:
    at = part * math.fsum(every)
    assume(at == 0 or abs(part - 1) > 1e-9)  # at the sum of all epsilons, as printed, delta is 0
    exact = enumerated(at, every)
    found = acc.optimal_delta(at, every)
    assert exact <= found <= exact * (1 + mp.mpf(10) ** -12) + mp.mpf(10) ** -14


@quick
@given(epsilons, st.integers(1, 40), st.floats(0, 0.01), deltas)
def test_optimal_epsilon_inverts_optimal_delta(eps: float, k: int, delta: float, extra: float) -> None:
    target = 1 - (1 - delta) ** k * (1 - extra)
    found = acc.optimal_epsilon(target, eps, k, delta)
    assert acc.optimal_delta(found, eps, k, delta) <= target * (1 + 1e-14)
    if found > 0:
        assert acc.optimal_delta(found * (1 - 1e-9), eps, k, delta) > target * (1 - 1e-14)


def test_many_different_steps_use_the_composition_of_losses() -> None:
    every = [0.001 * i for i in range(1, 41)]
    assert 2 ** len(every) > MOST_ATOMS
    found = acc.optimal_epsilon(1e-6, every)
    tail = acc.optimal_delta(found, every)
    assert tail <= 1e-6
    assert found < acc.advanced_composition(every, 1, 1e-6).epsilon
    merged = [0.02] * 20 + [0.03] * 20  # merged into 21 x 21 values
    whole = 20 * randomized_response_loss(0.02) + 20 * randomized_response_loss(0.03)
    low, high = whole.delta_bounds(0.5)
    assert low * (1 - 1e-12) <= acc.optimal_delta(0.5, merged) <= high * (1 + 1e-12)


# Order --------------------------------------------------------------------------------------------


@quick
@given(epsilons, counts, deltas)
def test_the_forms_are_ordered_and_never_below_the_exact_value(eps: float, k: int, slack: float) -> None:
    exact = acc.optimal_epsilon(slack, eps, k)
    forms = [acc.advanced_composition(eps, k, slack, mean=m).epsilon for m in acc.MEANS]
    assert list(acc.MEANS) == ["tanh", "half-square", "square", "classic"]
    assert forms == sorted(forms)
    three = acc.kov_simple(eps, k, slack).epsilon
    rdp = acc.rdp_composition(lambda a: acc.randomized_response_rdp(eps, a), k, slack)
    zcdp = acc.zcdp_composition(eps * math.tanh(eps / 2), k, slack)
    assert exact <= three <= forms[0]
    assert exact * (1 - 1e-12) <= acc.basic_composition(eps, k).epsilon
    assert exact <= rdp <= zcdp * (1 + 1e-12)
    assert zcdp <= forms[0] * (1 + 1e-12)


@quick
@given(st.lists(epsilons, min_size=1, max_size=12), st.floats(0, 1e-6), deltas)
def test_heterogeneous_forms_agree_with_homogeneous_ones_and_dominate(
    every: list[float], delta: float, slack: float
) -> None:
    spread = acc.advanced_composition(every, 1, slack, delta)
    exact = acc.optimal_epsilon(min(spread.delta, 0.99), every, 1, delta)
    assert exact <= spread.epsilon
    same = [every[0]] * len(every)
    assert acc.advanced_composition(same, 1, slack) == acc.advanced_composition(every[0], len(same), slack)
    assert acc.basic_composition(every, 3, delta).epsilon == pytest.approx(3 * math.fsum(every), rel=1e-14)


@quick
@given(epsilons, st.integers(1, 100), deltas, st.floats(1.01, 2))
def test_costs_grow_with_epsilon_and_k_and_fall_with_delta(
    eps: float, k: int, delta: float, more: float
) -> None:
    for bound in ("basic", "classic", "tanh", "kov-simple", "optimal", "zcdp", "rdp", "gdp"):

        def cost(e: float, n: int, d: float, bound: str = bound) -> float:
            return acc.epsilon_under(bound, acc.Workload.of(PureDP(e), n), d) * (1 + 1e-11)

        here = cost(eps, k, delta) / (1 + 1e-11)
        assert here <= cost(eps * more, k, delta)
        assert here <= cost(eps, k + 1, delta)
        assert here <= cost(eps, k, delta / more)


@quick
@given(st.floats(0.001, 0.9), st.floats(0.4, 10), st.floats(1.05, 300))
def test_subsampled_divergences_rise_with_the_order_and_stay_below_the_noise(
    rate: float, sigma: float, order: float
) -> None:
    here = acc.subsampled_gaussian_rdp(rate, sigma, order)
    assert 0 < here <= acc.gaussian_rdp(sigma, order) * (1 + 1e-12)
    assert here <= acc.subsampled_gaussian_rdp(rate, sigma, order + 0.7) * (1 + 1e-12)


def test_the_three_regimes_of_the_subsampled_gaussian_meet() -> None:
    def rdp(order: float) -> float:
        return acc.subsampled_gaussian_rdp(0.01, 1.0, order)

    for order in (2, 7, 31):  # sum and quadrature
        assert rdp(order + 1e-9) == pytest.approx(rdp(order), rel=1e-6)
    for order in (32.5, 100.25):  # the chord lies above the truth, and not far
        exact = _quadrature(0.01, 1.0, order) / (order - 1)
        assert exact * (1 - 1e-12) <= rdp(order) <= exact * 1.01
    assert rdp(1025) == acc.gaussian_rdp(1.0, 1025)
    assert acc.subsampled_gaussian_rdp(1.0, 2.0, 3.0) == acc.gaussian_rdp(2.0, 3.0)


def test_the_moments_accountant_is_dearer_than_all_orders() -> None:
    orders = acc.moments_accountant(0.01, 1, 1000, 1e-6)
    best = acc.rdp_composition(lambda a: acc.subsampled_gaussian_rdp(0.01, 1, a), 1000, 1e-6)
    assert 2.124515171120 < best < orders  # the exact value is a golden one
    assert acc.moments_accountant(0.01, 1, 1000, 1e-6, orders=[2, 3]) > orders


def test_the_moments_accountant_takes_any_mechanism() -> None:
    """At whole orders and with the simple conversion, it is never below Renyi DP."""
    for item in (PureDP(0.1), LaplaceMechanism(0.1), GaussianMechanism(20.0), RandomizedResponse(0.1)):
        table = acc.compare(item, 1e-6, k=100)
        assert table["rdp"].epsilon < table["moments"].epsilon < 1.2 * table["rdp"].epsilon
    curve = acc.whole_orders(lambda a: acc.laplace_rdp(0.1, a), 100, 1e-6)
    assert curve == pytest.approx(acc.compare(LaplaceMechanism(0.1), 1e-6, k=100)["moments"].epsilon)
    largest = acc.largest_epsilon(1, 1e-6, 100, "moments")
    assert acc.compare(PureDP(largest), 1e-6, k=100)["moments"].epsilon <= 1
    assert acc.compare(PureDP(largest * 1.000001), 1e-6, k=100)["moments"].epsilon > 1


def test_different_steps_of_zcdp_and_of_renyi_dp_add_up() -> None:
    rhos = [0.1, 0.05, 0.35]
    assert acc.zcdp_composition(rhos, 10, 1e-6) == acc.zcdp_composition(0.5, 10, 1e-6)
    curves = [lambda a, rho=rho: rho * a for rho in rhos]
    for account in (acc.rdp_composition, acc.whole_orders):
        one = account(lambda a: 0.5 * a, 10, 1e-6)
        assert one <= account(curves, 10, 1e-6) * (1 + 1e-15) <= one * (1 + 1e-12)


def test_a_delta_is_at_most_one() -> None:
    assert acc.basic_composition(0.1, 10, delta=0.5) == (1.0, 1.0)
    assert acc.advanced_composition(0.1, 10, 0.5, delta=0.5).delta == 1
    assert acc.kov_simple(0.1, 10**6, 0.9, delta=0.9).delta == 1


# The central limit ----------------------------------------------------------------------------------


def test_the_central_limit_is_exact_for_gaussians_and_only_near_for_others() -> None:
    limit = acc.central_limit([(GaussianLoss(0.1), 100), (GaussianLoss(2.0), 1)])
    assert limit.mu == pytest.approx(math.sqrt(5), rel=1e-9)
    flips = acc.central_limit([(randomized_response_loss(0.1), 100)])
    variance = 0.1**2 / math.cosh(0.05) ** 2
    assert flips.mu == pytest.approx(2 * 100 * 0.1 * math.tanh(0.05) / math.sqrt(100 * variance), rel=1e-10)
    assert 0.01 < flips.error < 0.1
    assert acc.central_limit([(LaplaceLoss(0.0), 3)]).epsilon(1e-6) == 0


def test_the_limit_of_dp_sgd_is_below_the_truth() -> None:
    mu = acc.subsampled_central_limit(0.01, 1, 1000)
    assert mu == pytest.approx(0.01 * math.sqrt(1000 * (math.e - 1)))
    truth = 2.124515171120  # a golden value
    assert acc.Limit(mu, math.nan).epsilon(1e-6) < 0.87 * truth


# Misprints ------------------------------------------------------------------------------------------


def test_the_wrong_delta_in_the_logarithm() -> None:
    claim = misprints.log_of_wrong_delta(0.1, 100, slack=1e-14, delta=1e-8)
    assert round(claim.epsilon, 4) == 6.5693
    with mp.workdps(30):
        excess = acc.optimal_delta(claim.epsilon, 0.1, 100, 1e-8) - 1e-6
    assert excess == pytest.approx(1.18e-11, rel=0.01)
    assert excess > 1000 * 1e-14
    second = misprints.log_of_wrong_delta(1, 1, slack=1e-3, delta=0.9)
    assert round(acc.optimal_delta(second.epsilon, 1, 1, 0.9), 4) == 0.9055 > second.delta == 0.901
    with pytest.raises(BadInput, match="which takes its logarithm"):
        misprints.log_of_wrong_delta(0.1, 100, slack=1e-6, delta=0)


@pytest.mark.parametrize(
    ("claim", "eps", "k", "slack", "claimed", "exact"),
    [
        (misprints.exponential_of_slack, 0.5, 400, 1e-6, 52.57, 0.322),
        (misprints.exponential_of_slack, 1, 50, 1e-3, 26.33, 0.252),
        (misprints.exponential_of_slack, 1, 10, 0.01, 9.698, 0.01138),
        (misprints.missing_two, 0.01, 100, 1e-6, 0.3817, 1.49e-6),
        (misprints.missing_two, 0.05, 100, 1e-6, 2.1148, 2.50e-6),
        (misprints.without_mean, 1, 400, 1e-6, 105.13, 1.0),
    ],
)
def test_misprints_fail_at_their_counterexamples(
    claim: Any, eps: float, k: int, slack: float, claimed: float, exact: float
) -> None:
    said = claim(eps, k, slack)
    truth = acc.optimal_delta(said.epsilon, eps, k)
    assert said.epsilon == pytest.approx(claimed, rel=2e-4)
    assert truth == pytest.approx(exact, rel=4e-3)
    assert truth > said.delta
    right = acc.advanced_composition(eps, k, slack, mean="classic")
    assert acc.optimal_delta(right.epsilon, eps, k) <= right.delta


@pytest.mark.parametrize(("eps", "slack", "first"), [(1, 0.01, 10), (1, 1e-6, 28), (0.5, 1e-6, 33)])
def test_the_first_k_at_which_the_exponential_of_slack_fails(eps: float, slack: float, first: int) -> None:
    def fails(k: int) -> bool:
        claim = misprints.exponential_of_slack(eps, k, slack)
        return acc.optimal_delta(claim.epsilon, eps, k) > claim.delta

    assert [fails(k) for k in (first - 1, first)] == [False, True]


# The inverse problem ----------------------------------------------------------------------------------

PURE = ("basic", "classic", "square", "half-square", "tanh", "kov-simple", "optimal", "zcdp", "rdp", "gdp")


@settings(max_examples=12, deadline=None)
@given(st.sampled_from((*PURE, "exact")), st.floats(0.1, 5), deltas, st.integers(1, 200))
def test_the_largest_step_fits_and_a_larger_one_does_not(
    bound: str, target: float, delta: float, k: int
) -> None:
    step = acc.largest_epsilon(target, delta, k, bound)
    cost = [acc.epsilon_under(bound, acc.Workload.of(PureDP(s), k), delta) for s in (step, step * (1 + 1e-9))]
    assert cost[0] <= target < cost[1]


@pytest.mark.parametrize("bound", ["basic", "tanh", "optimal", "rdp", "exact"])
def test_the_largest_k_fits_and_one_more_does_not(bound: str) -> None:
    for item in (LaplaceMechanism(0.05), PureDP(0.03), ApproxDP(0.02, 1e-9)):
        k = acc.largest_k(item, 1.0, 1e-6, bound)
        cost = [acc.epsilon_under(bound, acc.Workload.of(item, n), 1e-6) for n in (k, k + 1)]
        assert cost[0] <= 1 < cost[1], (item, k)


def test_budgets_are_decimal() -> None:
    assert [acc.largest_k(PureDP(0.1), e, 1e-6, "basic") for e in (0.3, 0.7, 1)] == [3, 7, 10]
    assert acc.largest_epsilon(1, 1e-6, 100, "basic") == 0.01
    assert acc.optimal_epsilon(1e-6, 0.1, 1, 1e-6) == 0.1
    assert acc.optimal_epsilon(3e-6, 0.1, 3, 1e-6) < 0.3
    assert acc.largest_k(PureDP(2.0), 1.0, 1e-6) == 0


@pytest.mark.parametrize("bound", ["basic", "tanh", "rdp", "exact"])
@pytest.mark.parametrize("sensitivity", [1.0, 3.0])
def test_the_least_noise_fits_and_less_does_not(bound: str, sensitivity: float) -> None:
    scale = acc.smallest_scale(1, 1e-6, 50, bound, sensitivity)
    sigma = acc.smallest_sigma(1, 1e-6, 50, bound, sensitivity)
    for noise, make in (
        (scale, lambda b: LaplaceMechanism(sensitivity / b, sensitivity=sensitivity)),
        (sigma, lambda s: GaussianMechanism(s, sensitivity=sensitivity)),
    ):
        fits, less = (acc.Workload.of(make(v), 50) for v in (noise, noise * (1 - 1e-9)))
        assert acc.epsilon_under(bound, fits, 1e-6) <= 1 < acc.epsilon_under(bound, less, 1e-6)


def test_the_search_never_returns_a_point_that_breaks_the_budget() -> None:
    step = boundary(lambda x: 1.0 if x <= 0.3 else 2.0, 1.5, good=0.0, bad=1.0)
    assert 0.3 * (1 - 1e-14) <= step <= 0.3
    assert boundary(lambda x: math.inf if x > 2 else x, 5.0, good=1.0, bad=4.0) <= 2


# Bad input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: acc.basic_composition(-1), "epsilon = -1 breaks a rule: it must be a number of at least 0"),
        (lambda: acc.basic_composition(0.1, 2.0), "k = 2.0 breaks a rule: it must be a whole number"),
        (lambda: acc.basic_composition([]), "list at least one step"),
        (lambda: acc.basic_composition([0.1, 0.2], 1, [0, 0, 0]), "one number, or a list of 2"),
        (lambda: acc.basic_composition(0.1, 1, 1.0), "delta = 1.0 breaks a rule: it must be at least 0 and"),
        (lambda: acc.advanced_composition(0.1, 10, 0), "without slack nothing beats adding the epsilons"),
        (lambda: acc.advanced_composition(0.1, 10, 1e-6, mean="mean"), "one of 'tanh', 'half-square'"),
        (lambda: acc.kov_simple(0.1, 0, 1e-6), "k = 0 breaks a rule"),
        (lambda: acc.optimal_delta(-1, 0.1), "total_epsilon = -1"),
        (lambda: acc.optimal_epsilon(1.5, 0.1), "total_delta = 1.5"),
        (lambda: acc.zcdp_composition(0.1, 1, 1e-6, "best"), "one of 'simple', 'improved'"),
        (lambda: acc.laplace_rdp(1, 1), "order = 1 breaks a rule: it must be a finite number above 1"),
        (lambda: acc.subsampled_gaussian_rdp(1.5, 1, 2), "rate = 1.5 breaks a rule"),
        (lambda: acc.subsampled_gaussian_rdp(0, 1, 2), "rate = 0.0 breaks a rule"),
        (lambda: acc.moments_accountant(0.1, 1, 1, 1e-6, []), "at least one whole order"),
        (lambda: acc.moments_accountant(0.1, 1, 1, 1e-6, [1]), "order = 1 breaks a rule"),
        (lambda: acc.central_limit([]), "at least one"),
        (lambda: acc.largest_epsilon(1, 1e-6, 10, "magic"), "bound = 'magic' breaks a rule"),
        (lambda: acc.largest_epsilon(1, 1e-6, 10, "clt"), "one that promises something"),
        (lambda: acc.largest_epsilon(1, 1e-6, 10, "missing two"), "one that promises something"),
        (lambda: acc.smallest_sigma(1, 1e-6, 10, "zcdp", rate=0.1), "one that applies to 10 x Subsampled"),
        (
            lambda: acc.zcdp_composition([], 1, 1e-6),
            "rho = [] breaks a rule: it must be one number, or a list",
        ),
        (lambda: acc.gdp_composition(-1, 1, 1e-6), "mu = -1 breaks a rule"),
        (lambda: acc.rdp_composition([], 1, 1e-6), "curve = [] breaks a rule: it must be a function"),
        (lambda: acc.largest_epsilon(0, 1e-6, 10), "epsilon = 0 breaks a rule"),
        (lambda: acc.largest_epsilon(1, 0, 10, "tanh"), 'only "basic", "kov-simple", "optimal" and "exact"'),
        (lambda: acc.largest_k(PureDP(0), 1, 1e-6, "basic"), "a budget that some number of steps exceeds"),
    ],
)
def test_bad_input_is_explained(call: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        call()
    assert message in str(caught.value)


def test_extreme_arguments_stay_sound() -> None:
    assert acc.optimal_epsilon(1e-6, math.inf) == math.inf
    assert acc.optimal_epsilon(0, 0.5, 4) == 2.0
    assert acc.optimal_epsilon(1e-9, 0.1, 10, 1e-6) == math.inf  # delta does not pay for the steps
    assert acc.optimal_epsilon(0.9, 0.1, 3) == 0
    assert 0 < acc.optimal_delta(799, 800) <= 1
    assert acc.optimal_delta(0, 1e-200, 5) < 1e-190
    assert acc.advanced_composition(800, 2, 1e-6, mean="classic").epsilon == math.inf
    assert acc.optimal_epsilon(1e-30, 0.1, 1000) < 50
    assert ZCDP(0.0).epsilon(1e-6) == acc.zcdp_composition(0, 5, 1e-6) == 0
    assert RandomizedResponse(0.5).guarantee.epsilon(0) == acc.basic_composition(0.5).epsilon


# What an audit found ------------------------------------------------------------------------------


def test_ten_times_a_tenth_is_one_under_the_exact_bound() -> None:
    assert acc.largest_k(PureDP(0.1), 1, 0) == 10
    assert acc.largest_k(LaplaceMechanism(0.1), 0.3, 0) == 3
    assert acc.smallest_scale(1, 0, 10, sensitivity=3) == 30
    assert acc.largest_epsilon(1, 0, 10, "basic") == 0.1


@pytest.mark.parametrize(("shift", "k"), [(1e-9, 10**9), (1e-7, 10**14), (1e-6, 10**12)])
def test_the_central_limit_of_tiny_losses(shift: float, k: int) -> None:
    limit = acc.central_limit([(LaplaceLoss(shift), k)])
    assert limit.mu == pytest.approx(shift * math.sqrt(k), rel=1e-5)
    assert limit.error == pytest.approx(0.56 / math.sqrt(k), rel=1e-3)


def test_upper_bounds_never_underflow_to_zero() -> None:
    assert acc.advanced_composition(1e-170, 1, 1e-6).epsilon >= 5e-170
    assert acc.laplace_rdp(1e-200, 2) > 0
    assert acc.gaussian_rdp(1e200, 2) > 0
    assert acc.gaussian_rdp(1e-200, 2) == math.inf
    assert acc.gdp_composition(1e-170, 1, 1e-175) > 0
    assert acc.basic_composition(1e308, k=10).epsilon == math.inf


def test_what_is_known_by_its_promise_only_is_called_so() -> None:
    sampled = Subsampled(LaplaceMechanism(1.0), 0.1)
    assert acc.compare(sampled, 1e-6, 10)["exact"].name == "exact for what is promised"
    assert acc.compare(LaplaceMechanism(1.0), 1e-6, 10)["exact"].name == "exact"


def test_a_bound_that_does_not_apply_names_those_that_do() -> None:
    with pytest.raises(BadInput, match=r"use 'basic' or .* or 'zcdp' or 'rdp'"):
        acc.largest_k(ZCDP(0.001), 1, 1e-6)
    with pytest.raises(BadInput, match="Gaussian noise not at all"):
        acc.smallest_sigma(1, 0, 10)


@pytest.mark.parametrize("epsilon", [600.0, 800.0, 1e300, math.inf])
def test_promises_of_nothing_are_compared_without_a_warning(epsilon: float) -> None:
    assert acc.compare(PureDP(epsilon), 1e-6, 10)["basic"].epsilon >= 10 * epsilon


def test_losses_can_be_summed() -> None:
    assert sum([LaplaceLoss(0.1)] * 3) == 3 * LaplaceLoss(0.1)
    with pytest.raises(TypeError):
        sum([LaplaceLoss(0.1)], 1)  # type: ignore[arg-type]
