"""The exact samplers: certified words, every decision of the tables, ties, tails, messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcourse.errors import BadInput
from dpcourse.laws import exact, fixed_point

ALARM = 1e-6  # of a statistical test on a right sampler, had the seed not been fixed
SCALES = [0.01, 0.3, 1, Fraction(10, 3), 10, 20.7]
Mass = Callable[[int], Any]  # from an integer to its weight, in mpmath


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    with mpmath.workprec(700):
        yield


def laplace_mass(scale: Any) -> Mass:
    """e^{-|x|/scale}, from the definition."""
    scale = Fraction(scale)
    return lambda x: mpmath.exp(-mpmath.mpf(abs(x) * scale.denominator) / scale.numerator)


def gaussian_mass(sigma: Any) -> Mass:
    """e^{-x^2/(2 sigma^2)}, from the definition."""
    s = Fraction(sigma) ** 2
    return lambda x: mpmath.exp(-mpmath.mpf(x * x * s.denominator) / (2 * s.numerator))


def total(mass: Mass, error: Any = 2.0**-690) -> Any:
    """The sum over the integers, to a relative error of about `error`."""
    result, x = mass(0), 1
    while (term := 2 * mass(x)) > error:
        result, x = result + term, x + 1
    return result


def signed(k: int) -> int:
    """0, -1, 1, -2, 2, ..."""
    return -(k + 1) // 2 if k % 2 else k // 2


def thresholds(mass: Mass, count: int) -> list[Any]:
    """The cdf in the order 0, -1, 1, -2, 2, ..., in mpmath."""
    whole, so_far, result = total(mass), mpmath.mpf(0), []
    for k in range(count):
        so_far += mass(signed(k))
        result.append(so_far / whole)
    return result


LAWS = [
    pytest.param(words, mass, table, scale, id=f"{name}-{scale}")
    for name, words, mass, table in [
        (
            "laplace",
            lambda s: partial(fixed_point.laplace_words, 1 / Fraction(s), 1),
            laplace_mass,
            lambda s: exact._laplace_tables(Fraction(s))[1],
        ),
        (
            "gaussian",
            lambda s: partial(fixed_point.gaussian_words, 1 / (2 * Fraction(s) ** 2), 1),
            gaussian_mass,
            lambda s: exact._gaussian_table(Fraction(s))[2],
        ),
    ]
    for scale in SCALES
]


# --- 1. the words are certified -----------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 10**9), st.integers(65, 400))
def test_exp_holds_the_truth_and_is_narrow(a: int, b: int, bits: int) -> None:
    with mpmath.workprec(1000):
        got, truth = fixed_point.exp_minus(a, b, bits), mpmath.exp(-mpmath.mpf(a) / b) * 2**bits
    assert got.lo <= truth <= got.hi
    assert got.hi - got.lo < 1 << 32  # half of the guard bits are never touched


@pytest.mark.parametrize("bits", [4, 16, 64, 192])
@pytest.mark.parametrize(("words", "mass", "table", "scale"), LAWS)
def test_words_hold_the_cdf(words: Any, mass: Any, table: Any, scale: Any, bits: int) -> None:
    lower, upper = words(scale)(bits)
    truth = thresholds(mass(scale), len(lower))
    for low, c, high in zip(lower, truth, upper, strict=True):
        assert low <= c * 2**bits <= high
        assert high - low <= 1
    assert lower == sorted(lower)
    assert upper == sorted(upper)
    assert max(lower) < upper[-1] == 1 << bits  # no word decides the tail beyond the table


@settings(deadline=None, max_examples=40)
@given(st.fractions(Fraction(1, 100), 40), st.sampled_from([8, 64, 128]))
def test_words_hold_the_cdf_at_any_scale(scale: Fraction, bits: int) -> None:
    for words, mass in [
        (partial(fixed_point.laplace_words, 1 / scale, 1), laplace_mass(scale)),
        (partial(fixed_point.gaussian_words, 1 / (2 * scale**2), 1), gaussian_mass(scale)),
    ]:
        lower, upper = words(bits)
        with mpmath.workprec(700):
            truth = thresholds(mass, min(len(lower), 60))
            assert all(low <= c * 2**bits <= high for low, c, high in zip(lower, truth, upper, strict=False))


# --- 2. every decision, at every depth ----------------------------------------------------------


@pytest.mark.parametrize(("words", "mass", "table", "scale"), LAWS)
def test_all_words_of_few_bits(words: Any, mass: Any, table: Any, scale: Any) -> None:
    """Depth by depth: a decided u lies between two true thresholds; only their cells stay open."""
    cdf = words(scale)
    truth = thresholds(mass(scale), 2 + len(cdf(12)[0]))
    for bits in range(1, 13):
        level, deeper = cdf(bits), cdf(bits + 1)
        open_cells = {int(mpmath.floor(c * 2**bits)) for c in truth}
        for u in range(1 << bits):
            k = exact.atom(level, u)
            if k is None:
                assert u in open_cells or u == (1 << bits) - 1
            else:
                assert k == 0 or truth[k - 1] * 2**bits <= u
                assert u + 1 <= truth[k] * 2**bits
                assert exact.atom(deeper, 2 * u) == exact.atom(deeper, 2 * u + 1) == k


class Script:
    """A word source that gives what it is told, and fails when more is asked for."""

    def __init__(self, *batches: Any) -> None:
        self.batches = [np.atleast_1d(np.asarray(batch, dtype=np.uint64)) for batch in batches]

    def words(self, n: int) -> Any:
        batch = self.batches.pop(0)
        assert batch.size == n
        return batch


def first_words(prefixes: Any) -> Any:
    """Words that hold these 16-bit prefixes, padded with prefix 0."""
    padded = np.zeros(-(-len(prefixes) // 4) * 4, dtype=np.uint16)
    padded[: len(prefixes)] = prefixes
    return padded.view(np.uint64)


@pytest.mark.parametrize(("words", "mass", "table", "scale"), LAWS)
def test_the_table_has_the_law(words: Any, mass: Any, table: Any, scale: Any) -> None:
    """Count, exactly, the 64-bit numbers that give each value: pmf 2^64, up to the two ties."""
    made = table(scale)
    every = np.arange(1 << 16)
    guide = made.guide[every]
    count = Counter({value: cells << 48 for value, cells in Counter(guide.tolist()).items()})
    waiting = every[guide == exact.UNDECIDED]
    assert count.pop(exact.UNDECIDED) == waiting.size << 48

    lower, upper = words(scale)(64)
    edges = {int(i) << 48 for i in waiting} | {int(i) + 1 << 48 for i in waiting}
    edges |= {c for c in lower + upper if made.guide[min(c >> 48, 65535)] == exact.UNDECIDED}
    undecided = 0
    for start, end in pairwise(sorted(edges)):  # between two edges all numbers fare alike
        if made.guide[start >> 48] != exact.UNDECIDED:
            continue
        us = np.array([start, (start + end) // 2, end - 1], dtype=np.uint64)
        if exact._decide(made.lower, made.below_upper, us)[1].all():
            first, *others = made._settle(Script(us << np.uint64(16)), us >> np.uint64(48))
            assert [first, first] == others
            count[int(first)] += end - start
        else:
            assert end - start == 1
            undecided += 1
    assert sum(count.values()) + undecided == 1 << 64
    assert undecided <= len(lower)
    whole = total(mass(scale))
    for x in range(-len(lower), len(lower) + 1):
        exactly = mass(scale)(x) / whole * 2**64
        assert exactly - 2 <= count[x] <= exactly


# --- 3. ties and tails --------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "mass", "table", "scale"), LAWS)
def test_a_tie_goes_both_ways(words: Any, mass: Any, table: Any, scale: Any) -> None:
    """U agrees with the threshold on 64 bits, or on 128, and then falls below it or above."""
    made = table(scale)
    for k, c in enumerate(thresholds(mass(scale), 6)):
        if 1 - c < 2.0**-60:
            break
        digits = int(mpmath.floor(c * 2**192))
        first, second, third = digits >> 128, digits >> 64 & 2**64 - 1, digits & 2**64 - 1
        tie = (first_words([first >> 48]), first << 16 & 2**64 - 1)
        below, above = signed(k), signed(k + 1)
        assert made.draw(Script(*tie, second - 1), 1) == [below]
        assert made.draw(Script(*tie, second + 1), 1) == [above]
        assert made.draw(Script(*tie, second, third - 1), 1) == [below]
        assert made.draw(Script(*tie, second, third + 1), 1) == [above]


@pytest.mark.parametrize(("words", "mass", "table", "scale"), LAWS)
def test_the_far_tail(words: Any, mass: Any, table: Any, scale: Any) -> None:
    """A first word of ones lies beyond the table; the answer is the inverse of the true cdf."""
    made, ones = table(scale), 2**64 - 1
    start = (first_words([65535]), ones)
    for more in ([0], [2**63], [ones, 12345], [ones, ones, 2**62]):
        if scale == 0.01:
            more = [ones, ones, *more]  # noqa: PLW2901 (e^-100 < 2^-128)
        with mpmath.workprec(64 * len(more) + 400):
            gap = 1 - sum(mpmath.ldexp(w, -64 * (i + 1)) for i, w in enumerate([ones, *more]))
            whole = total(mass(scale), gap * 2.0**-200)
            rest, k = 1 - mass(scale)(0) / whole, 0
            while rest >= gap:
                k += 1
                rest -= mass(scale)(signed(k)) / whole
        assert made.draw(Script(*start, *more), 1) == [signed(k)]


# --- 4. large scales: the parts make up the law -------------------------------------------------


def pmf(words: Callable[[int], fixed_point.Words], bits: int = 400) -> list[Any]:
    """The probabilities of the atoms, the last included, to nearly 400 bits."""
    cuts = [0, *words(bits)[0], 1 << bits]
    return [mpmath.ldexp(high - low, -bits) for low, high in pairwise(cuts)]


def same_law(got: dict[int, Any], mass: Mass, reach: int) -> bool:
    whole = total(mass)
    return all(abs(got[x] - mass(x) / whole) < 2.0**-350 for x in range(-reach, reach + 1))


@pytest.mark.parametrize("scale", [3, 10, Fraction(77, 5)])
def test_laplace_from_head_and_digits(scale: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LAPLACE_HEAD", 1)
    monkeypatch.setattr(exact, "DIGIT", 2)
    shift, heads, digits = exact._laplace_tables.__wrapped__(Fraction(scale))
    assert len(digits) == -(-shift // 2)
    gaps = {0: mpmath.mpf(1)}
    for at, digit in digits:
        chances = pmf(digit.cdf)
        values = digit.value(np.arange(len(chances)))
        gaps = {
            gap + (int(v) << at): p * chance
            for gap, p in gaps.items()
            for v, chance in zip(values, chances, strict=True)
        }
    assert sorted(gaps) == list(range(1 << shift))
    got: Counter[int] = Counter()
    chances = pmf(heads.cdf)
    for head, p in zip(heads.value(np.arange(len(chances))), chances, strict=True):
        for gap, chance in gaps.items():
            got[int(exact._join(head, gap, shift))] += p * chance
    assert same_law(got, laplace_mass(scale), reach=100)


@pytest.mark.parametrize("sigma", [5, 10, Fraction(77, 5)])
def test_gaussian_from_stairs(sigma: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "GAUSSIAN_HEAD", 2)
    rate, shift, heads = exact._gaussian_table.__wrapped__(Fraction(sigma))
    block = 1 << shift
    got: Counter[int] = Counter()
    chances = pmf(heads.cdf)
    for stair, p in zip(heads.value(np.arange(len(chances))), chances, strict=True):
        for gap in range(block):
            x = int(exact._join(stair >> 1, gap, shift))
            kept = pmf(partial(fixed_point.wedge_words, rate, block, abs(x)))[0] if stair & 1 else 1
            got[x] += p * kept / block
        if abs(x) > 100:
            break
    mass = gaussian_mass(sigma)
    scaled = {x: p / got[0] * mass(0) / total(mass) for x, p in got.items()}
    assert same_law(scaled, mass, reach=60)


def test_a_wedge_keeps_and_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second draw is the answer if the first one, from the wedge of head -1, is rejected."""
    monkeypatch.setattr(exact, "GAUSSIAN_HEAD", 2)
    exact._gaussian_table.cache_clear()
    rate, shift, heads = exact._gaussian_table(Fraction(8))
    assert shift == 2
    lower, upper = heads.cdf(64)
    wedge = (upper[0] + lower[1]) // 2  # atom 1
    core = (upper[3] + lower[4]) // 2  # atom 4, head 1
    assert heads.guide[wedge >> 48] == 2 * -1 + 1
    assert heads.guide[core >> 48] == 2 * 1
    gap = 1 << 62  # 1 of 0, 1, 2, 3: |x| = 4 - 1
    c = int(pmf(partial(fixed_point.wedge_words, rate, 4, 3))[0] * 2**64)
    first = (first_words([wedge >> 48]), gap)
    again = (first_words([core >> 48]), 0, [])
    assert exact.discrete_gaussian(Script(*first, c - 1), 8, 1) == [-3]
    assert exact.discrete_gaussian(Script(*first, c + 1, *again), 8, 1) == [4]
    assert exact.discrete_gaussian(Script(*first, c, 0), 8, 1) == [-3]  # a tie, then 64 bits more
    assert exact.discrete_gaussian(Script(*first, c, 2**64 - 1, *again), 8, 1) == [4]
    exact._gaussian_table.cache_clear()


