"""Audits: confidence that is kept, certificates that agree with exact numbers, attacks that are judged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput, PrivacyLoss, laws, zoo
from dpcourse.audit import (
    Above,
    Below,
    Between,
    Box,
    advantage_interval,
    audit,
    break_it,
    certify,
    clopper_pearson,
    delta_lower_bound,
    epsilon_lower_bound,
    hockey_stick_interval,
    roc,
)
from dpcourse.guarantees import GDP, RDP, ApproxDP, PureDP
from dpcourse.mechanisms import (
    BinCounts,
    Custom,
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    LaplaceMechanism,
    NoisyMax,
    PostProcessed,
    RandomizedResponse,
    TwoCoins,
    histogram,
)
from dpcourse.neighbours import REPLACE_ONE

BROKEN = {case.name: case for case in zoo.broken()}
SOUND = {case.name: case for case in zoo.sound()}


def laplace_losses(rng, n, epsilon=1.0):
    """Losses in both worlds, n in each."""
    p, q = laws.Laplace(0, 1), laws.Laplace(epsilon, 1)
    return tuple(p.log_prob(y) - q.log_prob(y) for y in (p.sample(rng, n), q.sample(rng, n)))


# Confidence ---------------------------------------------------------------------------------------


@given(st.integers(1, 10**6), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.99, 0.999, 1 - 1e-6]))
def test_clopper_pearson_agrees_with_scipy(n, share, confidence):
    hits = round(share * n)
    expected = scipy.stats.binomtest(hits, n).proportion_ci(confidence, "exact")
    assert clopper_pearson(hits, n, confidence) == pytest.approx((expected.low, expected.high), rel=1e-6)


def test_clopper_pearson_at_the_ends_and_on_arrays():
    assert clopper_pearson(0, 10)[0] == 0.0
    assert clopper_pearson(10, 10)[1] == 1.0
    low, high = clopper_pearson([0, 5, 10], 10, 0.9)
    assert low.tolist() == sorted(low)
    assert (low <= [0, 0.5, 1]).all()
    assert (high >= [0, 0.5, 1]).all()


@pytest.mark.parametrize("p", [0.001, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_clopper_pearson_covers_every_probability(p, confidence):
    n = 200
    low, high = clopper_pearson(np.arange(n + 1), n, confidence)
    covered = (low <= p) & (p <= high)
    assert scipy.stats.binom.pmf(np.arange(n + 1), n, p)[covered].sum() >= confidence


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clopper_pearson(11, 10), "hits = 11 breaks a rule: it must be between 0 and the 10 trials"),
        (lambda: clopper_pearson(1, 0), "trials = 0 breaks a rule"),
        (
            lambda: clopper_pearson(1, 10, 1.0),
            "confidence = 1.0 breaks a rule: it must be above 0 and below 1",
        ),
        (lambda: epsilon_lower_bound([0.0] * 9, [math.nan] * 9), "scores_q = .* must be free of NaN"),
        (lambda: epsilon_lower_bound([0.0], [1.0] * 9), "scores_p = .an array of shape .* at least 4 scores"),
        (
            lambda: epsilon_lower_bound(["yes"] * 9, [0.0] * 9),
            "scores_p = .* must be numbers, one for each run",
        ),
        (lambda: epsilon_lower_bound([0.0] * 9, [1.0] * 9, choose=0.9), "choose = 0.9 breaks a rule"),
        (lambda: epsilon_lower_bound([0.0] * 9, [1.0] * 9, delta=1.0), "delta = 1.0 breaks a rule"),
        (lambda: delta_lower_bound([0.0] * 9, [1.0] * 9, epsilon=-1), "epsilon = -1 breaks a rule"),
    ],
)
def test_bad_input_is_refused_with_reasons(call, message):
    with pytest.raises(BadInput, match=message):
        call()


# Lower bounds from samples ------------------------------------------------------------------------


def test_a_million_laplace_samples_certify_098():
    found = [
        epsilon_lower_bound(*laplace_losses(np.random.default_rng(i), 500_000)).epsilon for i in range(5)
    ]
    assert np.median(found) >= 0.985
    assert min(found) >= 0.975
    assert max(found) < 1


def test_rounding_noise_is_ignored_unless_asked_for(rng):
    """The last bits of a float betray its world (Mironov, CCS 2012): certified where they are looked at."""
    losses = laplace_losses(rng, 50_000)
    assert epsilon_lower_bound(*losses).epsilon < 1
    assert epsilon_lower_bound(*losses, resolution=0).epsilon > 4


@given(st.floats(0.05, 3), st.integers(0, 2**32), st.integers(20, 5000), st.sampled_from(["rr", "laplace"]))
def test_a_bound_at_high_confidence_stays_below_the_truth(epsilon, seed, n, kind):
    rng = np.random.default_rng(seed)
    if kind == "rr":
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        scores = rng.random(n) < truth, rng.random(n) < 1 - truth
    else:
        scores = laplace_losses(rng, n, epsilon)
    bound = epsilon_lower_bound(*scores, confidence=1 - 1e-7)
    assert 0 <= bound.epsilon <= epsilon
    backwards = epsilon_lower_bound(*(-np.asarray(s, dtype=float) for s in scores), confidence=1 - 1e-7)
    assert 0 <= backwards.epsilon <= epsilon  # any score is valid


@pytest.mark.parametrize("confidence", [0.6, 0.9])
def test_coverage_is_as_stated(confidence):
    """Over many audits the bound exceeds the truth no more often than the confidence allows."""
    epsilon, wrong, repeats = 0.5, {"epsilon": 0, "delta": 0, "stick": 0, "advantage": 0}, 300
    exact = PrivacyLoss.between(laws.Laplace(0, 1), laws.Laplace(epsilon, 1))
    for seed in range(repeats):
        losses = laplace_losses(np.random.default_rng(seed), 1000, epsilon)
        wrong["epsilon"] += epsilon_lower_bound(*losses, confidence=confidence).epsilon > epsilon
        wrong["delta"] += delta_lower_bound(*losses, 0.2, confidence).delta > exact.delta(0.2)
        low, high = hockey_stick_interval(*losses, 0.2, confidence)
        wrong["stick"] += not low <= exact.delta(0.2) <= high
        low, high = advantage_interval(*losses, 0.0, confidence)
        wrong["advantage"] += not low <= exact.total_variation() <= high
    most = scipy.stats.binom.ppf(1 - 1e-4, repeats, 1 - confidence)
    assert all(count <= most for count in wrong.values()), wrong


def test_the_bound_at_a_delta_is_the_exact_one_from_below():
    mechanism = GaussianMechanism(1.0)
    found = audit(mechanism, 0, 1, np.random.default_rng(3), samples=400_000, delta=0.01)
    assert found.exact == pytest.approx(mechanism.guarantee.epsilon(0.01))
    assert 0.9 * found.exact < found.bound.epsilon < found.exact


def test_delta_bound_of_a_leak_and_of_nothing(rng):
    leak = np.where(rng.random(20_000) < 0.1, math.inf, 0.0)
    found = delta_lower_bound(leak, np.zeros(20_000), epsilon=1.0)
    assert 0.08 < found.delta < 0.11
    assert found.sign == ">="
    assert found.hits[1] == 0
    nothing = delta_lower_bound(rng.random(5000), rng.random(5000), epsilon=1.0)
    assert nothing.delta == 0.0
    assert epsilon_lower_bound(rng.random(5000), rng.random(5000)).epsilon < 0.1


def test_atoms_and_infinite_scores_are_cut_between_the_values(rng):
    p = rng.choice([-math.inf, 0.0, 1.0], 40_000, p=[0.0, 0.5, 0.5])
    q = rng.choice([-math.inf, 0.0, 1.0], 40_000, p=[0.3, 0.6, 0.1])
    found = epsilon_lower_bound(p, q)  # {-inf} has probability 0 under P: Q over P is unbounded
    assert (found.sign, found.direction, found.hits[1]) == ("<", "Q over P", 0)
    assert found.epsilon > 5
    finite = epsilon_lower_bound(p, np.where(np.isinf(q), 0.0, q))  # {1} has ratio 5
    assert (found.confidence, finite.sign, finite.direction) == (0.99, ">=", "P over Q")
    assert 0 < finite.threshold <= 1
    assert 1.5 < finite.epsilon < math.log(5)
    assert "score >= 1, P over Q: " in str(finite)


def test_roc_runs_from_corner_to_corner_and_matches_the_tradeoff(rng):
    fpr, tpr = roc(*laplace_losses(rng, 100_000), points=200)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert len(fpr) <= 204
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    exact = PrivacyLoss.between(laws.Laplace(0, 1), laws.Laplace(1, 1))
    assert np.max(np.abs(tpr - (1 - exact.tradeoff(fpr)))) < 0.01
    corner_x, corner_y = roc(rng.random(200), rng.random(200), hull=True)
    slopes = np.diff(corner_y) / np.maximum(np.diff(corner_x), 1e-12)
    assert (np.diff(slopes) < 0).all()


def test_equal_losses_that_differ_in_their_last_bits_are_one(rng):
    """At epsilon = 1 Laplace(1) has delta 0, but a float's last bits would say otherwise."""
    losses = laplace_losses(rng, 50_000)
    assert np.count_nonzero(losses[0] > 1) > 1000  # above the largest possible loss
    assert hockey_stick_interval(*losses, 1.0)[0] == 0
    few = rng.choice([0.1 + 0.2 - 0.3, 0.0, 1.0], 20_000), rng.choice([0.0, 1.0], 20_000, p=[2 / 3, 1 / 3])
    low, high = advantage_interval(*few)
    assert low < 0 < high
    assert epsilon_lower_bound(*few).epsilon < 0.01


