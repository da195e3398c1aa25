"""Sparse vector: exact laws against outside quadrature, worst cases against search, every broken version."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcourse as dp
from dpcourse.audit import audit
from dpcourse.contract import Case, faults
from dpcourse.errors import BadInput
from dpcourse.guarantees import PureDP
from dpcourse.interactive import sparse_vector as sv
from dpcourse.interactive.sparse_vector.broken import _line
from dpcourse.neighbours import REPLACE_ONE

SOUND = [
    sv.above_threshold(1.0),
    sv.standard(1.0, 2),
    sv.standard(0.7, 3, share=sv.best_share(3)),
    sv.standard(1.0, 2, monotone=True),
    sv.standard(1.0, 2, threshold=3.0, sensitivity=2.0),
    sv.refreshed(1.0, 2),
]
NUMERIC = [sv.standard(1.0, 2, answers=0.3), sv.standard(1.0, 2, answers=0.4, monotone=True)]
UNSOUND = [sv.EXHIBITS[name](3).variant for name in sv.EXHIBITS]
EVERY = [*SOUND, *NUMERIC, *UNSOUND]
INDICATORS = [v for v in EVERY if v.releases == "indicator"]


def by_name(variant):
    return variant.name


def reached(variant, noes, yeses, values, moved):
    """The exact log-ratio of noes, then yeses; one value for each kind in each world."""
    low, high = sv.log_ratio_bounds(*_fields(_line(variant, noes, yeses, values, moved)))
    assert high - low < 1e-10
    return low


def _fields(exhibit):
    return exhibit.variant, exhibit.left, exhibit.right, exhibit.output


# The reference table -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cutoff", "noes", "expected", "within"),
    [
        (1, 1, 0.396, 5e-4),
        (1, 10, 0.994, 5e-4),
        (1, 100, 1.0, 5e-5),
        (3, 10, 0.8545, 5e-5),
        (3, 100, 1.0, 5e-5),
    ],
)
def test_the_sound_technique_tends_to_its_claim_from_below(cutoff, noes, expected, within):
    found = reached(sv.standard(1.0, cutoff), noes, cutoff, (0, 1), (1, 0))
    assert found == pytest.approx(expected, abs=within)
    assert found < 1


def test_a_refreshed_threshold_spends_a_third_in_each_of_three_epochs():
    v, one = sv.refreshed(1.0, 3), (0.0,) * 300 + (1.0,)
    moved = (1.0,) * 300 + (0.0,)
    output = (False,) * 300 + (True,)
    assert sv.log_ratio_bounds(v, 3 * one, 3 * moved, 3 * output)[0] == pytest.approx(1.0, abs=5e-5)
    single = replace(v, cutoff=1)
    assert sv.log_ratio_bounds(single, one, moved, output)[0] == pytest.approx(1 / 3, abs=5e-5)


@pytest.mark.parametrize("m", [1, 10, 100])
def test_a_released_tested_value_leaks_without_bound(m):
    assert sv.EXHIBITS["tested value"](m).log_ratio() == pytest.approx((m - 1) / 2, abs=1e-9)


@pytest.mark.parametrize("c", [1, 2, 5, 10, 50])
def test_unscaled_query_noise(c):
    found = reached(sv.lee_clifton(1.0, c), 100, c, (0, -39), (1, -40))
    assert found == pytest.approx((1 + 6 * c) / 4, abs=1e-6)


@pytest.mark.parametrize(("c", "expected"), [(1, 1.0), (2, 1.75), (5, 4.0)])
def test_unscaled_query_noise_for_monotone_queries(c, expected):
    found = reached(sv.lee_clifton(1.0, c, monotone=True), 100, c, (0, -39), (1, -39))
    assert found == pytest.approx(expected, abs=1e-9)


def test_no_query_noise_has_an_impossible_output():
    found = sv.EXHIBITS["no query noise"](1)
    assert math.exp(sv.log_prob(found.variant, found.left, found.output)) == pytest.approx(
        0.19673467, abs=1e-8
    )
    assert sv.log_prob(found.variant, found.right, found.output) == -math.inf
    assert found.log_ratio() == math.inf


@pytest.mark.parametrize(("m", "expected"), [(1, 0.820), (2, 1.704), (5, 4.486), (10, 9.276), (100, 98.4)])
def test_no_cutoff(m, expected):
    assert sv.EXHIBITS["no cutoff"](m).log_ratio() == pytest.approx(expected, abs=0.05 if m == 100 else 5e-4)


@pytest.mark.parametrize("m", [10, 100])
def test_an_exact_threshold_pays_for_every_no(m):
    assert sv.EXHIBITS["exact threshold"](m).log_ratio() == pytest.approx(m / 4)


@pytest.mark.parametrize("m", [1, 10, 100])
def test_a_redrawn_threshold_pays_for_every_no(m):
    assert sv.EXHIBITS["redrawn threshold"](m).log_ratio() == pytest.approx(0.1789 * m, abs=5e-5 * m)


@pytest.mark.parametrize("name", ["missing factor two", "cutoff off by two"])
def test_half_an_epsilon_too_much(name):
    assert sv.EXHIBITS[name](1000).log_ratio() == pytest.approx(1.5, abs=5e-5)


@pytest.mark.parametrize(("m", "delta"), [(10**3, 8.4e-8), (10**4, 2.97e-2), (10**5, 0.539)])
def test_without_a_halt_delta_grows_to_one(m, delta):
    v = sv.without_halting(1.0, 1e-6)
    assert v.query_scale == v.answer_scale == pytest.approx(185.4, abs=0.05)
    low, high = sv.delta_without_halting(v, m, 1.0)
    assert low == pytest.approx(delta, rel=0.005)
    assert 0 < high - low < 1e-4 * high


def test_the_scale_of_the_slides_grows_like_a_root():
    growth = [
        math.log10(sv.slide_scale(1, 1e-6, 10 * k) / sv.slide_scale(1, 1e-6, k))
        for k in (10, 100, 1000, 10**4)
    ]
    assert growth == pytest.approx([0.44, 0.493, 0.4993, 0.5], abs=1e-3)


EVENTS = [
    (sv.stoddard(1.0), (0, 1), (1, 0), (False, True), 0.1967, 0.0),
    (sv.chen(1.0), (0, 0, 0, 0), (1, 1, -1, -1), (False, False, True, True), 0.0333, 0.00606),
    (sv.lee_clifton(1.0, 2), (0, 0, 1, 1), (1, 1, 0, 0), (False, False, True, True), 0.0412, 0.00462),
    (sv.exact_threshold(1.0), (0,) * 5, (1,) * 5, (False,) * 5, 0.03125, 0.00895),
    (sv.roth_2011(1.0), (0,) * 6, (1,) * 5 + (0,), (False,) * 5 + ((-2, 1),), 0.00190, 0.0001803),
]


@pytest.mark.parametrize(
    ("variant", "left", "right", "output", "p", "q"), EVENTS, ids=[e[0].name for e in EVENTS]
)
def test_events_for_graders(variant, left, right, output, p, q, rng):
    """Events that samples can show: their probabilities, and each breaks the claim of epsilon = 1."""
    law = sv.Watched(sv.SparseVector(variant), output)
    found = [law.law(stream).prob(True) for stream in (left, right)]
    assert found == pytest.approx([p, q], rel=3e-3)
    assert found[0] > math.e * found[1]
    assert {f.rule for f in faults(Case("watched", law, ((left, right),)), rng)} == {"promise"}


# The integral against other ways -----------------------------------------------------------------------


def closed_form(variant, stream, output):
    """The defining integral, term by term: on each piece it is a sum of exponentials, here with 80 digits."""
    with mpmath.workdps(80):
        return _closed_form(variant, stream, output)


def _closed_form(variant, stream, output):
    a, b = mpmath.mpf(variant.threshold_scale), mpmath.mpf(variant.query_scale)
    gaps = [mpmath.mpf(float(q)) - mpmath.mpf(variant.threshold) for q in stream]
    knots = sorted({mpmath.mpf(0), *gaps})
    total = mpmath.mpf(0)
    for left, right in itertools.pairwise([-mpmath.inf, *knots, mpmath.inf]):
        middle = (left + right) / 2
        terms = {(1 if middle < 0 else -1, 0): 1 / (2 * a)}  # coefficients of e^{(i/a + j/b) z}
        for gap, said in zip(gaps, output, strict=False):
            way = -1 if said else 1  # a yes is a no of the mirrored line
            far = way * (middle - gap) < 0
            sign = way if far else -way
            tail = mpmath.exp(-sign * gap / b) / 2
            grown = {} if far else dict(terms)
            for (i, j), value in terms.items():
                grown[i, j + sign] = grown.get((i, j + sign), 0) + (tail if far else -tail) * value
            terms = grown
        for (i, j), value in terms.items():
            rate = i / a + j / b
            if not rate:
                total += value * (right - left)
            else:
                ends = [mpmath.exp(rate * z) if abs(z) < mpmath.inf else 0 for z in (left, right)]
                total += value * (ends[1] - ends[0]) / rate
    return float(mpmath.log(total))


@given(
    st.sampled_from([sv.standard(1.0, 2), sv.lee_clifton(2.0, 3), sv.chen(0.8), SOUND[4]]),
    st.lists(st.floats(-50, 50) | st.sampled_from((0.0, 1.0, 1e-3)), min_size=1, max_size=7),
    st.data(),
)
def test_bounds_hold_the_closed_form(variant, stream, data):
    output = data.draw(st.sampled_from(sv.strings(variant, len(stream))))
    low, high = sv.log_prob_bounds(variant, stream, output)
    assert low <= closed_form(variant, stream, output) <= high
    assert high - low < 1e-11


def test_symmetry_gives_whole_fractions():
    """Equal noise: all orders of threshold and queries are equally likely, so 2!2!/5! and the like."""
    for noes, yeses in itertools.product(range(4), repeat=2):
        if noes + yeses:
            output = (False,) * noes + (True,) * yeses
            found = math.exp(sv.log_prob(sv.chen(1.0), (0,) * (noes + yeses), output))
            expected = math.factorial(noes) * math.factorial(yeses) / math.factorial(noes + yeses + 1)
            assert found == pytest.approx(expected, rel=1e-13)


@given(st.sampled_from(INDICATORS), st.lists(st.floats(-9, 9), min_size=1, max_size=6))
def test_outputs_share_all_the_mass(variant, stream):
    logs, errors = sv.log_probs(variant, stream, sv.strings(variant, len(stream)))
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)
    assert errors.max() < 1e-11


@settings(max_examples=25)
@given(st.sampled_from([*NUMERIC, sv.roth_2011(1.0), sv.roth_2011(2.0, 2)]), st.data())
def test_values_share_the_mass_of_a_yes(variant, data):
    """Cells of released values add up to the yes, and the density integrates to a cell."""
    stream = data.draw(st.lists(st.floats(-4, 4), min_size=2, max_size=4))
    said = data.draw(st.sampled_from([s for s in sv.strings(variant, len(stream)) if any(s)]))
    cut = data.draw(st.floats(-8, 8))
    place = said.index(True)

    def chance(answer):
        output = tuple(answer if i == place else s for i, s in enumerate(said))
        return math.exp(sv.log_prob(variant, stream, output))

    whole = chance(True)
    assert chance((-math.inf, cut)) + chance((cut, math.inf)) == pytest.approx(whole, rel=1e-10)
    assert chance((-math.inf, math.inf)) == pytest.approx(whole, rel=1e-10)
    knots = sorted({cut, cut + 1, *(q for q in (*stream, variant.threshold) if cut < q < cut + 1)})
    x, w = np.polynomial.legendre.leggauss(8)
    mass = 0.0
    for a, b in itertools.pairwise(knots):
        mass += (b - a) / 2 * float(w @ [chance(float(y)) for y in (a + b) / 2 + (b - a) / 2 * x])
    assert chance((cut, cut + 1)) == pytest.approx(mass, rel=1e-7, abs=1e-13)


def test_several_released_intervals_by_inclusion_and_exclusion():
    v, stream = sv.roth_2011(1.0, 2), (0.5, -1.0)
    cells = [(-math.inf, -1), (-1, 0.5), (0.5, 2), (2, math.inf)]
    found = [math.exp(sv.log_prob(v, stream, pair)) for pair in itertools.product(cells, repeat=2)]
    assert sum(found) == pytest.approx(math.exp(sv.log_prob(v, stream, (True, True))), rel=1e-10)


def test_long_streams_of_different_values_fit_in_memory(monkeypatch):
    rng = np.random.default_rng(3)
    stream, v = rng.normal(size=150) * 5, sv.standard(1.0, 40)
    output = tuple((rng.random(150) < 0.2).tolist())
    assert sum(output) < 40
    whole = sv.log_prob_bounds(v, stream, output)
    monkeypatch.setattr("dpcourse.interactive.sparse_vector.integral._VALUES", 20_000)
    assert sv.log_prob_bounds(v, stream, output) == pytest.approx(whole, abs=1e-11)
    assert whole[1] - whole[0] < 1e-11
    # Equal queries share a column: the same stream, rounded, in any order of equal answers.
    same = [(round(q), said) for q, said in zip(stream, output, strict=True)]
    first, second = ([list(x) for x in zip(*order, strict=True)] for order in (same, sorted(same)))
    assert sv.log_prob(v, first[0], tuple(first[1])) == pytest.approx(
        sv.log_prob(v, second[0], tuple(second[1]))
    )


def test_far_streams_keep_their_digits():
    """A probability of about e^-50000, and its ratio to a neighbour's, exactly m/b."""
    v, m = sv.exact_threshold(1.0), 100
    assert sv.log_prob(v, (2000.0,) * m, (False,) * m) == pytest.approx(-m * (500 + math.log(2)))
    w = sv.standard(1.0)
    low, high = sv.log_ratio_bounds(w, (4e4,) * m, (4e4 + 1,) * m, (False,) * m)
    assert low <= 0.5 <= high
    assert high - low < 1e-6


