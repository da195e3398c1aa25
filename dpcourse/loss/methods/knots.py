"""Different Laplace losses, and finite losses among them, as one spline on a common lattice.

If all 2 s_i, and all gaps between the values of the finite losses, are multiples of one width w, the
sum has a law that is polynomial between knots w apart (see `spline` for one step and for the error
bound). Distances y are measured from the largest loss downwards and kept only as far as eps = 0. With
G(y) the mass within distance y of the top, a Laplace step is

    f'(y) = a [f(y) + f(y - 2s)] + b [G(y) - G(y - 2s)],

and a finite loss is a sum of shifts. The atoms of different steps may fall on each other ("resonate"):
here they are just added, where a contour would have to follow them to very high frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.lattice import common_step
from dpcourse.loss.methods.pieces import MOST_ROUNDING, Pieces, gauss, growth, interpolation
from dpcourse.loss.shifts import LaplaceLoss
from dpcourse.loss.solve import ULP

_MOST_CELLS, _MOST_WORK = 2**18, 2e8


def knots(
    laplace: Sequence[tuple[LaplaceLoss, int]], finite: Sequence[tuple[FiniteLoss, int]]
) -> Pieces | None:
    """The sum on its lattice, or None if there is none, it is too long, or its top underflows.

    >>> low, high = knots([(LaplaceLoss(0.1), 4), (LaplaceLoss(0.3), 2)], []).bounds(np.array([0.5]))
    >>> bool(low < high < low + 1e-14)
    True
    """
    shifts = np.array([leaf.shift for leaf, _ in laplace])
    steps = int(sum(k for _, k in laplace))
    atoms = [tuple(a[leaf.atoms[1] > 0] for a in leaf.atoms) for leaf, _ in finite]
    gaps = [losses[0] - losses for losses, _ in atoms]
    slip = max([ULP * float(shifts.max()), *(leaf.slip for leaf, _ in finite)])
    width = common_step(np.concatenate([2 * shifts, *gaps]), slip)
    if not 0 < width < 200:  # Gauss nodes integrate e^{l/2} over a cell
        return None
    top = float(sum(k * leaf.shift for leaf, k in laplace)) + float(
        sum(k * a[0][0] for a, (_, k) in zip(atoms, finite, strict=True))
    )
    keep = math.ceil(top / width + 1e-9)
    degree, error = nodes_needed(steps, width)
    work = (
        (steps + sum(k * len(gap) for gap, (_, k) in zip(gaps, finite, strict=True)))
        * keep
        * degree
        * (degree + 8.0)
    )
    total = steps + sum(k for _, k in finite)
    rounding = ULP * ((16 + 8 * total) * growth(steps, width) + 4 * (abs(top) + width * keep))
    if not 0 < keep <= _MOST_CELLS or work > _MOST_WORK or rounding > MOST_ROUNDING:
        return None
    state = _State(np.zeros((keep, degree)), np.zeros(keep + 1), 0)
    state.atoms[0] = 1.0
    log_scale = log_top = 0.0
    for (losses, p), gap, (_, k) in zip(atoms, gaps, finite, strict=True):
        weight = p * np.exp(-losses / 2)
        if weight[0] == 0:
            return None
        log_scale += k * math.log(weight.sum())
        log_top += k * math.log(weight[0] / weight.sum())
        for _ in range(k):
            state.jump(np.round(gap / width).astype(int), weight / weight.sum())
    for leaf, k in sorted(laplace, key=lambda part: part[0].shift):
        log_scale += k * (math.log1p(leaf.shift / 2) - leaf.shift / 2)
        log_top -= k * math.log(2 + leaf.shift)
        for _ in range(k):
            state.spread(round(2 * leaf.shift / width), 1 / (2 + leaf.shift), width / (4 + 2 * leaf.shift))
    if log_top < -690:
        return None
    why = (
        f"spline on knots {width:.4g} apart, which all losses share: {steps} Laplace losses"
        + (f" and {sum(k for _, k in finite)} finite ones" if finite else "")
        + f", {degree} Gauss nodes on each of {keep} cells"
    )
    moved = [k * abs(2 * leaf.shift - width * round(2 * leaf.shift / width)) for leaf, k in laplace]
    moved += [
        k * (float(np.abs(gap - width * np.rint(gap / width)).max()) + leaf.slip)
        for gap, (leaf, k) in zip(gaps, finite, strict=True)
    ]
    off = math.fsum(moved)  # moves the sum, and changes a mass e^{-l/2} P by as much
    relative, slack = rounding + error + off, off + 4 * ULP * (abs(top) + width * keep)
    cells, knotted = state.cells[::-1, ::-1], state.atoms[::-1]
    return Pieces(why, top - width * keep, width, cells, knotted, log_scale, relative, slack)


def nodes_needed(steps: int, width: float) -> tuple[int, float]:
    """Gauss nodes a cell for an interpolation error of 1e-15 after all steps, and that error.

    The bound of `spline`: C(k, d) (w/8)^d sqrt(pi d)/d! of the largest value in a cell, for each of k
    steps; a cell's values differ by e^{kw/2} at most. The nodes must also integrate e^{l/2} over a cell.

    >>> nodes_needed(100, 0.002)[0]
    7
    """
    taylor = next(n for n in range(1, 1000) if n * math.log(width / 4) - math.lgamma(n + 1) < -39)
    for d in range(2, steps):
        log_error = math.lgamma(steps + 1) - 2 * math.lgamma(d + 1) - math.lgamma(steps - d + 1)
        log_error += (
            d * math.log(width / 8) + math.log(math.pi * d) / 2 + steps * width / 2 + math.log(2.0 * steps)
        )
        if log_error < math.log(1e-15):
            return max(d, taylor), math.exp(log_error)
    return max(steps, (steps + taylor) // 2 + 1), 0.0


class _State:
    """Cells and atoms from the top down to distance `reach`, within arrays of the final length."""

    def __init__(self, cells: Floats, atoms: Floats, reach: int) -> None:
        self.cells, self.atoms, self.reach = cells, atoms, reach
        self.left, _ = interpolation(cells.shape[1])
        self.weights = gauss(cells.shape[1])[1]

    def jump(self, where: Any, mass: Floats) -> None:
        """A finite loss: shift and add."""
        cells, atoms = np.zeros_like(self.cells), np.zeros_like(self.atoms)
        for shift, weight in zip(where, mass, strict=True):
            if shift < len(atoms):
                cells[shift:] += weight * self.cells[: len(cells) - shift]
                atoms[shift:] += weight * self.atoms[: len(atoms) - shift]
        self.cells, self.atoms = cells, atoms
        self.reach = min(self.reach + int(where[-1]), len(cells))

    def spread(self, n: int, a: float, b: float) -> None:
        """A Laplace loss: two atoms, and between them a difference of G."""
        new = min(self.reach + n, len(self.cells))
        cells, atoms = self.cells[:new], self.atoms[: new + 1]
        before = np.cumsum(atoms)[:-1] + np.append(0.0, np.cumsum(cells @ self.weights)[:-1])
        grown = cells @ (b * self.left.T) + (b * before)[:, None]
        grown += a * cells
        grown[n:] += a * cells[: max(new - n, 0)]
        late = cells[: max(new - n, 0)] @ (b * self.left.T) + (b * before[: max(new - n, 0)])[:, None]
        grown[n:] -= late
        cells[:] = grown
        atoms[n:] = a * (atoms[n:] + atoms[: max(new + 1 - n, 0)])
        atoms[:n] *= a
        self.reach = new