@pytest.mark.parametrize("scale", [65, 1e6, 1e15])
def test_words_of_large_laplace(scale: float) -> None:
    """Against the closed forms: 1 - 2 q^(hB+1) / (1+q) for heads, (1 - r^k)/(1 - r^n) for digits."""
    shift, heads, digits = exact._laplace_tables(Fraction(scale))
    q = mpmath.exp(-1 / mpmath.mpf(scale))
    head_cdf = [1 - 2 * q ** ((h << shift) + 1) / (1 + q) for h in range(len(heads.lower))]
    assert holds(head_cdf, *(word[::2] for word in heads.cdf(64)))
    for at, digit in digits:
        r, n = q ** (1 << at), len(digit.lower) + 1
        assert holds([(1 - r**k) / (1 - r**n) for k in range(1, n)], *digit.cdf(64))


@pytest.mark.parametrize("sigma", [513, 1e6, 1e15])
def test_words_of_large_gaussian(sigma: float) -> None:
    _, shift, stairs = exact._gaussian_table(Fraction(sigma))
    mass, block = gaussian_mass(sigma), 1 << shift
    with mpmath.workprec(200):
        steps = [2 * mass(h * block + 1) for h in range(10_000)]
        sums = np.cumsum([1 / mpmath.mpf(block), *steps])
        assert holds(sums / sums[-1], *(word[::4] for word in stairs.cdf(64)))