@pytest.mark.parametrize("variant", EVERY, ids=by_name)
def test_simulation_agrees_with_the_exact_law(variant, rng):
    stream, runs = (0.5, -1.0, 1.5), 20_000
    found = Counter(tuple(a is not False for a in run) for run in sv.simulate(variant, stream, rng, runs))
    outputs = sv.strings(variant, 3)
    logs, _ = sv.log_probs(variant, stream, outputs)
    assert set(found) <= set(outputs)
    gap = math.sqrt(math.log(2e6) / (2 * runs))  # Hoeffding, a false alarm once in a million
    for output, log in zip(outputs, logs, strict=True):
        assert abs(found[output] / runs - math.exp(log)) < gap


# The worst case ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", EVERY, ids=by_name)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 6, 10, 40])
def test_the_worst_case_is_reached(variant, length):
    found = sv.worst(variant, length)
    assert variant.are_neighbours(found.left, found.right)
    assert len(found.left) == length
    if math.isinf(found.epsilon):
        assert found.reached == math.inf
    else:
        assert found.epsilon - 5e-6 < found.reached <= found.epsilon + 1e-9


@pytest.mark.parametrize("variant", INDICATORS, ids=by_name)
def test_no_stream_of_a_search_is_worse(variant):
    """All outputs of random neighbouring streams, at many heights: none above the closed form."""
    rng = np.random.default_rng(8)
    for length in (1, 2, 3, 5):
        bound = sv.worst(variant, length).epsilon
        outputs = sv.strings(variant, length)
        best = 0.0
        for _ in range(12):
            left = variant.threshold + rng.normal(size=length) * rng.choice([0.5, 3, 20])
            sides = rng.choice([-1, 1], length) if not variant.monotone else rng.choice([-1, 1])
            right = left + variant.sensitivity * sides * rng.choice([0, 1], length, p=[0.2, 0.8])
            p, q = (sv.log_probs(variant, stream, outputs)[0] for stream in (left, right))
            possible = p > -np.inf
            best = max(best, float((p[possible] - q[possible]).max()))
        assert best <= bound + 1e-9


