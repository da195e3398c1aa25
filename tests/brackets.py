"""What tests of composition share: brackets, and every method that can sum given losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import mpmath
import numpy as np

from dpcourse.loss import FiniteLoss, LaplaceLoss, PrivacyLoss
from dpcourse.loss.engine import Engine
from dpcourse.loss.methods.choose import contours, smoothed
from dpcourse.loss.methods.crest import crest
from dpcourse.loss.methods.grid import Grid
from dpcourse.loss.methods.halves import halves
from dpcourse.loss.methods.knots import knots
from dpcourse.loss.methods.lattice import lattice
from dpcourse.loss.methods.listing import listing
from dpcourse.loss.methods.spline import spline

Parts = Sequence[tuple[PrivacyLoss, int]]


def randomized_response(epsilon: float) -> FiniteLoss:
    """Two outcomes whose odds are e^epsilon and e^-epsilon."""
    keep, flip = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    return FiniteLoss((keep, flip), (flip, keep))


def contains(bracket: tuple[Any, Any], text: str | mpmath.mpf, digits: int = 0) -> bool:
    """Whether the truth, known to so many digits (a double if 0), lies in the bracket."""
    truth = mpmath.mpf(text)
    spare = abs(truth) * mpmath.mpf(10) ** (1 - digits) if digits else abs(truth) * mpmath.mpf(2) ** -52
    return bool(
        mpmath.mpf(float(bracket[0])) <= truth + spare and truth - spare <= mpmath.mpf(float(bracket[1]))
    )


def overlap(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
    """Whether two brackets, or arrays of them, have a point in common."""
    same = 1 + 1e-15
    return bool(np.all(a[0] <= b[1] * same) and np.all(b[0] <= a[1] * same))


def direct_engines(parts: Parts) -> Iterator[tuple[str, Engine]]:
    """Every method that can sum these losses at all, not only the preferred one."""
    laplace: Any = [(leaf, k) for leaf, k in parts if isinstance(leaf, LaplaceLoss)]
    finite: Any = [(leaf, k) for leaf, k in parts if isinstance(leaf, FiniteLoss)]
    only_atoms = len(laplace) + len(finite) == len(parts)
    smooth = smoothed(laplace, finite) if only_atoms else None
    options: dict[str, Any] = {
        "lattice": lattice(finite) if len(finite) == len(parts) else None,
        "listing": listing(finite) if len(finite) == len(parts) else None,
        "crest": crest(finite, smooth.saddle) if smooth and len(finite) == len(parts) else None,
        "contour": next(contours(parts, needed=0.0), None),
        "spline": spline(*laplace[0]) if len(laplace) == len(parts) == 1 else None,
        "knots": knots(laplace, finite) if laplace and only_atoms else None,
        "smooth": smooth,
        "halves": halves(finite, lambda: 2e5, smooth.saddle)
        if smooth and len(finite) == len(parts)
        else None,
        "grid": Grid(tuple(parts)),
    }
    yield from ((name, engine) for name, engine in options.items() if engine is not None)
