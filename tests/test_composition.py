"""Composed losses: every bracket contains the truth, is narrow, and the methods agree with each other."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Mixture, Product
from dpcourse.loss import DensityLoss, FiniteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.loss.composed import Composed, compose
from dpcourse.loss.methods.choose import candidates, contours
from dpcourse.loss.methods.contour import Contour
from dpcourse.loss.methods.factors import LaplaceFactor
from dpcourse.loss.methods.grid import Grid
from dpcourse.loss.methods.knots import knots
from dpcourse.loss.methods.spline import spline
from dpcourse.loss.subsampled import SubsampledGaussianLoss
from tests.brackets import Parts, contains, direct_engines, overlap, randomized_response

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden.json").read_text("utf-8"))


def rows(*sections: str) -> list[Any]:
    """Golden rows, with an id that names the section and the row."""
    return [
        pytest.param(row, id=f"{section}-{number}")
        for section in sections
        for number, row in enumerate(GOLDEN[section]["rows"])
    ]


# Golden values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("kov_optimal_composition_eps"))
def test_randomized_response_epsilon(row: dict[str, Any]) -> None:
    loss = row["k"] * randomized_response(float(row["eps0"]))
    bracket = loss.epsilon_bounds(float(row["delta"]))
    assert contains(bracket, row["eps"])
    assert bracket[1] - bracket[0] <= 1e-10 * max(1.0, float(row["eps0"]) * row["k"] / 1000)


@pytest.mark.parametrize("row", rows("kov_optimal_composition_delta"))
def test_randomized_response_delta(row: dict[str, Any]) -> None:
    loss = row["k"] * randomized_response(float(row["eps0"]))
    assert contains(loss.delta_bounds(float(row["eps"])), row["delta"])


@pytest.mark.parametrize("row", rows("heterogeneous_optimal_composition_delta"))
def test_different_randomized_responses(row: dict[str, Any]) -> None:
    loss = compose([(randomized_response(float(e)), 1) for e in row["eps_list"]])
    low, high = loss.delta_bounds(float(row["eps"]))
    assert contains((low, high), row["delta"])
    assert high - low < 1e-13
    assert "lattice" in loss.method


@pytest.mark.parametrize("row", rows("laplace_kfold_eps"))
def test_laplace_epsilon(row: dict[str, Any]) -> None:
    bracket = (row["k"] * LaplaceLoss(float(row["eps0"]))).epsilon_bounds(float(row["delta"]))
    assert contains(bracket, row["eps"], digits=15)
    assert bracket[1] - bracket[0] <= 1e-11


@pytest.mark.parametrize("row", rows("laplace_kfold_delta", "laplace_kfold_delta_eps0_1"))
def test_laplace_delta(row: dict[str, Any]) -> None:
    shift = float(row["eps0"])
    low, high = (row["k"] * LaplaceLoss(shift)).delta_bounds(float(row["eps"]))
    assert contains((low, high), row["delta"])
    assert high - low <= (1e-11 if row["k"] * shift <= 10 else 2.1e-9) * high  # see `pieces.growth`


@pytest.mark.parametrize("row", rows("gaussian_delta"))
def test_gaussian_delta(row: dict[str, Any]) -> None:
    loss = row["k"] * GaussianLoss(1 / float(row["sigma"]))
    assert isinstance(loss, GaussianLoss)
    assert contains(loss.delta_bounds(float(row["eps"])), row["delta"])


@pytest.mark.parametrize("row", rows("gaussian_eps"))
def test_gaussian_epsilon(row: dict[str, Any]) -> None:
    bracket = (row["k"] * GaussianLoss(1 / float(row["sigma"]))).epsilon_bounds(float(row["delta"]))
    assert contains(bracket, row["eps"])
    assert bracket[1] - bracket[0] <= 1e-11


@pytest.mark.parametrize("row", rows("poisson_subsampled_gaussian_eps"))
def test_subsampled_gaussian_epsilon(row: dict[str, Any]) -> None:
    removed = row["direction"].startswith("remove")
    loss = row["k"] * SubsampledGaussianLoss(float(row["q"]), float(row["sigma"]), removed)
    bracket = loss.epsilon_bounds(float(row["delta"]))
    assert contains(bracket, row["eps"])
    assert bracket[1] - bracket[0] <= 1e-10


@pytest.mark.parametrize("row", rows("heterogeneous_laplace_eps", "heterogeneous_laplace_delta"))
def test_different_laplace_losses(row: dict[str, Any]) -> None:
    loss = different_laplace(float(row["unit"]), row["n"])
    known = row["eps"] if "rel_change_half_T" not in row else row["delta"]
    bracket = (
        loss.epsilon_bounds(float(row["delta"]))
        if "rel_change_half_T" not in row
        else loss.delta_bounds(float(row["eps"]))
    )
    assert contains(bracket, known, digits=13)
    assert bracket[1] - bracket[0] <= 1e-11 * bracket[1]


def different_laplace(unit: float, n: int) -> PrivacyLoss:
    return compose([(LaplaceLoss(unit * i), 1) for i in range(1, n + 1)])


@given(st.floats(-3, 1.5), st.floats(-5, 1.5), st.floats(-5, 3), st.floats(-4, 3))
def test_nothing_on_a_line_is_above_the_bound_on_laplace_decay(
    log_s: float, log_c: float, log_t: float, log_on: float
) -> None:
    s, c, t = 10**log_s, 10**log_c, 10**log_t
    factor = LaplaceFactor(np.array([s]), np.array([1.0]))
    again = np.pi / s * np.arange(1, 6)  # where the atoms are in phase
    beyond = np.array([t, t * (1 + 10**log_on), *again[again > t]])
    sizes = factor.cumulant(np.append(c, c + 1j * beyond)).real
    assert (sizes[1:] - sizes[0]).max() <= factor.decay(c, t) + 1e-14


def test_resonating_atoms_of_different_laplace_losses() -> None:
    """The trap: on the contour the atoms +-eps_i come into phase again, far beyond nodes that look small.

    A plain contour truncated where its terms looked small claimed an error of 3e-14 and was off by 7.6e-8.
    """
    loss = different_laplace(0.001, 100)
    assert isinstance(loss, Composed)
    row = GOLDEN["heterogeneous_laplace_delta"]["rows"][0]
    low, high = loss.delta_bounds(float(row["eps"]))
    assert contains((low, high), row["delta"], digits=13)
    assert high - low < 1e-12 * high
    plain = next(contours(loss.parts, needed=0.0))
    assert isinstance(plain, Contour)
    assert np.isnan(plain.bounds(np.array([float(row["eps"])]))[0]).all()  # it knows that it cannot tell


# Exact oracles ----------------------------------------------------------------------------------


def laplace_by_residues(s: Any, k: int, eps: Any, digits: int = 60) -> mpmath.mpf:
    """k Laplace losses by the residues of e^{-eps z} M(z)^k/(z(z+1)), in many digits."""
    with mpmath.workdps(digits):
        s, eps = mpmath.mpf(s), mpmath.mpf(eps)
        total = mpmath.mpf(0)
        for j in range(k + 1):  # (sinh(ws)/(2w))^j cosh(ws)^(k-j)
            for minus in range(k + 1):  # e^{w m s} with m = k - 2 minus
                m = k - 2 * minus
                reach = m * s - eps
                sign = sum(
                    mpmath.binomial(k - j, minus - i) * mpmath.binomial(j, i) * (-1) ** i
                    for i in range(min(j, minus) + 1)
                )
                if reach <= 0 or not sign:
                    continue
                residue = mpmath.exp(m * s / 2) - (-1) ** j * mpmath.exp(eps - m * s / 2)
                residue -= (
                    sum(
                        4 * mpmath.mpf(4) ** n * reach ** (j - 1 - 2 * n) / mpmath.factorial(j - 1 - 2 * n)
                        for n in range((j + 1) // 2)
                    )
                    * mpmath.exp(eps / 2)
                    / mpmath.mpf(2) ** j
                )
                total += mpmath.binomial(k, j) * sign * residue
        return total * mpmath.exp(-k * s / 2) / mpmath.mpf(2) ** k


@settings(max_examples=60)
@given(st.floats(0.01, 4), st.integers(2, 12), st.floats(0, 1))
def test_laplace_against_residues(s: float, k: int, place: float) -> None:
    eps = 0.999 * k * s * place
    low, high = (k * LaplaceLoss(s)).delta_bounds(eps)
    assert contains((low, high), laplace_by_residues(s, k, eps), digits=15)
    # Near the largest loss delta is a difference of close numbers; of large shifts see `pieces.growth`.
    assert high - low <= (1e-12 if k * s <= 5 else 2.1e-9) * high + 1e-14


@settings(max_examples=60)
@given(st.floats(4, 60), st.integers(2, 30), st.floats(0, 1))
def test_large_laplace_shifts_against_residues(s: float, k: int, place: float) -> None:
    """These were wrong in the third digit before rounding was counted in units of a cell's largest value."""
    eps = 0.9999 * k * s * place
    low, high = (k * LaplaceLoss(s)).delta_bounds(eps)
    assert 0 <= low <= high <= 1
    assert contains((low, high), laplace_by_residues(s, k, eps, digits=60 + int(k * s)), digits=15)


