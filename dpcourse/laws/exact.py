"""Exact samplers of the discrete Laplace and the discrete Gaussian, vectorised.

One idea does all of it. Let U be uniform on [0, 1), revealed bit by bit, and let c[0] < c[1] < ...
be the cdf of a law on atoms 0, 1, ...: the number of thresholds c[k] <= U has the law. When the
first bits of U read u, and integers lower[k] <= 2^bits c[k] <= upper[k] are known, then
#{upper <= u} thresholds are surely passed and #{lower <= u} possibly. If the two agree, the draw is
decided, whatever the bits to come; if not, reveal more bits. So 16 bits decide almost every draw by
one look into a table, 64 bits almost all others by a binary search, and the rest (ties and the far
tail, less than one in 10^14) use integers as long as it takes. No float decides anything: an output
has the stated law as exactly as the words of the bit source are independent and uniform.

Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020), for
the laws and why exactness matters; Mironov (CCS 2012) for what happens without.

>>> discrete_laplace(np.random.default_rng(0), scale=10, size=6)
array([ 7, 19, 25, 10, 18,  7])
"""

from __future__ import annotations

import math
import numbers
import operator
import os
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import reject
from dpcourse.laws import fixed_point as fp

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Unsigned = NDArray[np.uint64]
Shape = int | tuple[int, ...]
U16, U48 = np.uint64(16), np.uint64(48)

CHUNK: Final = 1 << 16  # draws at a time, so that all arrays stay in the processor's cache
UNDECIDED: Final = -(1 << 15)  # what the guide says where 16 bits do not decide
LARGEST: Final = 10**15  # up to this scale, int64 overflows with probability below e^-9000
LAPLACE_HEAD: Final = 64  # larger scales are split into a head, of at most this scale, and a gap
GAUSSIAN_HEAD: Final = 512
DIGIT: Final = 9  # bits of one digit of the gap


