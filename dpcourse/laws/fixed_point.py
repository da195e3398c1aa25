"""Certified fixed-point arithmetic: numbers known to lie between two integers over 2^bits.

Every operation rounds the lower end down and the upper end up, so an interval always holds the true
value, whatever the precision; more bits make it narrower. From such numbers come the words of a
cdf, lower[k] <= 2^bits c[k] <= upper[k]: all that a sampler needs to know about its law.

>>> exp_minus(1, 1, bits=64)  # 2^64/e = 6786177901268885274.7...
Interval(6786177901268885044, 6786177901268885436, bits=64)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, islice
from typing import Final

GUARD: Final = 64  # extra bits to compute with, so that rounding rarely shows in the words
Words = tuple[list[int], list[int]]


@dataclass(slots=True)
class Interval:
    """A number x >= 0 with lo <= x 2^bits <= hi."""

    lo: int
    hi: int
    bits: int

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lo + other.lo, self.hi + other.hi, self.bits)

    def __sub__(self, other: Interval) -> Interval:
        """x - y, for x >= y."""
        return Interval(max(self.lo - other.hi, 0), self.hi - other.lo, self.bits)

    def __mul__(self, other: Interval) -> Interval:
        up = -(-self.hi * other.hi >> self.bits)
        return Interval(self.lo * other.lo >> self.bits, up, self.bits)

    def __repr__(self) -> str:
        return f"Interval({self.lo}, {self.hi}, bits={self.bits})"


def ratio(a: int, b: int, bits: int) -> Interval:
    """a/b, for integers a >= 0 and b > 0."""
    return Interval((a << bits) // b, -((-a << bits) // b), bits)


def exp_minus(a: int, b: int, bits: int) -> Interval:
    """e^{-a/b}, as (e^{-y})^(2^k) with y = a / (b 2^k) below 1/256.

    e^{-y} = 1 - y/1 (1 - y/2 (1 - y/3 (...))): each bracket lies in [0, 1], since its terms
    alternate and decrease, so the innermost may be replaced by the whole interval [0, 1].
    """
    if a >= b * bits:
        return Interval(0, 1, bits)  # e^-bits < 2^-bits
    halvings = ((a << 8) // b).bit_length()
    y = ratio(a, b << halvings, bits)
    lo, hi = 0, (one := 1 << bits)
    small = max(bits - y.hi.bit_length(), 1)  # y < 2^-small: bits/small terms reach 2^-bits
    for n in range(bits // small + 1, 0, -1):
        lo, hi = one + (-y.hi * hi) // (n << bits), one - y.lo * lo // (n << bits)
    power = Interval(lo, hi, bits)
    for _ in range(halvings):
        power *= power
    return power


def progression(first: Interval, step: Interval, bend: Interval) -> Iterator[Interval]:
    """first, first step, first step^2 bend, ..., first step^k bend^(k(k-1)/2): log-concave."""
    while True:
        yield first
        first, step = first * step, step * bend


def cdf_words(weights: Sequence[Interval], rest: Interval, bits: int) -> Words:
    """Integers lower[k] <= 2^bits c[k] <= upper[k], where c is the cdf of the weights.

    `rest` is the weight of what follows the last threshold: the last atom, or the whole tail.

    >>> cdf_words([ratio(1, 3, 99)] * 2, rest=ratio(1, 3, 99), bits=8)  # 85.3 and 170.7
    ([85, 170], [86, 171])
    """
    sums = list(accumulate(weights))
    total = sums[-1] + rest
    lower = [(c.lo << bits) // total.hi for c in sums]
    upper = [min(-((-c.hi << bits) // total.lo), 1 << bits) for c in sums]
    return lower, upper


def log_concave_words(groups: Iterable[Sequence[Interval]], bits: int) -> Words:
    """The words of the cdf on infinitely many atoms, as far as `bits` bits can tell them from 1.

    The atoms come in groups of weight g[0], g[1], ... with g[h+1]/g[h] never rising from h = 1 on
    (nor above g[1]/g[0], if that is below 1): what follows group h weighs at most
    g[h] (r + r^2 + ...) = g[h]^2 / (g[h-1] - g[h]), where r = g[h]/g[h-1] < 1.
    """
    weights: list[Interval] = []
    before, rest = 0, Interval(0, 1, 0)
    for group in groups:
        weights += group
        size = sum(weight.hi for weight in group)
        if size < before:
            rest = Interval(0, size * size // (before - size) + 1, group[0].bits)
        if rest.hi << bits + GUARD // 2 < 1 << rest.bits:  # too little to blur the words
            break
        before = sum(weight.lo for weight in group)
    lower, upper = cdf_words(weights, rest, bits)
    end = bisect_left(upper, 1 << bits) + 1
    return lower[:end], upper[:end]


def laplace_words(rate: Fraction, block: int, bits: int) -> Words:
    """The cdf of the signed head of a discrete Laplace, on 0, -1, 1, -2, 2, ...

    With q = e^{-rate}: weight 1 - q at 0, and q^((h-1) block + 1) (1 - q^block) at -h and at h,
    which is 1 - q times the sum of q^x over the block of integers that ends at x = h block.
    """
    one, q, q_block = _exponentials(rate, [0, 1, block], bits)
    sides = progression(q * (one - q_block), q_block, one)
    return log_concave_words(chain([[one - q]], ([side, side] for side in sides)), bits)


def digit_words(rate: Fraction, count: int, bits: int) -> Words:
    """The cdf of a digit: weights e^{-k rate} for k < count."""
    one, q = _exponentials(rate, [0, 1], bits)
    weights = list(islice(progression(one, q, one), count))
    return cdf_words(weights[:-1], weights[-1], bits)


def gaussian_words(rate: Fraction, block: int, bits: int) -> Words:
    """The cdf of the signed head of a discrete Gaussian, f(x) = e^{-rate x^2}.

    With block = 1: weights f on 0, -1, 1, -2, 2, ... Otherwise the weight is 1/block at 0, and head
    h, for the block of integers that ends at x = h block, has four atoms: a wedge at -h and at h,
    of weight f(x - block + 1) - f(x), then a core at -h and at h, of weight f(x).
    """

    def values(start: int) -> Iterator[Interval]:  # f at start, start + block, start + 2 block, ...
        squares = [start**2, (start + block) ** 2 - start**2, 2 * block**2]
        return progression(*_exponentials(rate, squares, bits))

    sides: Iterator[list[Interval]] = ([f, f] for f in values(block))
    if block > 1:
        stairs = zip(values(1), values(block), strict=True)
        sides = ([top - end, top - end, end, end] for top, end in stairs)
    return log_concave_words(chain([[ratio(1, block, bits + GUARD)]], sides), bits)


def wedge_words(rate: Fraction, block: int, x: int, bits: int) -> Words:
    """The probability (f(x) - f(end)) / (f(top) - f(end)) to keep an x > 0 drawn from a wedge.

    The block runs from top = end - block + 1 to end; f(top) is divided out.
    """
    end = -(-x // block) * block
    top = end - block + 1
    one, here, least = _exponentials(rate, [0, x**2 - top**2, end**2 - top**2], bits)
    return cdf_words([here - least], one - here, bits)


def probability_words(p: Fraction, bits: int) -> Words:
    """The word of a probability: atom 0 has probability p."""
    chance = ratio(p.numerator, p.denominator, bits)
    return [chance.lo], [chance.hi]


def _exponentials(rate: Fraction, multiples: Iterable[int], bits: int) -> Iterator[Interval]:
    """e^{-m rate} for every m, with the guard bits."""
    return (exp_minus(m * rate.numerator, rate.denominator, bits + GUARD) for m in multiples)
