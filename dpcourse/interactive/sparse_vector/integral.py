r"""The one integral behind every sparse-vector probability, with a proved error bound.

Given the threshold noise z, the answers are independent, so the chance of a string of answers is

    I = \int_{z <= upper} f_a(z) \prod_i F_b(z - q_i)^{no_i} S_b(max(z, floor_i) - q_i)^{yes_i} dz

with f_a the Laplace density of scale a, F_b and S_b the Laplace distribution function and tail of scale b.
Between the knots 0, q_i, floor_i the integrand is entire, a polynomial in exponentials. Gauss-Legendre with
N nodes on a panel is then off by at most (64/15) h M r^{-2N}/(1 - r^{-2}), h the half-width and M a bound on
the modulus in the Bernstein ellipse of parameter r. (The k-th Chebyshev coefficient is at most 2 M r^{-k},
odd k cancel, and a rule with positive weights is off by at most 2 + 2/(k^2 - 1) on T_k.) M has a closed form
here, and panels are halved until these bounds are negligible. All terms are positive and in logarithms, so
a probability of e^{-10000} is as accurate as one of 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.solve import ULP

NODES: Final = 16
_X, _W = np.polynomial.legendre.leggauss(NODES)
_ELLIPSES: Final = (2.0, 4.0, 8.0)
_SMALL: Final = -38.0  # ln of a panel's error that no longer matters: 3e-17
_TAIL: Final = 60.0  # the mass beyond the ends is below 2 e^-60 of the whole, on each side
_ROWS: Final = 2048  # strings integrated side by side
_VALUES: Final = 2**22  # factors evaluated at once, to bound the memory
_LN2: Final = math.log(2)


@dataclass(frozen=True)
class Factors:
    """The integrand of several strings on common knots: row by row, how often each F and S occurs."""

    a: float
    b: float
    centres: Floats
    floors: Floats
    no: Floats
    yes: Floats
    upper: float = math.inf

    def knots(self) -> Floats:
        """Where the integrand is not smooth."""
        floors = self.floors[np.isfinite(self.floors)]
        return np.unique(np.concatenate([[0.0], self.centres, floors]))

    def log_values(self, z: Floats) -> Floats:
        """ln of the integrand at points z of any shape; rows first."""
        x = z.reshape(-1, 1)
        no = log_cdf((x - self.centres) / self.b)
        yes = log_cdf((self.centres - np.maximum(x, self.floors)) / self.b)
        noise = -np.abs(z) / self.a - math.log(2 * self.a)
        return (self.counts @ np.hstack([no, yes]).T).reshape(-1, *z.shape) + noise

    @property
    def counts(self) -> Floats:
        """Noes and yeses side by side."""
        return np.hstack([self.no, self.yes])

    def log_moduli(self, middle: Floats, half: Floats, ellipse: float) -> Floats:
        """ln of a bound on the modulus in the ellipse around each panel; rows first."""
        reach, height = half * (ellipse + 1 / ellipse) / 2, half * (ellipse - 1 / ellipse) / 2
        u, du, v = (
            (middle[:, None] - self.centres) / self.b,
            reach[:, None] / self.b,
            height[:, None] / self.b,
        )
        still = middle[:, None] < self.floors  # below its floor a yes has a constant factor
        no = np.where(u < 0, u - _LN2, _log_modulus(u, du, v))
        yes = np.where(u > 0, -u - _LN2, _log_modulus(-u, du, v))
        yes = np.where(still, log_cdf((self.centres - self.floors) / self.b), yes)
        # The pure exponentials are one exponential together, whose slopes partly cancel.
        slopes = (self.no @ (u < 0).T - self.yes @ ((u > 0) & ~still).T) / self.b - np.sign(middle) / self.a
        noise = -np.abs(middle) / self.a - math.log(2 * self.a)
        bound: Floats = self.counts @ np.hstack([no, yes]).T + noise + np.abs(slopes) * reach
        return bound

    def ends(self) -> tuple[float, float]:
        """Left and right ends beyond which lies less than 2 e^-60 of each row's integral.

        Left of all knots the integrand is C e^{kz} prod (1 - e^{x}/2) with k = 1/a + no/b. The product is
        at least 1/2 once x <= -ln(yes), so the mass beyond L is at most 2 e^{-k(z0 - L)} of the whole.
        """
        knots = self.knots()
        noes, yeses = self.no.sum(1), self.yes.sum(1)
        left = min(knots[0], self.upper) - self.b * math.log(max(1.0, yeses.max()))
        right = knots[-1] + self.b * math.log(max(1.0, noes.max()))
        left -= _TAIL / (1 / self.a + noes.min() / self.b)
        right += _TAIL / (1 / self.a + yeses.min() / self.b)
        return left, min(right, self.upper)

    def rounding(self, z: Floats) -> Floats:
        """About how far rounding moves ln of the integral, whose mass lies around z (one for each row)."""
        x = (z[:, None] - self.centres) / self.b
        size = (np.abs(z)[:, None] + np.abs(self.centres)) / self.b
        total = np.abs(z) / self.a + NODES
        for count, s in ((self.no, x), (self.yes, -x)):
            slope = 1 / (2 * np.exp(np.clip(s, 0, 700)) - 1)  # of ln F at s: how an error of s comes through
            total = total + (count * (2 * np.abs(log_cdf(s)) + size * slope)).sum(1)
        return 4 * ULP * total


def log_cdf(x: Floats) -> Floats:
    """ln of the standard Laplace distribution function; the tail is log_cdf(-x)."""
    return np.where(x < 0, x - _LN2, np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))


def _log_modulus(u: Floats, du: Floats, v: Floats) -> Floats:
    """ln of the largest |1 - e^{-w}/2| over |Re w - u| <= du, |Im w| <= v.

    |1 - e^{-w}/2|^2 = (1 - e^{-s}/2)^2 + e^{-s} (1 - cos t), w = s + it, which grows with |t| up to pi and is
    largest at an end of the range of s.
    """
    turn = 1 - np.cos(np.minimum(v, math.pi))
    ends = []
    for s in (u - du, u + du):
        decay = np.exp(-np.maximum(s, -5))
        near = 0.5 * np.log((1 - decay / 2) ** 2 + decay * turn + 4 * ULP)
        ends.append(np.where(s > -5, near, np.logaddexp(0, -s - _LN2)))
    return np.maximum(*ends)


def log_integrals(factors: Factors) -> tuple[Floats, Floats]:
    """ln of each row's integral, and a bound on its error: truncation proved, rounding at the peak."""
    blocks = range(0, len(factors.no), _ROWS)
    parts = [(factors.no[i : i + _ROWS], factors.yes[i : i + _ROWS]) for i in blocks]
    found = [_integrate(replace(factors, no=no, yes=yes)) for no, yes in parts]
    values, errors = zip(*found, strict=True)
    return np.concatenate(values), np.concatenate(errors)