@given(st.floats(0.3, 5), st.floats(0.3, 5), st.integers(1, 4), st.integers(1, 12), st.sampled_from((1, 2)))
def test_the_ceiling_is_exact_for_any_scales(a, b, cutoff, length, way):
    redraw = ("never", "after yes")[way - 1]
    v = sv.Variant("any", PureDP(1.0), a, b, cutoff, redraw=redraw)
    found = sv.worst(v, length)
    assert found.epsilon - 1e-4 < found.reached <= found.epsilon + 1e-9


def test_epsilon_at_any_length():
    for variant in (*SOUND, *NUMERIC):
        assert sv.epsilon_at_any_length(variant) <= variant.claim.epsilon(0) * (1 + 1e-12)
    assert sv.epsilon_at_any_length(sv.standard(0.7, 4)) == pytest.approx(0.7)
    assert sv.epsilon_at_any_length(sv.standard(0.7, 4, monotone=True)) == pytest.approx(0.7)
    # Monotone with values: a query that rises shows it in its value, or in the tests, not in both.
    assert sv.epsilon_at_any_length(sv.standard(1.0, 3, answers=0.4, monotone=True)) == pytest.approx(0.7)
    assert sv.epsilon_at_any_length(sv.lee_clifton(1.0, 10)) == 15.25
    for name in ("tested value", "no query noise", "no cutoff", "exact threshold", "redrawn threshold"):
        assert sv.epsilon_at_any_length(sv.EXHIBITS[name](2).variant) == math.inf