def laplace_and_finite(
    laplace: Sequence[tuple[float, int]], finite: Sequence[tuple[FiniteLoss, int]], eps: float
) -> Any:
    """Different Laplace losses and finite ones: residues for every choice of signs, in 60 digits.

    With w = z + 1/2 the transform is a sum over signs of e^{w S} (1 + 1/(2w))^plus (1 - 1/(2w))^minus; where
    S > eps its residues at w = 1/2, -1/2 and 0 count. A finite loss b moves eps to eps - b.
    """
    with mpmath.workdps(60):
        shifts = [mpmath.mpf(s) for s, k in laplace for _ in range(k)]
        n, half = len(shifts), mpmath.mpf(1) / 2

        def coefficients(minus: int) -> list[mpmath.mpf]:
            """The powers of w in (w + 1/2)^(plus - 1) (w - 1/2)^(minus - 1)."""
            a, b = n - minus - 1, minus - 1
            one = [mpmath.binomial(a, i) * half ** (a - i) for i in range(n)]
            two = [mpmath.binomial(b, i) * (-half) ** (b - i) for i in range(n)]
            return [mpmath.fsum(one[i] * two[j - i] for i in range(j + 1)) for j in range(n)]

        powers = [coefficients(minus) for minus in range(n + 1)]
        signs = [(mpmath.fsum(map(mpmath.fmul, shifts, c)), c.count(-1)) for c in product((1, -1), repeat=n)]

        def delta(level: mpmath.mpf) -> mpmath.mpf:
            total = mpmath.mpf(0)
            for place, minus in signs:
                if (x := place - level) > 0:
                    total += mpmath.fsum(
                        c * x ** (n - 1 - j) / mpmath.factorial(n - 1 - j)
                        for j, c in enumerate(powers[minus])
                    )
                    total += 2**n * mpmath.exp(x / 2) if minus == 0 else 0
                    total -= 2**n * mpmath.exp(-x / 2) if minus == n else 0
            return total * mpmath.exp((level - mpmath.fsum(shifts)) / 2) / 2**n

        sums = {Fraction(1): Fraction(1)}
        for leaf, k in finite:
            for _ in range(k):
                after: dict[Fraction, Fraction] = {}
                for ratio, mass in sums.items():
                    for p, q in zip(leaf.p, leaf.q, strict=True):
                        after[ratio * p / q] = after.get(ratio * p / q, Fraction(0)) + mass * p
                sums = after
        as_real = {r: mpmath.log(mpmath.mpf(r.numerator) / r.denominator) for r in sums}
        each = (mpmath.mpf(m.numerator) / m.denominator * delta(eps - as_real[r]) for r, m in sums.items())
        return mpmath.fsum(each)