class SystemRandomness:
    """The operating system's randomness (os.urandom): slower, and nobody can predict or repeat it.

    A seeded generator suits a lesson; a release of real data needs this one.
    """

    def words(self, n: int) -> Unsigned:
        """n 64-bit words from the operating system."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)


def words(rng: Any, n: int) -> Unsigned:
    """n uniform 64-bit words: all that a sampler takes from `rng`."""
    if isinstance(rng, np.random.Generator):  # over the full range these are the bare words
        return rng.integers(0, 2**64 - 1, size=n, dtype=np.uint64, endpoint=True)
    if not hasattr(rng, "words"):
        fix = "pass numpy.random.default_rng(seed), or SystemRandomness() for real data."
        reject("rng", rng, "a numpy Generator or a SystemRandomness()", fix)
    source: SystemRandomness = rng
    return source.words(n)


@dataclass(frozen=True, eq=False)
class Table:
    """A law on atoms 0, 1, ..., ready to be sampled; `value` turns atoms into what is reported."""

    cdf: Callable[[int], fp.Words]  # from bits to the words of the cdf
    value: Callable[[Ints], Ints]
    lower: Unsigned  # the words of 64 bits
    below_upper: Unsigned  # upper - 1, as upper may be 2^64
    guide: NDArray[np.int16]  # from the first 16 bits to a value, or UNDECIDED

    @classmethod
    def of(cls, cdf: Callable[[int], fp.Words], value: Callable[[Ints], Ints]) -> Table:
        """The table of a law: its words of 64 bits, and what their first 16 bits decide."""
        lower, upper = cdf(64)
        floor = np.array(lower, dtype=np.uint64)
        below = np.array([c - 1 for c in upper], dtype=np.uint64)
        atoms, decided = _decide(floor >> U48, below >> U48, np.arange(1 << 16, dtype=np.uint64))
        guide = np.where(decided, value(atoms), UNDECIDED).astype(np.int16)
        return cls(cdf, value, floor, below, guide)

    def draw(self, rng: Any, size: int) -> Ints:
        """`size` independent draws."""
        prefixes = words(rng, -(-size // 4)).view(np.uint16)[:size]
        short = self.guide.take(prefixes)
        result = short.astype(np.int64)
        if (waiting := np.flatnonzero(short == UNDECIDED)).size:
            result[waiting] = self._settle(rng, prefixes[waiting].astype(np.uint64))
        return result

    def _settle(self, rng: Any, prefixes: Unsigned) -> Ints:
        """The draws that 16 bits do not decide: 48 bits more, then 64 more at a time."""
        u = prefixes << U48 | words(rng, prefixes.size) >> U16
        atoms, decided = _decide(self.lower, self.below_upper, u)
        for i in np.flatnonzero(~decided):
            atoms[i] = reveal(self.cdf, rng, int(u[i]))
        return self.value(atoms)


def _decide(lower: Unsigned, below_upper: Unsigned, u: Unsigned) -> tuple[Ints, Bools]:
    """How many thresholds a U that begins with u has surely passed, and whether that is all."""
    surely = np.searchsorted(below_upper, u, side="left")
    return surely, surely == np.searchsorted(lower, u, side="right")


def atom(words_of_cdf: fp.Words, u: int) -> int | None:
    """The atom of every U that begins with u, or None if there are several: one scalar decision."""
    lower, upper = words_of_cdf
    surely = bisect_right(upper, u)
    return surely if surely == bisect_right(lower, u) else None


def reveal(cdf: Callable[[int], fp.Words], rng: Any, u: int) -> int:
    """The atom of a U that begins with the 64 bits of u: reveals 64 more until they decide."""
    bits = 64
    while (decided := atom(cdf(bits), u)) is None:
        u, bits = u << 64 | int(words(rng, 1)[0]), bits + 64
    return decided


def discrete_laplace(rng: Any, scale: Any, size: Shape) -> Ints:
    """Draws with Pr[x] proportional to e^{-|x|/scale} on the integers, exactly.

    |x| = block head - gap with 0 <= gap < block: block is 1, or a power of 2 for a large scale. By
    memorylessness the gap is independent of the head, and so is each digit of it.
    """
    shift, heads, digits = _laplace_tables(_scale("scale", scale))

    def draw(n: int) -> Ints:
        head = heads.draw(rng, n)
        if not shift:
            return head
        return _join(head, sum(digit.draw(rng, n) << at for at, digit in digits), shift)

    return _in_chunks(draw, size)


@lru_cache(maxsize=32)
def _laplace_tables(scale: Fraction) -> tuple[int, Table, list[tuple[int, Table]]]:
    rate, shift = 1 / scale, _shift(scale, LAPLACE_HEAD)
    digits = []
    for at in range(0, shift, DIGIT):
        count = 1 << min(DIGIT, shift - at)
        cdf = partial(fp.digit_words, rate * 2**at, count)
        digits.append((at, Table.of(cdf, partial(operator.sub, count - 1))))
    return shift, Table.of(partial(fp.laplace_words, rate, 1 << shift), _signed), digits


def discrete_gaussian(rng: Any, sigma: Any, size: Shape) -> Ints:
    """Draws with Pr[x] proportional to f(x) = e^{-x^2/(2 sigma^2)} on the integers, exactly.

    For large sigma |x| = block head - gap again, with a uniform gap: the head has the weight of a
    staircase above f. Most of a stair is a core, as high as the least f in the block, where each
    gap is right; the rest is a thin wedge, where x is kept with the probability that f asks for.
    """
    rate, shift, heads = _gaussian_table(_scale("sigma", sigma))

    def draw(n: int) -> Ints:
        head = heads.draw(rng, n)
        if not shift:
            return head
        gap = (words(rng, n) >> np.uint64(64 - shift)).astype(np.int64)
        x = _join(head >> 1, gap, shift)
        wedge = np.flatnonzero(head & 1)
        again = wedge[[not kept(*xu) for xu in zip(x[wedge], words(rng, wedge.size), strict=True)]]
        if again.size:
            x[again] = draw(again.size)
        return x

    def kept(x: np.int64, u: np.uint64) -> bool:
        return reveal(partial(fp.wedge_words, rate, 1 << shift, abs(int(x))), rng, int(u)) == 0

    return _in_chunks(draw, size)


@lru_cache(maxsize=32)
def _gaussian_table(sigma: Fraction) -> tuple[Fraction, int, Table]:
    rate, shift = 1 / (2 * sigma**2), _shift(sigma, GAUSSIAN_HEAD)
    cdf = partial(fp.gaussian_words, rate, 1 << shift)
    return rate, shift, Table.of(cdf, _stair if shift else _signed)


def bernoulli(rng: Any, p: Any, size: Shape) -> Bools:
    """True with probability p, exactly; p is a Fraction, or the rational that a float denotes."""
    p = _rational("p", p, lambda v: 0 <= v <= 1, "a probability from 0 to 1", "Fraction(3, 4)")
    if p in {0, 1}:
        return np.full(size, p == 1)
    return _in_chunks(partial(_coin(p).draw, rng), size).astype(np.bool_)


@lru_cache(maxsize=32)
def _coin(p: Fraction) -> Table:
    return Table.of(partial(fp.probability_words, p), partial(operator.sub, 1))


def _signed(atoms: Ints) -> Ints:
    """0, 1, 2, 3, 4, ... -> 0, -1, 1, -2, 2, ..."""
    return (atoms + 1) // 2 * (1 - 2 * (atoms & 1))


def _stair(atoms: Ints) -> Ints:
    """2 head + wedge, for heads 0, -1, 1, -1, 1, -2, 2, -2, ... and wedge 0, 1, 1, 0, 0, 1, ..."""
    heads: Ints = (atoms + 3) // 4 * (1 - 2 * (atoms & 1))
    return 2 * heads + ((atoms + 1) // 2 & 1)


def _join(head: Ints, gap: Any, shift: int) -> Ints:
    """x of the sign of head, with |x| = 2^shift |head| - gap; 0 for head 0."""
    return (head << shift) - np.sign(head) * gap  # type: ignore[no-any-return]


def _shift(scale: Fraction, head: int) -> int:
    """The least shift with scale <= head 2^shift."""
    return max(0, (math.ceil(scale / head) - 1).bit_length())


def _in_chunks(draw: Callable[[int], Ints], size: Shape) -> Ints:
    result = np.empty(size, dtype=np.int64)
    flat = result.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        part[:] = draw(part.size)
    return result


def _rational(name: str, value: Any, holds: Callable[..., bool], rule: str, like: str) -> Fraction:
    """The exact rational number that an int, a Fraction or a finite float denotes."""
    if not isinstance(value, numbers.Real) or not holds(value):  # NaN holds nothing
        reject(name, value, rule, f"choose a value such as {like}.")
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def _scale(name: str, value: Any) -> Fraction:
    rule = "a finite number above 0, and at most 10**15 for int64 to hold the draws"
    return _rational(name, value, lambda v: 0 < v <= LARGEST, rule, "10")
