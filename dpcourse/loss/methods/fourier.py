"""Sums of losses on a grid, tilted by e^{cl}, by Fourier transform.

The transform of a sum is the product of the transforms; on a window of n points the sum wraps around, and
what wraps is what lies beyond the window, which Chernoff's bound keeps small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import fft, special

from dpcourse.errors import Floats

_NOTHING = 800.0  # e^-800 is below every double
Masses = Sequence[tuple[float, Floats, int]]
"""Laws on a common grid: the first point, the masses, how often."""


def power(parts: Masses, c: float, h: float, size: int, low: float) -> tuple[float, float, Floats]:
    """The tilted sum on start, start + h, ..., with start near `low`, and ln of its total mass."""
    total, start, log_mass = np.ones(size // 2 + 1, dtype=complex), 0.0, 0.0
    for begin, mass, k in parts:
        tilt = c * h * np.arange(len(mass))
        top = float(np.max(np.where(mass > 0, tilt + np.log(np.maximum(mass, 1e-320)), -np.inf)))
        tilted = mass * np.exp(tilt - top)
        weight = float(tilted.sum())
        folded = np.zeros(math.ceil(len(mass) / size) * size)
        folded[: len(mass)] = tilted / weight
        total *= raised(fft.rfft(folded.reshape(-1, size).sum(0)), k)
        start += k * begin
        log_mass += k * (math.log(weight) + top + c * begin)
    ahead = math.ceil((low - start) / h)
    law = np.roll(fft.irfft(total, size), -(ahead % size))
    return start + h * ahead, log_mass, law


def outside(parts: Masses, c: float, h: float, ends: Any) -> float:
    """Chernoff's bound on the share of the tilted law, as it was rounded, that lies beyond the window."""
    apart = np.array([0.0, *(x for x, _ in ends)])
    total = np.zeros(3)
    for begin, mass, k in parts:
        some = np.flatnonzero(mass)
        exponents = np.multiply.outer(c + apart, begin + h * some) + np.log(np.abs(mass[some]))
        total += k * special.logsumexp(exponents, axis=1)
    edges = np.array([low_or_high for _, low_or_high in ends])
    return float(np.exp(np.minimum(total[1:] - total[0] - apart[1:] * edges, 0.0)).sum())


def raised(base: Any, k: int) -> Any:
    """base ** k by squaring; powers too small to matter are 0 from the start: subnormal numbers are slow."""
    base = np.where(np.square(base.real) + np.square(base.imag) < 1e-200 ** (1 / k), 0, base)
    result = None
    while k:
        if k & 1:
            result = base if result is None else result * base
        k >>= 1
        if k:
            base = base * base
    return result


def survival(
    start: float, law: Floats, h: float, tilt: float, span: tuple[float, float]
) -> tuple[float, Floats]:
    """The sum over i >= j of law[i] e^{-tilt (l_i - l_j)}, for each grid point l_j of the span.

    Relative to l_j, so that nothing overflows however wide the span is; by doubling: the sum over the
    next two points, four, eight, ..., until what is left out is below every rounding.
    """
    first = max(math.floor((span[0] - start) / h), 0)
    last = max(min(math.ceil((span[1] - start) / h), len(law) - 2), first)
    total, ahead = law[first:].copy(), 1
    while ahead < len(total) and tilt * h * ahead < _NOTHING:
        total[:-ahead] += math.exp(-tilt * h * ahead) * total[ahead:]
        ahead *= 2
    return start + h * first, total[: last - first + 2]