near_a_lattice = st.builds(
    lambda n, digits, sign: 0.1 * n + sign * 10.0**-digits,
    st.integers(1, 7),
    st.integers(8, 15),
    st.sampled_from([-1, 1]),
)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.one_of(near_a_lattice, st.floats(0.01, 2.0)), st.integers(1, 2)), min_size=1, max_size=3
    ),
    st.lists(st.lists(st.integers(1, 10**6), min_size=4, max_size=4), max_size=2),
    st.floats(0, 1.05),
)
def test_laplace_and_finite_against_residues(
    laplace: list[tuple[float, int]], weights: list[list[int]], place: float
) -> None:
    """Also where finite losses reach below every sum of Laplace losses, and shifts nearly share a lattice."""
    finite = [
        (FiniteLoss((Fraction(a, a + b), Fraction(b, a + b)), (Fraction(c, c + d), Fraction(d, c + d))), 2)
        for a, b, c, d in weights
    ]
    loss = compose([*((LaplaceLoss(s), k) for s, k in laplace), *finite])
    eps = place * loss.max_divergence()
    low, high = loss.delta_bounds(eps)
    truth = laplace_and_finite(laplace, finite, eps)
    assert mpmath.mpf(float(low)) <= truth <= mpmath.mpf(float(high))
    assert high - low < 1e-10


