"""The low bits of noisy answers: Laplace noise in doubles tells f(D) = 0 from f(D) = 1 with certainty.

In real numbers y - 0 and y - 1 are both possible noise. In doubles they need not be, for two reasons.

- The noise has holes. The textbook sampler computes scale ln(v) from a uniform v on a grid of step 2^-52, so
  near x its values are scale 2^-52 e^{|x|/scale} apart, which is more than the spacing of doubles: only some
  doubles are possible (Mironov, CCS 2012). `reachable` searches the grid for a v that gives y.
- The sum is rounded. 1 + x is a multiple of 2^-53 if it is near 0, whatever x is, and 0 + x need not be
  (Haney, Desfontaines, Hartman, Shrestha and Hay, 2022). `addable` needs to know nothing about the sampler.

An answer that is possible from 0 only is the secret itself, and no epsilon covers that: for every epsilon,
delta(epsilon) is at least the probability of such an answer. With numpy's sampler and scale 1 it is .82 (and
.80 from 1). From 1000, against 1001, it is .002: the sum is rounded in coarser steps, which cover most holes,
but not those of the tail; it is still far above any delta that one would promise. The fix is noise on a grid
that does not depend on the data: the discrete Laplace law adds an integer, so every integer is possible from
every count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.errors import Floats, number, numeric, positive, reject, whole
from dpcourse.laws import Finite, Laplace
from dpcourse.laws.base import generator

Bools = NDArray[np.bool_]
NUMPY_BITS: Final = 52  # numpy's U is a multiple of 2^-53, and v = 2U or 2 - 2U
PLENTY: Final = 16  # if this many grid points fall into the interval that rounds to y, one surely gives y
CHUNK: Final = 4096  # outputs at a time
LISTED: Final = 20  # bits up to which all outcomes are listed


@dataclass(frozen=True)
class TextbookLaplace:
    """The sampler of textbooks and of numpy: centre + scale ln(2U) for U < 1/2, and its mirror image above.

    U = k/2^(bits+1), k uniform on 1, ..., 2^(bits+1) - 1, and each operation is rounded to a double. With 52
    bits this is `Generator.laplace` bit for bit (on processors where the compiler fuses the product and the
    sum, for scales that are powers of two). With few bits the exact law can be listed, and the holes can be
    seen.

    >>> noise = TextbookLaplace()
    >>> noise.sample(0.0, np.random.default_rng(0), 2) == np.random.default_rng(0).laplace(0, 1, 2)
    array([ True,  True])
    """

    scale: float = 1.0
    bits: int = NUMPY_BITS

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        if whole("bits", self.bits) > NUMPY_BITS:
            reject("bits", self.bits, f"at most {NUMPY_BITS}", "numpy's own sampler has 52.")

    @property
    def cells(self) -> float:
        """The number of steps from U = 0 to U = 1."""
        return 2.0 ** (self.bits + 1)

    def run(self, k: Floats, centre: float) -> Floats:
        """The program: what it returns if U = k/cells."""
        u = k / self.cells
        upper = u >= 0.5
        noise = self.scale * _log(np.where(upper, 2 - u - u, u + u))  # 2 - u - u is rounded, as in numpy
        return np.where(upper, centre - noise, centre + noise)

    def sample(self, centre: float, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws around the centre."""
        k = np.floor(generator(rng).random(size) * self.cells)
        while (zero := k == 0).any():  # numpy draws again, too
            k[zero] = np.floor(rng.random(int(zero.sum())) * self.cells)
        return self.run(k, centre)

    def law(self, centre: float) -> Finite:
        """The law of the output: the program run on all its coins, for few bits."""
        if self.bits > LISTED:
            fix = f"use at most {LISTED} bits; the holes look the same, only larger."
            reject("bits", self.bits, "few enough to list all outputs", fix)
        outputs, counts = np.unique(self.run(np.arange(1, self.cells), centre), return_counts=True)
        return Finite(tuple(outputs.tolist()), tuple(Fraction(int(c), int(self.cells) - 1) for c in counts))

    def reachable(self, outputs: ArrayLike, centre: float) -> Bools:
        """Whether some U gives each output. False is a proof that none does.

        The program is run on every U that rounding could have carried to y: those around the U that gives y
        in real numbers, in a window wide enough for an error of one unit in the last place in the logarithm
        and half of one in every other operation. Where doubles are so coarse that many U round to y, or that
        half a unit of y exceeds the scale, it is True without a search.

        >>> few = TextbookLaplace(bits=2)  # v = 1/4, 1/2, 3/4 or 1
        >>> few.reachable([1 - math.log(0.5), 1 - math.log(0.5) + 1e-9], centre=1)
        array([ True, False])
        """
        y, centre = np.atleast_1d(numeric("outputs", outputs)), number("centre", centre)
        distance = np.abs(y - centre) / self.scale
        half_unit = np.spacing(np.abs(y)) / (2 * self.scale)
        likely = np.exp(-distance) * self.cells / 2  # v, in steps of the grid
        rounding = likely * half_unit  # in the same steps; e^h - 1 <= 2h for h <= 1 doubles it below
        reach = 3 + 2 * rounding + likely * (distance + 1) * 2.0**-50
        nearest = np.rint(np.where(y >= centre, self.cells - likely, likely))
        found = (rounding >= PLENTY) | (half_unit > 1)
        search = np.flatnonzero(~found)
        for part in np.split(search, range(CHUNK, search.size, CHUNK)):
            width = math.ceil(reach[part].max(initial=0))
            window = nearest[part, None] + np.arange(-width, width + 1.0)
            outputs_there = self.run(np.clip(window, 1, self.cells - 1), centre)
            found[part] = (outputs_there == y[part, None]).any(axis=1)
        return found

    def comb(self, centre: float, around: float, steps: int = 40) -> Floats:
        """All outputs within some steps of the doubles around a number: the teeth of the picture."""
        ladder: Floats = around + np.spacing(abs(around)) * np.arange(-steps, steps + 1)
        return ladder[self.reachable(ladder, centre)]