def holds(cdf: Any, lower: list[int], upper: list[int]) -> bool:
    rows = list(zip(lower, cdf, upper, strict=False))
    assert len(rows) == len(lower) < 20_000
    return all(low <= c * 2**64 <= high <= low + 1 for low, c, high in rows)


# --- 5. samples, as a check on all of the above -------------------------------------------------


def agrees(draws: Any, cuts: Any, cdf: Any) -> bool:
    """Chi-square on the cells between the cuts; cdf(cut) = Pr[x < cut]."""
    chances = np.diff(np.concatenate([[0.0], cdf(np.asarray(cuts)), [1.0]]))
    seen = np.bincount(np.searchsorted(cuts, draws, side="right"), minlength=len(chances))
    keep = chances * draws.size > 10
    seen = np.append(seen[keep], seen[~keep].sum())
    expected = np.append(chances[keep], chances[~keep].sum()) * draws.size
    seen, expected = seen[expected > 0], expected[expected > 0]
    statistic = float((np.square(seen - expected) / expected).sum())
    return bool(stats.chi2.sf(statistic, max(len(seen) - 1, 1)) > ALARM)


@pytest.mark.parametrize("scale", [0.3, 1, 10, 64, 65, 1000, 12345.6, 1e6, 1e9, 1e15])
def test_laplace_samples(scale: float) -> None:
    draws = exact.discrete_laplace(np.random.default_rng(7), scale, 400_000)
    reach = int(min(12 * scale + 3, 300))
    cuts = np.unique(np.round(np.linspace(-12 * scale, 12 * scale, 2 * reach))).astype(np.int64)

    def cdf(cut: Any) -> Any:
        tail = np.exp(-np.abs(np.where(cut > 0, cut, cut - 1)) / scale) / (1 + np.exp(-1 / scale))
        return np.where(cut > 0, 1 - tail, tail)

    assert agrees(draws, cuts, cdf)
    if scale > 1000:  # the low digits are all but uniform
        assert agrees(draws % 64, np.arange(1, 64), lambda cut: cut / 64)