def test_the_least_sum_of_laplace_losses_counts() -> None:
    """A finite loss may lift even the least sum of the Laplace losses, an atom, above epsilon."""
    sure = FiniteLoss((Fraction(999, 1000), Fraction(1, 1000)), (Fraction(1, 1000), Fraction(999, 1000)))
    loss = compose([(LaplaceLoss(0.5), 1), (LaplaceLoss(0.1 * math.pi), 1), (sure, 1)])
    low, high = loss.delta_bounds(0.0)
    assert contains((low, high), laplace_and_finite([(0.5, 1), (0.1 * math.pi, 1)], [(sure, 1)], 0.0), 15)
    assert low > 0.99


@pytest.mark.parametrize("delta", [1e-22, 1e-35, 1e-60])
def test_the_largest_loss_is_rounded_up(delta: float) -> None:
    """A tiny delta leaves next to nothing of epsilon but the largest loss, which is a rounded logarithm."""
    three = FiniteLoss(
        (Fraction(2, 3), Fraction(1, 3), Fraction(0)), (Fraction(1, 6), Fraction(5, 12), Fraction(5, 12))
    )
    two = FiniteLoss((Fraction(1, 9), Fraction(8, 9)), (Fraction(1, 33), Fraction(32, 33)))
    for leaf, k in ((three, 5), (two, 10), (two, 1)):
        low, high = (k * leaf).epsilon_bounds(delta)
        with mpmath.workdps(60):
            ratio = mpmath.mpf(4) if leaf is three else mpmath.mpf(11) / 3
            mass = (mpmath.mpf(2) / 3 if leaf is three else mpmath.mpf(1) / 9) ** k
            exact = k * mpmath.log(ratio) + mpmath.log1p(-delta / mass)
            assert mpmath.mpf(float(low)) <= exact <= mpmath.mpf(float(high))
        assert high - low < 1e-12


# The methods agree ------------------------------------------------------------------------------

