"""The two functions of bounded frequency that enclose the kink of delta most narrowly.

On a line Re z = c, delta(eps) is the mean of phi(S - eps), phi(x) = e^{-cx} (1 - e^{-x})+, in the law tilted
by e^{cS}. Let v = cu and d = u for a unit u, so that phi(uy) = e^{-vy} - e^{-(v+d)y} for y > 0, and choose
points n + a. With phi and its derivative taken as functions of y, the function

    (sin(pi (y - a))/pi)^2 * sum over n >= 0 of [phi(n + a)/(y - n - a)^2 + phi'(n + a)/(y - n - a)]

has frequencies up to 2 pi only and touches phi at every point. It is above phi everywhere if

    a = (1/d) ln [(v + d)(1 - e^{-v}) / (v (1 - e^{-v-d}))]                   (a little below 1/2)

and below it if a = 0 and phi'(0), which may be anything from 0 to d at the kink, is r(v) - r(v + d) with
r(x) = x/(e^x - 1). No others of these frequencies have integrals as near: they are off by 1/24 and, at most,
1/12 of u^2. (S. Graham and J. Vaaler: A class of extremal functions for the Fourier transform, Trans. AMS
265, 1981; F. Littmann: Entire approximations to the truncated powers, Constructive Approximation 22, 2006.)

Proof. Write 1/(y - n - a) and its square as integrals of e^{sy} over s > 0. For y < 0 the sum is the integral
of e^{sy} B(s), and for y > 0 the sum less phi(y) (pi/sin)^2 that of -e^{-sy} B(-s), where

    above: B(s) = b(v + s) - b(v + d + s),  b(x) = x e^{-ax}/(1 - e^{-x});
    below: B(s) = [r(v + s) - r(v + d + s)] - [r(v) - r(v + d)].

b is log-concave and a is such that B(0) = 0, so B(s) has the sign of s; r is convex and falls, so there B(s)
has the opposite sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from dpcourse.errors import Floats
from dpcourse.loss.logs import turned

LARGEST: Final = 1.4  # of t^2 times a transform, for cu up to 3: computed on a mesh, at most 1.36
_SMALL: Final = 0.3  # below it, differences of logarithms would lose digits
GAP: Final = 1 / 8  # between the two integrals, in units of u^2, at most


def transforms(
    c: float, unit: float, t: Floats, turn: Callable[[float], Any] | None = None
) -> tuple[Any, Any]:
    """The Fourier transforms of the function below and of the one above, for 0 <= t <= 2 pi/u.

    With A and B the sums of phi(n + a) e^{-it(n + a)} and of phi'(n + a) e^{-it(n + a)}, geometric series
    both, the transform at t, in units of 1/u, is (1 - t/2pi) A - (i/2pi) B. Who has e^{-i rate t} - 1 in a
    table may bring it.

    >>> import numpy as np
    >>> below, above = transforms(3.0, 0.01, np.array([0.0]))  # the integral of phi is 1/(c(c + 1))
    >>> f"{12 * below.real[0]:.6f} {12 * above.real[0]:.6f}"
    '0.999900 1.000050'
    """
    v, d = c * unit, unit
    a = _point(v, d)
    angle = unit * t
    taper, rest = 1 - angle / (2 * math.pi), 1j / (2 * math.pi)
    turn = turn or (lambda rate: turned(-rate * t))
    back = turn(unit)
    fall = math.exp(-v) * (1 + back)
    one = -math.expm1(-v) - math.exp(-v) * back  # 1 - e^{-v - it}
    both = 1 / (one * (-math.expm1(-v - d) - math.exp(-v - d) * back))
    each = d * one * both
    values = -math.expm1(-d) * fall * both
    below = taper * values - rest * (_drop(v, d) - d - v * values + each)
    both *= math.exp(-v * a) * (1 + turn(a * unit))
    each = (d * math.exp(-d * a)) * one * both
    values = both * (math.exp(-d * a) * -math.expm1(-d * (1 - a)) * fall - math.expm1(-d * a))
    above = taper * values - rest * (each - v * values)
    return unit * below, unit * above


def _point(v: float, d: float) -> float:
    """The first point of the function above: -(L(v + d) - L(v))/d, L(x) = ln (1 - e^{-x})/x.

    >>> f"{_point(1e-9, 1e-9):.10f} {_point(2.0, 1e-4):.10f}"
    '0.4999999999 0.3434789080'
    """
    if v + d > _SMALL:
        return (math.log1p(d / v) - math.log1p(-math.expm1(-d) / math.expm1(v))) / d
    return 0.5 - sum(rise / number for _, rise, number in _series(v, d))


def _drop(v: float, d: float) -> float:
    """r(v) - r(v + d), r(x) = x/(e^x - 1) = 1 + x L'(x).

    >>> f"{_drop(1e-9, 1e-9):.3e} {_drop(2.0, 1e-4):.3e}"
    '5.000e-10 2.056e-05'
    """
    if v + d > _SMALL:
        grown = math.expm1(v)
        return (v * math.exp(v) * math.expm1(d) - d * grown) / (grown * math.expm1(v + d))
    return d * (0.5 - sum(n * rise / number for n, rise, number in _series(v, d)))


def _series(v: float, d: float) -> list[tuple[int, float, float]]:
    """n, ((v + d)^n - v^n)/d and the number m of each term x^n/m of L(x) = -x/2 + x^2/24 - x^4/2880 + ..."""
    terms = ((2, 24.0), (4, -2880.0), (6, 181440.0), (8, -9676800.0), (10, 479001600.0))
    return [(n, sum((v + d) ** i * v ** (n - 1 - i) for i in range(n)), number) for n, number in terms]