@pytest.mark.parametrize("name", sv.EXHIBITS)
def test_every_broken_version_breaks_its_claim(name):
    for m in (30, 60):
        exhibit = sv.EXHIBITS[name](m)
        assert exhibit.variant.name == name
        assert exhibit.variant.are_neighbours(exhibit.left, exhibit.right)
        assert exhibit.log_ratio() > 1.01 * exhibit.variant.claim.epsilon(0)


@pytest.mark.parametrize("cutoff", [1, 3, 10])
@pytest.mark.parametrize("monotone", [False, True])
def test_best_share_minimises_the_noise_of_a_test(cutoff, monotone):
    def variance(share):
        v = sv.standard(1.0, cutoff, share=share, monotone=monotone)
        return v.threshold_scale**2 + v.query_scale**2

    best = sv.best_share(cutoff, monotone)
    assert all(variance(best) <= variance(share) for share in np.linspace(0.02, 0.98, 97))


# As mechanisms, in the contract, the audit and the game ------------------------------------------------

PAIRS = (((0, 1, 0), (1, 0, 1)), ((2, -3, 1), (3, -2, 0)))
RISING = (((0, 1, 0), (1, 2, 1)), ((2, -3, 1), (2, -2, 1)))


def cases(variant):
    pairs = RISING if variant.monotone else PAIRS
    scaled = tuple(tuple(tuple(v * variant.sensitivity for v in side) for side in pair) for pair in pairs)
    return Case(variant.name, sv.SparseVector(variant), scaled)