@pytest.mark.parametrize("sigma", [0.3, 1, 10, 512, 513, 1000, 12345.6, 1e6, 1e9, 1e15])
def test_gaussian_samples(sigma: float) -> None:
    draws = exact.discrete_gaussian(np.random.default_rng(7), sigma, 400_000)
    if sigma <= 10:
        x = np.arange(-60, 61)
        mass = np.exp(-np.square(x / sigma) / 2)
        assert agrees(draws, x, lambda _: (np.cumsum(mass) - mass) / mass.sum())
    else:  # Pr[x < cut] differs from the normal law's by less than 1/(24 sigma^2)
        cuts = np.unique(np.round(np.linspace(-5, 5, 300) * sigma)).astype(np.int64)
        assert agrees(draws, cuts, lambda cut: stats.norm.cdf((cut - 0.5) / sigma))
        assert agrees(draws % 64, np.arange(1, 64), lambda cut: cut / 64)


def test_wide_wedges_have_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "GAUSSIAN_HEAD", 1)
    exact._gaussian_table.cache_clear()
    draws = exact.discrete_gaussian(np.random.default_rng(3), 20, 60_000)
    x = np.arange(-120, 121)
    mass = np.exp(-np.square(x / 20) / 2)
    assert agrees(draws, x, lambda _: (np.cumsum(mass) - mass) / mass.sum())
    exact._gaussian_table.cache_clear()


