"""k equal Laplace losses as an exact spline.

In the measure e^{-l/2} P, one Laplace loss of shift s is a (delta_{-s} + delta_{+s}) + b 1_(-s,s) with
a = e^{-s/2}/2 and b = a/2. After j steps there are atoms at -js, -js + 2s, ..., js, and between
neighbouring ones a polynomial of degree < j. Numbering atoms and cells from the top, with u in (0, 2)
the place in a cell in units of s,

    atom'_r    = a [atom_r + atom_{r-1}],
    cell'_r(u) = a [cell_r(u) + cell_{r-1}(u)] + b s [atom_r + integral_u^2 cell_r + integral_0^u cell_{r-1}].

A cell is stored by its values at d Gauss nodes, a row is (cell, atom), and a step is row'_r = row_r K_0
+ row_{r-1} K_1; m steps at once are a polynomial of degree m in the shift, with matrix coefficients.

Proved: within a cell |f^(n)| <= C(j, n) (s/2)^n f, because each derivative turns one b-term (integral)
into a difference of two a-terms times b/a = 1/2. So interpolation at d nodes errs by less than C(k, d)
(s/4)^d sqrt(pi d)/d! of the largest value in the cell, which is at most e^{ks} times the least; for d >=
k it is exact. Modelled: rounding, a few ulps a step of the largest value in a cell (see `pieces.growth`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcourse.loss.methods.pieces import MOST_ROUNDING, Pieces, growth, interpolation
from dpcourse.loss.shifts import LaplaceLoss
from dpcourse.loss.solve import ULP

_MOST_STEPS = 500
_WIDEST = 100.0  # a shift: Gauss nodes integrate e^{l/2} over a cell of twice that


def spline(leaf: LaplaceLoss, k: int) -> Pieces | None:
    """k Laplace losses; None for long sums, or shifts so large that a tail would underflow or be rounding.

    >>> low, high = spline(LaplaceLoss(0.1), 10).bounds(np.array([0.5]))
    >>> f"{low[0]:.12f} {high[0]:.12f}"
    '0.008938294603 0.008938294603'
    """
    s = leaf.shift
    if k > _MOST_STEPS or k * math.log(2 + s) > 690 or s > _WIDEST:
        return None
    degree, error = _degree(k, s)
    rounding = ULP * ((16 + 4 * k) * growth(k, 2 * s) + 4 * k * s)
    if rounding > MOST_ROUNDING:
        return None
    rows = _rows(k, s, degree, k // 2 + 1)
    values, atoms = rows[: k // 2, :-1][::-1], rows[:, -1][::-1]
    if k % 2:  # the middle cell reaches below 0; keep it whole
        values = np.concatenate([rows[k // 2 : k // 2 + 1, :-1], values])
        atoms = np.append(rows[k // 2, -1], atoms)
    start = k * s - 2 * s * len(values)
    why = f"spline: {k} equal Laplace losses have a piecewise polynomial law, {degree} Gauss nodes a piece"
    scale = k * (math.log1p(s / 2) - s / 2)
    return Pieces(why, start, 2 * s, values, atoms, scale, error + rounding, 3 * ULP * k * s)


def _degree(k: int, s: float) -> tuple[int, float]:
    """The fewest nodes that interpolate to 1e-15 and integrate e^{l/2} over a cell, and their error."""
    half = math.log(s / 2)
    taylor = next(n for n in range(1, 1000) if n * half - math.lgamma(n + 1) < -39)
    common = math.lgamma(k + 1) + k * s + math.log(2.0 * k)
    for d in range(max(taylor, 4), k):
        log_error = common - 2 * math.lgamma(d + 1) - math.lgamma(k - d + 1)
        log_error += d * (half - math.log(2)) + math.log(math.pi * d) / 2
        if log_error < -34.54:  # ln 1e-15
            return d, math.exp(log_error)
    return max(k, (k + taylor) // 2 + 1), 0.0


def _rows(k: int, s: float, degree: int, keep: int) -> Any:
    """(cell, atom) rows from the top after k steps, scaled to total mass 1."""
    kernel = power = _kernel(degree, s)
    chunk = min(k, 2 if k < 16 else 4 if k < 48 else 8 if k < 200 else 16)
    while len(power) <= chunk:
        power = _square(power)
    rows = power[:keep, -1]  # one chunk, from the atom at 0
    return _apply(_apply(rows, power, k // chunk - 1, keep), kernel, k % chunk, keep)


def _kernel(degree: int, s: float) -> Any:
    """K_0 and K_1, divided by the mass (1 + s/2) e^{-s/2} of a step; densities are per cell of length 2s."""
    left, right = interpolation(degree)
    a, b = 1 / (2 + s), s / (2 + s)  # b is the mass of the uniform part: b s * 2 in the formula
    kernel = np.zeros((2, degree + 1, degree + 1))
    kernel[:, -1, -1] = a
    kernel[0, -1, :-1] = b
    kernel[:, :-1, :-1] = a * np.eye(degree)
    kernel[0, :-1, :-1] += b * right.T
    kernel[1, :-1, :-1] += b * left.T
    return kernel


def _square(kernel: Any) -> Any:
    n, size, _ = kernel.shape
    product = np.zeros((2 * n - 1, size, size))
    for i in range(n):
        product[i : i + n] += kernel[i] @ kernel
    return product


def _apply(rows: Any, kernel: Any, times: int, keep: int) -> Any:
    """rows'_r = sum over j of rows_{r-j} kernel_j, as one matrix product over windows of rows."""
    n, size, _ = kernel.shape
    stacked = kernel[::-1].reshape(n * size, size)
    for _ in range(times):
        more = min(len(rows) + n - 1, keep)
        padded = np.zeros((more + n - 1, size))
        padded[n - 1 : n - 1 + len(rows)] = rows[:more]
        windows = np.concatenate([padded[i : i + more] for i in range(n)], axis=1)
        # In blocks so small that the matrix product stays on one thread: starting another costs more.
        block = max(8, 250_000 // stacked.size)
        parts = [windows[i : i + block] @ stacked for i in range(0, more, block)]
        rows = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return rows
