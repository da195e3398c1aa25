"""Which methods can sum given losses, best first. (The epsilon of few finite losses needs none: `prefixes`.)

lattice   every loss finite and on one lattice               exact sums of positive terms
contour   something decays on vertical lines: Gaussian,      a short sum with proved bounds on aliases
          subsampled Gaussian, or many Laplace losses        and truncation; declines if they are large
listing   few finite losses                                  all their sums
crest     finite losses, epsilon near the largest sum        the largest sums
spline    Laplace losses: equal, on a common lattice, or few  exact piecewise polynomials
halves    more finite losses                                 their sums as pairs from two lists
smooth    finite and Laplace losses that share no lattice    the contour, with the kink of delta smoothed
grid      everything else                                    tilted Fourier transforms of rounded losses
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpcourse.loss.engine import Engine, Parts, largest_sum
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.contour import Contour
from dpcourse.loss.methods.counts import possible
from dpcourse.loss.methods.crest import crest
from dpcourse.loss.methods.factors import (
    Factor,
    FiniteFactor,
    GaussianFactor,
    LaplaceFactor,
    SubsampledFactor,
)
from dpcourse.loss.methods.few import few
from dpcourse.loss.methods.grid import Grid
from dpcourse.loss.methods.halves import halves
from dpcourse.loss.methods.knots import knots
from dpcourse.loss.methods.lattice import lattice
from dpcourse.loss.methods.listing import listing
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.methods.smooth import Smooth
from dpcourse.loss.methods.spline import spline
from dpcourse.loss.methods.waves import Waves
from dpcourse.loss.shifts import GaussianLoss, LaplaceLoss
from dpcourse.loss.subsampled import SubsampledGaussianLoss

_WIDEST = 600.0  # a Laplace loss whose least value has a probability that is a double
_MOST_WAVES = 2**14  # exponentials on a line; beyond that a grid is faster
_NEEDED = 27.0  # Laplace losses alone need prod M_i/A_i > e^27 at c = 0, or the contour never gets to 1e-11
_ENTRY = 60.0  # nanoseconds for an entry of a list: fewer than it takes, as a line may have to be longer
_MANY = 2**22  # too many of them
_SMOOTH: dict[type, Any] = {GaussianLoss: GaussianFactor, SubsampledGaussianLoss: SubsampledFactor}


def candidates(parts: Parts) -> Iterator[Engine]:
    """The methods that may apply, in order of preference; the last one always answers.

    >>> next(candidates([(LaplaceLoss(0.1), 10)])).method
    'spline: 10 equal Laplace losses have a piecewise polynomial law, 9 Gauss nodes a piece'
    """
    laplace: Any = [(leaf, k) for leaf, k in parts if isinstance(leaf, LaplaceLoss)]
    finite: Any = [(leaf, k) for leaf, k in parts if isinstance(leaf, FiniteLoss)]
    if len(finite) == len(parts) and (exact := lattice(finite)):
        yield exact
    lines = list(contours(parts))
    yield from lines
    saddle = lines[0].saddle if lines else None
    if len(finite) == len(parts) and (every := listing(finite)):
        yield every
    if len(laplace) == len(parts) == 1 and (pieces := spline(*laplace[0])):
        yield pieces
    if len(laplace) + len(finite) == len(parts):
        if laplace and (pieces := knots(laplace, finite)):
            yield pieces
        if laplace and (own := few(laplace, finite)):
            yield own
        if smooth := smoothed(laplace, finite):
            saddle = smooth.saddle
            if not laplace and (highest := crest(finite, saddle)):
                yield highest
            if not laplace and (lists := halves(finite, lambda: min(smooth.work / _ENTRY, _MANY), saddle)):
                yield lists
            yield smooth
    yield Grid(tuple(parts), saddle)


def contours(parts: Parts, needed: float = _NEEDED) -> Iterator[Contour]:
    """The contour, if it knows every loss and something makes it decay."""
    laplace = [(leaf.shift, float(k)) for leaf, k in parts if isinstance(leaf, LaplaceLoss)]
    smooth = [(leaf, k) for leaf, k in parts if type(leaf) in _SMOOTH]
    why = sorted({f"where {type(leaf).__name__} decays" for leaf, _ in smooth})
    if math.fsum(k * math.log1p(math.tanh(shift / 2)) for shift, k in laplace) > needed:
        why.append(f"where {int(sum(k for _, k in laplace))} Laplace losses together decay")
    finite = [FiniteFactor(leaf, k) for leaf, k in parts if isinstance(leaf, FiniteLoss)]
    if not why or len(laplace) + len(finite) + len(smooth) < len(parts):
        return
    factors: list[Any] = [*finite, *(_SMOOTH[type(leaf)](leaf, k) for leaf, k in smooth)]
    if laplace:
        factors.append(LaplaceFactor(*np.array(laplace).T))
    yield Contour(Saddle(factors, _mean(parts)), " and ".join(why))


def smoothed(laplace: Any, finite: Any) -> Smooth | None:
    """The smoothed contour, unless the laws have so many atoms that a grid is faster.

    >>> three = FiniteLoss((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))
    >>> low, high = smoothed([], [(three, 100)]).bounds(np.array([20.0]))
    >>> bool(0 < low < high < low * (1 + 1e-6))
    True
    """
    if sum(len(leaf.atoms[0]) for leaf, _ in finite) + 4 * len(laplace) > _MOST_WAVES:
        return None
    if any(leaf.shift > _WIDEST for leaf, _ in laplace):
        return None
    factors: list[Factor] = [FiniteFactor(leaf, k) for leaf, k in finite]
    waves = [Waves(losses, p, 0 * p, k) for (losses, p), k in ((possible(leaf), k) for leaf, k in finite)]
    for leaf, k in laplace:
        s = leaf.shift
        ends = np.exp([0.0, -s]) / 2  # e^{-s/2} cosh(ws) = (e^{zs} + e^{-s} e^{-zs})/2; sinh likewise
        waves.append(Waves(np.array([s, -s]), ends, ends * [1, -1], k))
    if laplace:
        shifts, times = np.array([(leaf.shift, float(k)) for leaf, k in laplace]).T
        factors.append(LaplaceFactor(shifts, times))
    parts = [*laplace, *finite]
    return Smooth(Saddle(factors, _mean(parts), largest_sum(parts)), waves)


def _mean(parts: Parts) -> float:
    """E[S; S finite], or about that."""
    means = (
        leaf.atoms[0] @ leaf.atoms[1] if isinstance(leaf, FiniteLoss) else leaf.kl() for leaf, _ in parts
    )
    return float(sum(k * mean for mean, (_, k) in zip(means, parts, strict=True)))