@pytest.mark.parametrize("p", [0, 1e-3, 0.5, Fraction(1, 3), 0.9999, 1])
def test_bernoulli(p: Any) -> None:
    draws = exact.bernoulli(np.random.default_rng(1), p, 200_000)
    assert draws.dtype == np.bool_
    if p in {0, 1}:
        assert (draws == bool(p)).all()
    else:
        assert stats.binomtest(int(draws.sum()), draws.size, float(p)).pvalue > ALARM


def test_bernoulli_tie() -> None:
    """1/3 = 0.010101...: 64 bits of it tie, then less is True and more is False."""
    third = (2**64 - 1) // 3
    tie = (first_words([third >> 48]), third << 16 & 2**64 - 1)
    assert exact.bernoulli(Script(*tie, third, third - 1), Fraction(1, 3), 1) == [True]
    assert exact.bernoulli(Script(*tie, third, third + 1), Fraction(1, 3), 1) == [False]


# --- 6. the interface ---------------------------------------------------------------------------

SAMPLERS = [exact.discrete_laplace, exact.discrete_gaussian]


@pytest.mark.parametrize("sampler", SAMPLERS)
@settings(deadline=None, max_examples=30)
@given(scale=st.floats(1e-300, 1e15), seed=st.integers(0, 2**32))
def test_any_scale(sampler: Any, scale: float, seed: int) -> None:
    draws = sampler(np.random.default_rng(seed), scale, 50)
    assert draws.dtype == np.int64
    assert np.abs(draws).max() <= 60 * scale
    assert (draws == sampler(np.random.default_rng(seed), Fraction(scale), 50)).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("shape", [(), 0, 1, 7, (2, 3), exact.CHUNK + 1])
def test_shapes_and_seeds(sampler: Any, shape: Any) -> None:
    first = sampler(np.random.default_rng(5), 10, shape)
    assert first.shape == np.empty(shape).shape
    assert (first == sampler(np.random.default_rng(5), 10.0, shape)).all()


@pytest.mark.parametrize("scale", [10, np.int64(10), np.float32(10), Fraction(10)])
def test_every_kind_of_number(scale: Any) -> None:
    expected = exact.discrete_laplace(np.random.default_rng(5), 10.0, 9)
    assert (exact.discrete_laplace(np.random.default_rng(5), scale, 9) == expected).all()


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_all_64_bits_of_every_generator_move(name: str) -> None:
    rng = np.random.Generator(getattr(np.random, name)(1))
    drawn = exact.words(rng, 4000)
    ones = np.array([int((drawn >> np.uint64(i) & np.uint64(1)).sum()) for i in range(64)])
    assert stats.binomtest(int(ones.min()), 4000).pvalue > ALARM / 64
    assert stats.binomtest(int(ones.max()), 4000).pvalue > ALARM / 64


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_system_randomness(sampler: Any) -> None:
    draws = sampler(exact.SystemRandomness(), 1e6, 1000)
    assert len(set(draws.tolist())) > 900  # false alarm: far below one in a million
    assert not (draws == sampler(exact.SystemRandomness(), 1e6, 1000)).all()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), 1e16, 10**400, "10", None, 1j])
@pytest.mark.parametrize(("sampler", "name"), [(SAMPLERS[0], "scale"), (SAMPLERS[1], "sigma")])
def test_bad_scales(sampler: Any, name: str, bad: Any) -> None:
    with pytest.raises(BadInput, match=rf"^{name} = .* finite number above 0.*Fix: .* 10\.$"):
        sampler(np.random.default_rng(0), bad, 3)


@pytest.mark.parametrize("bad", [None, 0, np.random, "seed"])
def test_bad_generators(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"^rng = .* numpy Generator .*Fix: pass numpy.random.def"):
        exact.discrete_laplace(bad, 1, 3)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), "half"])
def test_bad_probabilities(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"^p = .* a probability from 0 to 1.*Fraction\(3, 4\)"):
        exact.bernoulli(np.random.default_rng(0), bad, 3)