CASES: dict[str, Parts] = {
    "20 Laplace": [(LaplaceLoss(0.3), 20)],
    "300 Laplace": [(LaplaceLoss(1.0), 300)],
    "two Laplace on a lattice": [(LaplaceLoss(0.2), 7), (LaplaceLoss(0.3), 4)],
    "two Laplace that share nothing": [(LaplaceLoss(0.2), 7), (LaplaceLoss(0.1 * math.pi), 4)],
    "Laplace and randomized response": [(LaplaceLoss(0.1), 9), (randomized_response(0.3), 5)],
    "Laplace, response and Gaussian": [
        (LaplaceLoss(0.5), 3),
        (randomized_response(0.7), 4),
        (GaussianLoss(0.8), 1),
    ],
    "two responses": [(randomized_response(0.4), 300), (randomized_response(0.6), 40)],
    "finite": [(FiniteLoss((0.5, 0.3, 0.2), (0.3, 0.3, 0.4)), 40), (FiniteLoss((0.6, 0.4), (0.5, 0.5)), 20)],
    "finite with infinite loss": [(FiniteLoss((0.5, 0.3, 0.1, 0.1), (0.3, 0.3, 0.4, 0.0)), 30)],
    "subsampled, removed": [(SubsampledGaussianLoss(0.05, 1.1), 400)],
    "subsampled, added": [(SubsampledGaussianLoss(0.05, 1.1, removed=False), 400)],
    "all kinds": [
        (SubsampledGaussianLoss(0.2, 1.5), 50),
        (LaplaceLoss(0.25), 6),
        (randomized_response(0.35), 8),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("parts", CASES.values(), ids=CASES)
def test_methods_agree(parts: Parts) -> None:
    loss = compose(parts)
    assert isinstance(loss, Composed)
    deviation = math.sqrt(sum(k * 2 * leaf.log_moment(1.0) for leaf, k in parts))
    middle = float(loss.log_moment(1.0)) - float(loss.log_moment(0.0))
    eps = np.maximum(middle + deviation * np.array([-3.0, -1.0, 0.3, 1.0, 2.5]), 0.0)
    eps = eps[eps < loss.top]
    found = {name: engine.bounds(eps) for name, engine in direct_engines(loss.parts)}
    answered = {name: ~np.isnan(low) for name, (low, _) in found.items()}
    assert sum(some.any() for some in answered.values()) >= 2
    for a, b in combinations(found, 2):
        both = answered[a] & answered[b]
        assert overlap(*((low[both], high[both]) for low, high in (found[a], found[b]))), (a, b)


@settings(max_examples=25)
@given(st.floats(0.02, 0.6), st.integers(2, 60), st.integers(1, 6), st.integers(1, 9))
def test_spline_knots_and_lattice_of_different_shifts(s: float, k: int, times: int, n: int) -> None:
    """Equal losses as a spline with matrix powers, and as one of many on knots."""
    eps = np.linspace(0, 0.95 * k * s, 7)
    equal, knotted = spline(LaplaceLoss(s), k), knots([(LaplaceLoss(s), k)], [])
    assert equal is not None
    assert knotted is not None
    assert overlap(equal.bounds(eps), knotted.bounds(eps))
    mixed = compose([(LaplaceLoss(s), n), (LaplaceLoss(times * s), 3)])
    more = compose([(mixed, 1), (LaplaceLoss(s), 1)])
    assert np.all(more.delta_bounds(eps)[1] >= mixed.delta_bounds(eps)[0])


def test_density_on_the_grid_against_closed_forms() -> None:
    eps = np.array([0.0, 0.5, 1.5])
    for pair, closed in (
        ((Laplace(0, 1), Laplace(0.5, 1)), LaplaceLoss(0.5)),
        ((Gaussian(0, 1), Gaussian(0.4, 1)), GaussianLoss(0.4)),
    ):
        low, high = (7 * DensityLoss(pair)).delta_bounds(eps)
        exact = (7 * closed).delta_bounds(eps)
        assert overlap((low, high), exact)
        assert np.all(high - low < 1e-5)


# Laws of composition ----------------------------------------------------------------------------

LEAVES: dict[str, PrivacyLoss] = {
    "Laplace": LaplaceLoss(0.2),
    "Gaussian": GaussianLoss(0.15),
    "randomized response": randomized_response(0.2),
    "subsampled": SubsampledGaussianLoss(0.1, 1.0),
    "asymmetric": FiniteLoss((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    "infinite": FiniteLoss((0.55, 0.44, 0.01), (0.45, 0.55, 0.0)),
}


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_monotone_in_k_epsilon_and_delta(leaf: PrivacyLoss) -> None:
    eps = np.linspace(0, 4, 9)
    steps = [(k * leaf).delta_bounds(eps) for k in (1, 2, 5, 20, 60)]
    for (low, high), (_, more) in pairwise(steps):
        assert np.all(low <= more)  # more releases, more loss
        assert np.all(np.diff(low) <= 1e-14 + (high - low)[1:])  # larger epsilon, smaller delta
    eps_low, eps_high = (20 * leaf).epsilon_bounds(np.array([1e-12, 1e-9, 1e-6, 1e-3, 0.3]))
    assert np.all(eps_low[1:] <= eps_high[:-1])


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_delta_and_epsilon_are_inverse(leaf: PrivacyLoss) -> None:
    loss = 20 * leaf
    for delta in (0.05, 0.2):
        low, high = loss.epsilon_bounds(delta)
        if math.isinf(low):
            assert loss.infinite > delta
            continue
        assert high - low < 1e-7
        assert loss.delta_bounds(high)[1] <= delta or high == 0
        assert loss.delta_bounds(low)[0] >= delta or low == 0


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_reversed_and_negative_epsilon(leaf: PrivacyLoss) -> None:
    """delta_PQ(-eps) = 1 - e^-eps + e^-eps delta_QP(eps)."""
    loss, back = 12 * leaf, (12 * leaf).reversed()
    for eps in (0.0, 0.3, 2.0):
        low, high = back.delta_bounds(eps)
        assert overlap(
            loss.delta_bounds(-eps),
            tuple(-math.expm1(-eps) + math.exp(-eps) * v for v in (low, high)),
        )
    assert np.allclose(loss.total_variation(), back.total_variation(), rtol=0, atol=1e-7)


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_the_rest_of_the_interface_adds_up(leaf: PrivacyLoss, rng: np.random.Generator) -> None:
    loss = 12 * leaf
    assert loss.kl() == pytest.approx(12 * leaf.kl())
    assert loss.renyi(3) == pytest.approx(12 * leaf.renyi(3))
    assert loss.infinite == pytest.approx(1 - (1 - leaf.infinite) ** 12)
    assert loss.max_divergence() == pytest.approx(12 * leaf.max_divergence())
    draws = loss.sample(rng, 20_000)
    for level in (-0.37, 0.1, 1.03):  # between the atoms
        share, expected = np.mean(draws > level), float(loss.tail(level))
        assert abs(share - expected) < 6 * math.sqrt(0.25 / 20_000)


def test_additivity() -> None:
    a, b, c = 3 * LaplaceLoss(0.3), 5 * randomized_response(0.2), GaussianLoss(0.5)
    eps = np.array([-1.0, 0.0, 0.5, 2.0])
    left, right = ((a + b) + c).delta_bounds(eps), (a + (b + c)).delta_bounds(eps)
    assert overlap(left, right)
    assert (a + b) + c == a + (b + c)
    assert 2 * (a + b) == a + b + a + b


def test_flattening_and_merging() -> None:
    response = randomized_response(0.1)
    loss = 2 * (3 * response + LaplaceLoss(0.5)) + response + GaussianLoss(3.0) + GaussianLoss(4.0)
    assert isinstance(loss, Composed)
    assert dict(loss.parts) == {response: 7, LaplaceLoss(0.5): 2, GaussianLoss(5.0): 1}
    assert 100 * GaussianLoss(0.1) == GaussianLoss(1.0)
    assert compose([(LaplaceLoss(0.0), 5), (response, 1)]) is response
    assert (5 * LaplaceLoss(0.0)).delta(0.0) <= 1e-15  # nothing was released
    assert compose([(response, 1)]) is response


def test_products_of_laws_compose() -> None:
    p, q = Product(Laplace([0, 0, 0], 2)), Product(Laplace([1, 1, 0], 2))
    loss = PrivacyLoss.between(p, q)
    assert overlap(loss.delta_bounds(0.3), (2 * LaplaceLoss(0.5)).delta_bounds(0.3))


def test_mixtures_of_two_gaussians_are_recognised() -> None:
    plain = Gaussian(0, 2.0)
    mixed = Mixture((0.9, 0.1), (plain, Gaussian(1, 2.0)))
    for p, q, removed in ((mixed, plain, True), (plain, mixed, False)):
        loss = PrivacyLoss.between(p, q)
        assert loss == SubsampledGaussianLoss(0.1, 2.0, removed)
        eps = np.array([-0.05, 0.0, 0.02, 0.1])
        slow = DensityLoss((p, q))
        assert overlap(loss.delta_bounds(eps), slow.delta_bounds(eps))
        assert np.allclose(loss.tail(eps), slow.tail(eps), atol=1e-12)
        assert loss.kl() == pytest.approx(slow.kl(), rel=1e-9)
        assert loss.renyi(2.5) == pytest.approx(slow.renyi(2.5), rel=1e-9)
    assert isinstance(PrivacyLoss.between(mixed, Gaussian(0, 1.0)), DensityLoss)


def test_discrete_laws_compose_on_their_lattice() -> None:
    laplace = PrivacyLoss.between(DiscreteLaplace(0, 10), DiscreteLaplace(1, 10))
    assert overlap((100 * laplace).delta_bounds(3.0), (100 * randomized_response(0.1)).delta_bounds(3.0))
    gauss = PrivacyLoss.between(DiscreteGaussian(0, 10), DiscreteGaussian(1, 10))
    low, high = (50 * gauss).epsilon_bounds(1e-6)
    assert high - low < 1e-8
    assert (50 * GaussianLoss(0.1)).epsilon(1e-6) == pytest.approx(high, rel=1e-5)  # h^2/24 apart, h = 0.01


# Edges ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_edges(leaf: PrivacyLoss) -> None:
    loss = 15 * leaf
    assert loss.epsilon_bounds(0.999999) == (0.0, 0.0)  # delta at or above total variation
    largest = loss.max_divergence()
    assert largest <= loss.epsilon(0.0) <= largest * (1 + 1e-13)
    assert largest * (1 - 1e-13) <= loss.epsilon_bounds(0.0)[0] <= largest
    variation = loss.total_variation()
    assert loss.epsilon_bounds(math.nextafter(variation, 1))[0] == 0.0
    if math.isfinite(loss.max_divergence()):
        assert loss.delta(loss.max_divergence() * 1.001) == 0.0
    assert loss.delta_bounds(-800.0)[1] <= 1.0
    assert np.shape(loss.delta(np.zeros((2, 3)))) == (2, 3)
    assert loss.method


def test_infinite_loss_mass() -> None:
    leaf = FiniteLoss((0.55, 0.44, 0.01), (0.45, 0.55, 0.0))
    loss = 30 * leaf
    assert loss.infinite == pytest.approx(1 - 0.99**30)
    assert loss.epsilon(0.2) == math.inf  # more than a fifth of the mass is out of reach
    low, high = loss.epsilon_bounds(0.3)
    assert 0 < low <= high < math.inf
    apart = FiniteLoss((1.0, 0.0), (0.0, 1.0))
    assert (apart + leaf).delta_bounds(5.0) == (pytest.approx(1.0), 1.0)
    assert (3 * apart).epsilon(0.5) == math.inf


@pytest.mark.parametrize("k", [0, -3, 2.0, "ten", True])
def test_bad_counts(k: Any) -> None:
    with pytest.raises(BadInput, match=r"k = .* whole number of at least 1"):
        k * LaplaceLoss(0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FiniteLoss((0.5, 0.6), (0.5, 0.5)), "p = .* probabilities that add up to 1"),
        (lambda: FiniteLoss((0.5, 0.5), (1.5, -0.5)), "q = .* probabilities that add up to 1"),
        (lambda: FiniteLoss((0.5, 0.5), (1.0,)), "q = .* as long as p, which has 2 outcomes"),
        (lambda: (5 * LaplaceLoss(0.1)).delta(math.nan), "epsilon = nan .* a number"),
        (lambda: 5 * LaplaceLoss(1e6), "shift = 1000000.0 .* at most 10000 to be composed"),
    ],
)
def test_laws_and_numbers_that_make_no_sense(call: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()


def test_losses_beyond_all_reason() -> None:
    """Next to no noise, none at all, or noise that hides everything: still a bracket, and no warning."""
    for loss, least, most in (
        (3 * LaplaceLoss(1000.0), 0, 3000.001),
        (2 * LaplaceLoss(150.0), 299.999, 300),
        (LaplaceLoss(150.0) + LaplaceLoss(0.1), 150.0999, 150.1),
        (1000 * LaplaceLoss(1e-12), 0, 1.001e-9),
    ):
        low, high = loss.epsilon_bounds(1e-6 if most > 1 else 1e-16)
        assert least <= low <= high <= most
    assert (5 * LaplaceLoss(math.inf)).epsilon(0.1) == math.inf
    assert (LaplaceLoss(0.1) + GaussianLoss(math.inf)).delta_bounds(3.0) == (pytest.approx(1.0), 1.0)


def test_an_empty_composition_is_an_error() -> None:
    with pytest.raises(BadInput, match="at least one loss to compose"):
        compose([])


def test_tiny_deltas() -> None:
    """delta = 1e-30 and far below, with all digits, where a plain double accountant returns infinity."""
    low, high = (1000 * LaplaceLoss(0.1)).epsilon_bounds(1e-200)
    assert high - low < 1e-10
    low, high = (1000 * randomized_response(0.1)).epsilon_bounds(1e-200)
    assert high - low < 1e-10
    low, high = (1000 * SubsampledGaussianLoss(0.01, 1.0)).epsilon_bounds(1e-30)
    assert high - low < 1e-9
    low, high = (200 * FiniteLoss((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))).epsilon_bounds(1e-30)
    assert high - low < 1e-6


def test_million_steps() -> None:
    low, high = (10**6 * randomized_response(0.01)).epsilon_bounds(1e-6)
    assert high - low < 1e-8
    low, high = (10**6 * LaplaceLoss(0.01)).epsilon_bounds(1e-6)
    assert high - low < 1e-8


def test_the_last_method_takes_anything() -> None:
    *_, last = candidates([(LaplaceLoss(0.1), 3)])
    assert isinstance(last, Grid)