def _integrate(factors: Factors) -> tuple[Floats, Floats]:
    low, high = factors.ends()
    knots = factors.knots()
    edges = np.concatenate([[low], knots[(knots > low) & (knots < high)], [high]])
    edges = edges[np.append(True, np.diff(edges) > 1e-200 * (factors.a + factors.b))]  # less holds no mass
    left, right = edges[:-1], edges[1:]
    rows = len(factors.no)
    at_once = max(1, _VALUES // (NODES * (rows + 2 * len(factors.centres))))
    done, slips, where = np.full(rows, -np.inf), np.full(rows, -np.inf), np.zeros(rows)
    least, peak = _lower_bound(factors, edges), np.full(rows, -np.inf)
    while len(left):
        (now, left), (stop, right) = ((v[:at_once], v[at_once:]) for v in (left, right))
        half = (stop - now) / 2
        middle = now + half
        z = middle[:, None] + half[:, None] * _X
        terms = factors.log_values(z) + np.log(half[:, None] * _W)
        top = terms.max((1, 2))
        where = np.where(top > peak, z.ravel()[terms.reshape(rows, -1).argmax(1)], where)
        peak = np.maximum(top, peak)
        values = np.log(np.exp(terms - peak[:, None, None]).sum(2) + np.finfo(float).tiny) + peak[:, None]
        slip = _truncation(factors, middle, half)
        total = np.maximum(least, np.logaddexp(done, np.logaddexp.reduce(values, axis=1)))
        bad = (slip > total[:, None] + _SMALL).any(0) & (half > 64 * ULP * np.abs(middle))
        done = np.logaddexp(done, np.logaddexp.reduce(values[:, ~bad], axis=1, initial=-np.inf))
        slips = np.logaddexp(slips, np.logaddexp.reduce(slip[:, ~bad], axis=1, initial=-np.inf))
        left = np.concatenate([left, now[bad], middle[bad]])
        right = np.concatenate([right, middle[bad], stop[bad]])
    return done, np.exp(slips - done) + 4 * math.exp(-_TAIL) + factors.rounding(where)


def _lower_bound(factors: Factors, edges: Floats) -> Floats:
    """ln of a lower bound on each integral: a log-concave integrand is least at the ends of a panel."""
    at_edges = factors.log_values(edges)
    ends = np.minimum(at_edges[:, :-1], at_edges[:, 1:]) + np.log(np.diff(edges))
    bound: Floats = np.logaddexp.reduce(ends, axis=1)
    return bound


def _truncation(factors: Factors, middle: Floats, half: Floats) -> Floats:
    """ln of the bound on each panel's quadrature error, by the best of a few ellipses."""
    bounds = []
    for r in _ELLIPSES:
        constant = math.log(64 / 15) - 2 * NODES * math.log(r) - math.log1p(-(r**-2))
        bounds.append(factors.log_moduli(middle, half, r) + np.log(half) + constant)
    least: Floats = np.minimum.reduce(bounds)
    return least