@pytest.mark.parametrize("variant", SOUND, ids=by_name)
def test_sound_variants_pass_the_contract(variant, rng):
    assert faults(cases(variant), rng) == []


BROKEN = [
    Case(
        "unscaled noise", sv.SparseVector(sv.lee_clifton(1.0, 3)), (((0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)),)
    ),
    Case("no query noise", sv.SparseVector(sv.stoddard(1.0)), (((0, 1), (1, 0)),)),
    Case("no cutoff", sv.SparseVector(sv.chen(1.0)), (((0, 0, 0, 0), (1, 1, -1, -1)),)),
    Case("exact threshold", sv.SparseVector(sv.exact_threshold(1.0)), (((0,) * 6, (1,) * 6),)),
    Case("redrawn threshold", sv.SparseVector(sv.redrawn_threshold(1.0)), (((0,) * 8, (1,) * 8),)),
    Case(
        "missing factor two",
        sv.SparseVector(sv.missing_factor_two(1.0)),
        (((9,) * 8 + (-9,), (10,) * 8 + (-10,)),),
    ),
    Case(
        "cutoff off by two",
        sv.SparseVector(sv.late_cutoff(1.0)),
        (((9,) * 9 + (-9,) * 2, (10,) * 9 + (-10,) * 2),),
    ),
    Case(
        "tested value",
        sv.Watched(sv.SparseVector(sv.roth_2011(1.0)), (False,) * 5 + ((-2, 1),)),
        (((0,) * 6, (1,) * 5 + (0,)),),
    ),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_broken_variants_are_caught_for_their_promise(case, rng):
    assert {fault.rule for fault in faults(case, rng)} == {"promise"}


def test_a_stream_of_ten_uses_the_whole_promise(rng):
    stream = ((100,) * 9 + (-100,), (101,) * 9 + (-101,))
    assert faults(Case("long", sv.SparseVector(sv.above_threshold(1.0)), (stream,), tight=True), rng) == []


def test_numeric_versions_keep_their_word_on_every_cell(rng):
    v = NUMERIC[0]
    cells = (False, (-math.inf, 0.0), (0.0, 2.0), (2.0, math.inf))
    for output in itertools.product(cells, repeat=2):
        low, high = sv.log_ratio_bounds(v, (0, 1), (1, 0), output)
        assert max(abs(low), abs(high)) < 1
    watched = sv.Watched(sv.SparseVector(v), (False, (0.0, 2.0)))
    assert faults(Case("watched", watched, (((0, 1), (1, 0)),)), rng) == []


def test_the_loss_of_a_pair_survives_underflow():
    m = sv.SparseVector(sv.standard(1.0))
    left, right = (-4000.0,) * 3, (-4001.0,) * 3
    loss = m.loss(left, right)
    assert loss.max_divergence() <= 1
    near = m.loss((0, 1, 0), (1, 0, 1))
    assert near.max_divergence() == pytest.approx(
        dp.PrivacyLoss.between(*near.pair).max_divergence(), rel=1e-12
    )
    with pytest.raises(BadInput, match="work in logarithms"):
        m.law(left)


def test_queries_of_a_dataset():
    m = sv.SparseVector(sv.standard(1.0), queries=lambda data: (len(data), sum(data)))
    assert m.are_neighbours((1, 1), (1,))
    assert not m.are_neighbours((1, 1), ())
    direct = sv.SparseVector(sv.standard(1.0)).law((2, 2))
    assert m.law((1, 1)) == direct
    assert m.losses((False, False), (1, 1), (1,)) == pytest.approx(m.loss((1, 1), (1,)).at((False, False)))


def test_an_audit_certifies_the_leak(rng):
    m = sv.SparseVector(sv.stoddard(1.0))
    found = audit(m, (0, 1), (1, 0), rng, samples=4000)
    assert found.bound.epsilon > 1
    assert found.exact == math.inf
    sound = audit(sv.SparseVector(sv.standard(1.0)), (0, 1), (1, 0), rng, samples=20_000)
    assert sound.consistent


class Asker:
    """Asks about the number of rows, at heights that depend on the answers, then guesses."""

    def __init__(self, mechanism, queries):
        self.mechanism, self.queries = mechanism, queries

    def __call__(self, view):
        if not len(view):
            return dp.Open(self.mechanism, (0,), (0, 0))
        if len(view) <= self.queries:
            shift = sum(answer is False for answer in view.answers[1:])
            return dp.Ask(0, lambda data: len(data) - 1 - shift)
        return dp.Guess(int(view.last is not False))


@pytest.mark.parametrize("variant", [SOUND[1], SOUND[5], NUMERIC[0], *UNSOUND[:3]], ids=by_name)
def test_sessions_halt_and_follow_the_law(variant, rng):
    """A conversation with fixed queries has the law of the whole stream."""
    session, stream, runs = sv.SparseVectorSession(variant), (0.5, -1.0, 1.5), 2000
    found: Counter[tuple[bool, ...]] = Counter()
    for _ in range(runs):
        state, said = session.begin(None).sample(rng), []
        for value in stream:
            law = session.answer(None, state, lambda _, value=value: value)
            answer = (law.to_finite() or law).sample(rng)
            answer = answer.item() if isinstance(answer, np.generic) else answer
            state = session.after(state, None, answer)
            if answer is None:
                break
            assert answer is False or law.log_prob(answer) > -math.inf
            said.append(answer is not False)
        found[tuple(said)] += 1
    outputs = sv.strings(variant, 3)
    logs, _ = sv.log_probs(variant, stream, outputs)
    gap = math.sqrt(math.log(2e6) / (2 * runs))
    assert set(found) <= set(outputs)
    assert all(abs(found[o] / runs - math.exp(log)) < gap for o, log in zip(outputs, logs, strict=True))


def test_a_session_with_a_redrawn_threshold_answers_by_its_marginal():
    session = sv.SparseVectorSession(sv.redrawn_threshold(1.0))
    law = session.answer(None, session.begin(None).sample(np.random.default_rng(0)), lambda _: 0.7)
    logs, _ = sv.log_probs(session.variant, (0.7,), [(True,)])
    assert law.prob(True) == pytest.approx(math.exp(logs[0]))


def test_the_game_plays_it(rng):
    session = sv.SparseVectorSession(sv.standard(1.0, 2))
    played = dp.Game(rounds=8).play(Asker(session, 6), 1, rng)
    assert set(played.transcript.answers[1:]) <= {True, False, None}
    assert session.guarantee == PureDP(1.0)
    exact = dp.Game(rounds=5).exact(Asker(sv.SparseVectorSession(sv.exact_threshold(1.0)), 4))
    assert exact.loss.max_divergence() > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sv.standard(0.0), "epsilon = 0.0"),
        (lambda: sv.standard(1.0, 0), "cutoff = 0"),
        (lambda: sv.standard(1.0, share=0.0), "share = 0.0"),
        (lambda: sv.standard(1.0, answers=1.0), "answers = 1.0"),
        (lambda: sv.standard(1.0, monotone=True, adjacency=REPLACE_ONE), "monotone = True"),
        (lambda: sv.Variant("x", PureDP(1), 1, 1, releases="fresh value"), "answer_scale = 0"),
        (lambda: sv.Variant("x", PureDP(1), 1, 0, releases="tested value"), "query noise"),
        (lambda: sv.Variant("x", PureDP(1), 1, 1, redraw="sometimes"), "redraw = 'sometimes'"),
        (lambda: sv.Variant("x", PureDP(1), -1, 1), "threshold_scale = -1"),
        (lambda: sv.log_prob(sv.standard(1.0), (0, 0), (False,)), "one answer for each of the 2 queries"),
        (lambda: sv.log_prob(sv.standard(1.0), (0, 0), (True, True)), "at most 2 answers with 1 yeses"),
        (lambda: sv.log_prob(sv.standard(1.0), (0,), (0.5,)), "only True and False"),
        (lambda: sv.log_prob(sv.standard(1.0), (0,), "no"), "a tuple of answers"),
        (lambda: sv.log_prob(sv.standard(1.0), (math.nan,), (True,)), "a vector of finite query values"),
        (lambda: sv.log_prob(sv.standard(1.0), ("a",), (True,)), "a vector of finite query values"),
        (lambda: sv.log_ratio_bounds(sv.standard(1.0), (0,), (0, 1), (True,)), "a stream as long as left"),
        (lambda: sv.strings(sv.chen(1.0), 20), "short enough for 65536 outputs"),
        (lambda: sv.worst(sv.chen(1.0), 0), "length = 0"),
        (lambda: sv.SparseVector(NUMERIC[0]).law((0, 1)).cdf(0), "on numbers for a cdf"),
        (lambda: sv.Watched(sv.SparseVector(NUMERIC[0]), (0.5, False)).law((0, 1)), "a single number has"),
        (lambda: sv.delta_without_halting(sv.standard(1.0), 10, 1.0), "independent answers"),
        (lambda: sv.slide_scale(1.0, 0.0), "delta = 0.0"),
        (lambda: sv.standard([1.0, 2.0]), "epsilon = [1.0, 2.0]"),
        (lambda: sv.standard(1.0, threshold=math.nan), "threshold = nan"),
        (lambda: sv.standard(1.0, threshold="high"), "threshold = 'high'"),
        (lambda: sv.standard(1.0, sensitivity="one"), "sensitivity = 'one'"),
        (lambda: sv.log_prob(NUMERIC[0], (0,), ("a",)), "a number or an interval"),
        (lambda: sv.log_prob(NUMERIC[0], (0,), (math.nan,)), "a number or an interval"),
        (lambda: sv.log_prob(NUMERIC[0], (0,), ((3, 1),)), "a number or an interval"),
        (
            lambda: sv.delta_without_halting(sv.without_halting(1.0, 1e-6), 9, 1.0, (0.0, 0.0)),
            "two different gaps",
        ),
        (lambda: sv.delta_without_halting(sv.without_halting(1.0, 1e-6), 9, 1.0, cells=0), "cells = 0"),
        (
            lambda: sv.SparseVectorSession(replace(sv.refreshed(1.0), cutoff=None)).begin(None),
            "cutoff = None",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(BadInput, match="breaks a rule") as caught:
        call()
    assert message in str(caught.value)