# Audits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["Laplace", "geometric", "randomized response", "response of four", "noisy max"]
)
def test_audit_stays_below_the_exact_epsilon_and_comes_close(name, rng):
    case = SOUND[name]
    found = audit(case.mechanism, *case.pairs[0], rng, samples=100_000)
    assert 0.8 * found.exact < found.bound.epsilon <= found.exact
    assert found.consistent
    assert f"exactly {found.exact:.4f}" in str(found)


def test_audit_unmasks_a_sampler_that_draws_something_else(rng):
    found = audit(zoo.QuietSampler(), 0, 1, rng, samples=100_000)
    assert found.exact == 1.0
    assert found.bound.epsilon > 1.5
    assert not found.consistent
    assert "the sampler draws something else" in str(found)


def test_audit_takes_a_score_for_arrays_or_for_one_output(rng):
    mechanism = LaplaceMechanism(1.0)
    for score in (lambda y: -y, lambda y: 1.0 if y < 0 else 0.0):
        assert 0.8 < audit(mechanism, 0, 1, rng, samples=40_000, score=score).bound.epsilon < 1
    rounded = PostProcessed(mechanism, np.round)
    with pytest.raises(BadInput, match="score = None breaks a rule: it must be given where the law has no"):
        audit(rounded, 0, 1, rng)
    found = audit(rounded, 0, 1, rng, samples=40_000, score=lambda y: -y)
    assert found.exact is None
    assert "unknown exactly" in str(found)
    with pytest.raises(BadInput, match=r"\(left, right\) = \(0, 5\) .* pair of neighbours \(add/remove\)"):
        audit(mechanism, 0, 5, rng)