def _log(v: Floats) -> Floats:
    """The C library's logarithm, which numpy's samplers call; numpy.log may differ in the last bit."""
    return np.fromiter(map(math.log, v.ravel().tolist()), float, v.size).reshape(v.shape)


def addable(outputs: ArrayLike, centre: float) -> Bools:
    """Whether centre + x, rounded, is the output for any double x at all. False is a proof that it is not.

    If any x will do, then the double nearest to y - centre does, or (at a tie) one beside it.

    >>> addable([0.25, 0.25 + 2**-54], centre=0), addable([0.25, 0.25 + 2**-54], centre=1)
    (array([ True, True]), array([ True, False]))
    """
    y = np.atleast_1d(numeric("outputs", outputs))
    x = y - centre
    beside = (np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf))
    hits: Bools = np.any([centre + near == y for near in beside], axis=0)
    return hits


def rounding_rate(scale: float) -> float:
    """How often rounding alone betrays that f(D) = 0, not 1, where the low bits of the noise are uniform.

    E[1 - min(1, unit(Y)/unit(Y - 1))], Y from the Laplace law and unit(y) the spacing of doubles at y: if
    y - 1 is coarser than y, only that share of the doubles near y can be 1 + x.

    >>> round(rounding_rate(1.0), 4)
    0.43...
    """
    law = Laplace(0.0, positive("scale", scale))
    powers = 2.0 ** np.arange(-60, 11)  # at |y| the unit changes, and where |y - 1| is such a power
    edges = np.unique(np.concatenate([-powers, powers, 1 - powers, 1 + powers]))
    middle = (edges[1:] + edges[:-1]) / 2
    hidden = np.minimum(1, np.spacing(np.abs(middle)) / np.spacing(np.abs(middle - 1)))
    return float(np.diff(law.cdf(edges)) @ (1 - hidden))


@dataclass(frozen=True)
class Decided:
    """For each output, whether it can come from either of two true answers."""

    outputs: Floats
    from_left: Bools
    from_right: Bools

    @property
    def certain(self) -> Bools:
        """Where the true answer is known for sure: exactly one of the two can have given the output."""
        return self.from_left ^ self.from_right

    @property
    def bits(self) -> NDArray[np.int8]:
        """0 where it is surely the left answer, 1 where surely the right one, else -1."""
        return np.where(self.certain, self.from_right, -1).astype(np.int8)

    @property
    def rate(self) -> float:
        """The fraction of outputs that give the true answer away."""
        return float(np.mean(self.certain))


def decide(
    outputs: ArrayLike, sampler: TextbookLaplace | None = None, left: float = 0.0, right: float = 1.0
) -> Decided:
    """Which of two true answers the noisy outputs betray: by the sampler's holes, or by rounding alone.

    >>> rng = np.random.default_rng(0)
    >>> found = decide(rng.laplace(1.0, 1.0, 1000), TextbookLaplace())
    >>> bool(found.rate > 0.75), set(found.bits.tolist()) == {1, -1}
    (True, True)
    """
    y = np.atleast_1d(numeric("outputs", outputs))
    if not len(y):
        reject("outputs", outputs, "at least one noisy answer", "draw some.")
    test = addable if sampler is None else sampler.reachable
    return Decided(y, test(y, left), test(y, right))