def test_a_score_that_remembers_cannot_tell_the_worlds_by_the_order(rng):
    asked = itertools.count()
    found = audit(
        LaplaceMechanism(0.5), 0, 1, rng, samples=20_000, score=lambda y: float(next(asked) < 10_002)
    )
    assert found.bound.epsilon < 0.5


# Certificates: the catalogue's table --------------------------------------------------------------

_COUNT = BinCounts((0, 1))
_LN3 = PureDP(math.log(3), adjacency=REPLACE_ONE)
_HAM = PureDP(1.0, adjacency=REPLACE_ONE)
# The textbook's sigma, used where it does not hold: above epsilon = 1.
_CLASSIC = math.sqrt(2 * math.log(1.25 / 0.1)) / 10
TABLE = {  # broken, sound, claim, (left, right, event), p, q
    "RR coin reuse": (
        BROKEN["one coin used twice"].mechanism,
        TwoCoins(),
        _LN3,
        (0, 1, lambda y: y == False),  # noqa: E712
        0.5,
        0.0,
    ),
    "histogram under replace-one": (
        LaplaceMechanism(1.0, query=_COUNT, adjacency=REPLACE_ONE),
        histogram(1.0, (0, 1), adjacency=REPLACE_ONE),
        _HAM,
        ((0,), (1,), Box(Above(1), Below(0))),
        0.25,
        0.0338,
    ),
    "noisy max, swap": (
        BROKEN["monotone noise, scores both ways"].mechanism,
        NoisyMax(1.0),
        PureDP(1.0),
        ((1, 4), (0, 5), lambda y: y == 0),
        0.0622,
        0.0118,
    ),
    "exponential, swap": (
        BROKEN["full exponent, scores both ways"].mechanism,
        ExponentialMechanism(1.0),
        PureDP(1.0),
        ((1, 4), (0, 5), lambda y: y == 0),
        0.0474,
        0.00669,
    ),
    "classic Gaussian at epsilon = 10": (
        GaussianMechanism(_CLASSIC),
        GaussianMechanism.calibrated(10.0, 0.1),
        ApproxDP(10.0, 0.1),
        (1, 0, Above(10 * _CLASSIC**2 + 0.5)),
        0.4909,
        3.9e-6,
    ),
    "only the bins that occur": (
        BROKEN["only the bins that occur"].mechanism,
        histogram(1.0, (0, 1)),
        PureDP(1.0),
        ((0, 1), (0,), lambda y: len(y) == 2),
        1.0,
        0.0,
    ),
    "choose among what occurs": (
        BROKEN["choose among what occurs"].mechanism,
        Custom(lambda d: ExponentialMechanism(1.0, (0, 1)).law([d.count(0), d.count(1)]), PureDP(1.0)),
        PureDP(1.0),
        ((0, 1), (0,), lambda y: y == 1),
        0.5,
        0.0,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_catalogue_of_attacks_is_certified_with_its_numbers(name):
    broken, sound, claim, attack, p, q = TABLE[name]
    arms = break_it(attack, broken, sound, claim, np.random.default_rng(5))
    assert arms.passed, arms.message
    assert arms
    assert arms.message.startswith("Well done")
    assert "Certified: Pr[event]" in arms.message
    assert float(arms.broken.p) == pytest.approx(p, rel=2e-3)
    assert float(arms.broken.q) == pytest.approx(q, rel=1e-2)
    assert not arms.sound.certified


def test_the_classic_gaussian_misses_its_delta_by_the_stated_amount():
    _, _, claim, attack, _, _ = TABLE["classic Gaussian at epsilon = 10"]
    verdict = certify(attack, GaussianMechanism(_CLASSIC), claim)
    assert verdict.exact
    assert verdict.p - math.exp(10) * verdict.q == pytest.approx(0.4056, abs=5e-5)


@pytest.mark.parametrize("name", [n for n in TABLE if n != "classic Gaussian at epsilon = 10"])
def test_exact_and_counted_certificates_agree(name):
    broken, sound, claim, attack, *_ = TABLE[name]
    for mechanism in (broken, sound):
        counted = certify(attack, _OnlySampled(mechanism), claim, np.random.default_rng(7), samples=200_000)
        exact = certify(attack, mechanism, claim, np.random.default_rng(8))
        assert not counted.exact
        assert counted.certified == exact.certified
        assert float(counted.p) == pytest.approx(float(exact.p), abs=0.006)
        assert float(counted.q) == pytest.approx(float(exact.q), abs=0.006)
        assert counted.epsilon_found <= exact.epsilon_found + (0 if exact.exact else 0.1)


def _OnlySampled(mechanism):
    """The same mechanism with a sampler of its own, so that events have to be counted."""

    class Sampled(type(mechanism)):
        def __call__(self, data, rng, size=None):
            return mechanism(data, rng, size)

    copy = object.__new__(Sampled)
    copy.__dict__.update(mechanism.__dict__)
    return copy


def test_finite_laws_are_certified_in_fractions():
    claim = PureDP(1.0, adjacency=REPLACE_ONE)
    verdict = certify((1, 0, lambda y: y == 1), RandomizedResponse.with_odds(3), claim)
    assert (verdict.p, verdict.q, verdict.exact) == (Fraction(3, 4), Fraction(1, 4), True)
    assert verdict.epsilon_found == pytest.approx(math.log(3))
    tight = certify((1, 0, lambda y: y == 1), RandomizedResponse.with_odds(3), _LN3)
    assert not tight  # all of the promise, and no more


_LINE = laws.Laplace(0.3, 2.0), laws.DiscreteLaplace(1, 2.0), laws.Gaussian(-1, 0.5)


@given(st.sampled_from(_LINE), st.floats(-8, 8), st.floats(0, 6))
def test_interval_events_have_the_probability_that_sums_give(law, low, width):
    if law.discrete:
        grid = np.arange(-400, 401)
        inside = law.prob(grid)
        for event in (Above(round(low)), Below(round(low)), Between(round(low), round(low + width))):
            assert event.under(law) == pytest.approx(inside[event(grid)].sum(), rel=1e-9, abs=1e-15)
    else:
        assert Above(low).under(law) + Below(low).under(law) == pytest.approx(1)
        between = 1 - Below(low).under(law) - Above(low + width).under(law)
        assert Between(low, low + width).under(law) == pytest.approx(between, abs=1e-12)


def natural_events(law):
    """What a student would try first on one number, or on one word."""
    finite = law.to_finite()
    if finite is not None:
        return [e for v in finite.outcomes for e in (lambda y, v=v: y == v, lambda y, v=v: y != v)]
    cuts = np.linspace(*law.window(), 41).tolist()
    if law.discrete:
        cuts = sorted({round(c) for c in cuts})
    near = [Between(a, b) for a, b in itertools.pairwise(cuts)]
    return [Above(c) for c in cuts] + [Below(c) for c in cuts] + near


@pytest.mark.parametrize("case", zoo.sound(), ids=lambda case: case.name)
def test_no_natural_event_accuses_a_sound_mechanism(case):
    promise = case.mechanism.guarantee
    if isinstance(promise, PureDP | ApproxDP):
        claims = [promise]
    elif isinstance(promise, RDP):  # its exact curve says more than the conversion, and sooner
        worst = case.mechanism.worst_case()
        claims = [ApproxDP(e, max(worst.delta(e), worst.reversed().delta(e))) for e in (0.0, 0.3)]
    else:
        claims = [promise.to(ApproxDP, delta=d) for d in (1e-5, 0.01)]
    tried = 0
    for left, right in [pair for a, b in case.pairs for pair in ((a, b), (b, a))]:
        law = case.mechanism.law(left)
        if isinstance(law, laws.Product | laws.Image) and law.to_finite() is None:
            continue
        for event, claim in itertools.product(natural_events(law), claims):
            verdict = certify((left, right, event), case.mechanism, claim)
            assert verdict.exact
            assert not verdict.certified, verdict.message
            tried += 1
    assert tried or isinstance(case.mechanism.law(case.pairs[0][0]), laws.Product | laws.Image)


# Attacks that must not pass -----------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("event", [lambda y: True, lambda y: False], ids=["always", "never"])
def test_always_say_yes_convinces_nobody(name, event, rng):
    broken, sound, claim, (left, right, _), *_ = TABLE[name]
    arms = break_it((left, right, event), broken, sound, claim, rng, samples=20_000)
    assert not arms.passed
    assert not arms.sound.certified
    assert arms.message.startswith("Not broken yet. Not certified: Pr[event]")
    assert "Look for an event that is likely on left and far less likely on right." in arms.message


def test_an_attack_that_accuses_the_sound_one_too_is_told_so():
    claim = PureDP(0.5)  # the "sound" arm does not keep this one
    noisy = zoo.broken()[1].mechanism
    arms = break_it((1, 0, Above(1)), noisy, LaplaceMechanism(1.0), claim)
    assert not arms.passed
    assert arms.broken.certified
    assert arms.sound.certified
    assert "it also accuses a sound one" in arms.message


def test_an_event_that_counts_its_calls_gains_nothing(rng):
    calls = itertools.count()
    attack = (0, 1, lambda y: next(calls) % 20_002 < 10_001)
    arms = break_it(attack, zoo.QuietSampler(), _OnlySampled(LaplaceMechanism(1.0)), PureDP(1.0), rng, 20_000)
    assert not arms.broken.certified
    assert not arms.sound.certified


def test_a_sampler_of_its_own_is_sampled(rng):
    attack = (1, 0, Above(1))
    claim = PureDP(1.0)
    verdict = certify(attack, zoo.QuietSampler(), claim, rng)
    assert verdict.certified
    assert not verdict.exact
    assert 1.5 < verdict.epsilon_found < 2
    shared = certify((1, 0, lambda y: y[0] - y[1] > 1), zoo.SharedNoise(), claim, rng, samples=20_000)
    assert shared.certified
    assert shared.p == 1.0


def test_the_wrong_direction_is_pointed_out():
    claim = PureDP(1.0)
    for attack in ((0, 1, lambda y: y == 1), (1, 0, lambda y: y == 0)):
        verdict = certify(attack, BROKEN["half the noise"].mechanism, claim, np.random.default_rng(0))
        assert not verdict.certified  # a single point: nothing either way
    verdict = certify((0, 1, Above(1)), BROKEN["half the noise"].mechanism, claim)
    assert not verdict
    assert "The other way round it would be certified: exchange left and right." in verdict.message


@pytest.mark.parametrize(
    "event",
    [
        lambda y: y > 1,
        lambda y: bool(y > 1),
        lambda y: y > 1 and y < 1e9,
        lambda y: 1 if y > 1 else 0,
        lambda y: np.asarray(y)[...] > 1,
        Above(1),
    ],
    ids=["vectorised", "bool", "and", "if", "numpy", "interval"],
)
def test_events_may_be_written_in_any_style(event):
    found = certify((1, 0, event), zoo.QuietSampler(), PureDP(1.0), np.random.default_rng(2), samples=40_000)
    assert found.certified
    assert found.p == pytest.approx(0.5, abs=0.02)


def test_events_on_vectors_are_read_row_by_row(rng):
    broken, sound, claim, (left, right, _), p, q = TABLE["histogram under replace-one"]
    for event in (
        lambda y: y[0] > 1 and y[1] < 0,
        lambda y: (y[..., 0] > 1) & (y[..., 1] < 0),
        lambda y: (y[:, 0] > 1) & (y[:, 1] < 0),
    ):
        arms = break_it((left, right, event), broken, sound, claim, rng, samples=60_000)
        assert arms.passed
        assert (arms.broken.p, arms.broken.q) == (pytest.approx(p, abs=0.01), pytest.approx(q, abs=0.01))


@pytest.mark.parametrize(
    ("attack", "mechanism", "claim", "message"),
    [
        ((0, 1), LaplaceMechanism(1.0), PureDP(1.0), r"attack = \(0, 1\) .* a tuple \(left, right, event\)"),
        ((0, 1, "No"), LaplaceMechanism(1.0), PureDP(1.0), "event = 'No' .* must be a predicate on outputs"),
        (
            (0, 3, Above(1)),
            LaplaceMechanism(1.0),
            PureDP(1.0),
            r"\(left, right\) = \(0, 3\) .* neighbours \(add/remove\): privacy promises nothing",
        ),
        (
            ((0,), "x", Above(1)),
            LaplaceMechanism(1.0, query=len),
            PureDP(1.0),
            "it must be data for the mechanism",
        ),
        (
            (0, 1, Above(1)),
            LaplaceMechanism(1.0),
            _HAM,
            "adjacency = replace-one .* the mechanism's own promise",
        ),
        (
            (0, 1, Above(1)),
            GaussianMechanism(1.0),
            GDP(1.0),
            r"claim = GDP.* PureDP or ApproxDP.*claim\.to\(ApproxDP",
        ),
        ((0, 1, lambda y: y > 1), LaplaceMechanism(1.0), PureDP(1.0), "rng = None .* has to be counted"),
        (
            (0, 1, lambda y: y.nothing),
            RandomizedResponse(1.0),
            _HAM,
            "able to judge the output 0 .*AttributeError.*return True or False for one output",
        ),
    ],
)
def test_malformed_attacks_are_explained(attack, mechanism, claim, message):
    with pytest.raises(BadInput, match=message):
        certify(attack, mechanism, claim)


def test_vector_events_need_one_truth_value(rng):
    with pytest.raises(BadInput, match="return True or False for one output"):
        certify(((0, 0), (1, 0), Above(0)), LaplaceMechanism(1.0), PureDP(1.0), rng, samples=1000)


def test_counted_false_alarms_stay_below_the_stated_rate():
    """A tight event on a sound mechanism, where p = e^epsilon q: the worst case for a false alarm."""
    mechanism, claim = _OnlySampled(GeometricMechanism(1.0)), PureDP(1.0)
    alarms = sum(
        certify((1, 0, Above(0)), mechanism, claim, np.random.default_rng(i), 2000, 0.8).certified
        for i in range(300)
    )
    assert alarms <= scipy.stats.binom.ppf(1 - 1e-4, 300, 0.2)


def test_an_event_of_a_view_is_judged_though_views_have_no_shape():
    views = laws.Finite((((0,), ("guess", None)), ((1,), ("guess", 1))), (Fraction(3, 4), Fraction(1, 4)))
    other = laws.Finite(views.outcomes, (Fraction(1, 4), Fraction(3, 4)))
    conversation = Custom((views, other).__getitem__, PureDP(1.0), lambda a, b: True)
    verdict = certify((0, 1, lambda view: view[0] == (0,)), conversation, PureDP(1.0))
    assert (verdict.p, verdict.q, verdict.certified) == (Fraction(3, 4), Fraction(1, 4), True)
