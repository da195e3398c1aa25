"""A sum of many waves at many even points, by one Fourier transform.

Each wave w e^{itl} is spread onto 18 points of a grid of frequencies, twice as fine as it must be, with the
window of Kaiser and Bessel. The transform of the grid, divided by that of the window, is off by some ulps of
the sum of |w|. (J. Fessler and B. Sutton: Nonuniform fast Fourier transforms using min-max interpolation,
IEEE Trans. Signal Processing 51, 2003; D. Potts and G. Steidl: Fast summation at nonequispaced knots by
NFFTs, SIAM J. Sci. Comput. 24, 2003, bound the error of such windows.)
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev
from scipy import fft, sparse

from dpcourse import special
from dpcourse.errors import Floats

OFF: Final = (
    256.0  # ulps of the sum of |w|, apart from the rounding of t l: three times the worst of some thousands
)
_HALF: Final = 9  # points on each side
_NEAR: Final = np.arange(1 - _HALF, _HALF + 1)
_STEEP: Final = 1.5 * math.pi * _HALF  # for a grid twice as fine
_DEGREE: Final = 20
_BLOCK: Final = 2**12  # waves at a time: their windows stay near the processor


@cache
def _window() -> Floats:
    """For each of the points, the window as a polynomial in how far a wave is from the point before it."""
    node = chebyshev.chebpts1(_DEGREE + 1)
    room = np.sqrt(np.maximum(1 - np.square((_NEAR - (1 + node[:, None]) / 2) / _HALF), 0.0))
    values = special.i0e(_STEEP * room) * np.exp(_STEEP * (room - 1))
    return np.linalg.solve(chebyshev.chebvander(node, _DEGREE), values)


def even_sums(losses: Floats, weights: Any, start: float, step: float, count: int) -> Any:
    """The sums of w e^{itl} for t = start, start + step, ..., for each row of weights.

    >>> losses, weights = np.array([-0.3, 0.1, 0.7]), np.array([[0.2, 0.5, 0.3]])
    >>> direct = np.exp(1j * np.multiply.outer(2 + 0.25 * np.arange(100), losses)) @ weights[0]
    >>> bool(np.allclose(even_sums(losses, weights, 2, 0.25, 100)[0], direct, rtol=0, atol=1e-14))
    True
    """
    size, middle = fft.next_fast_len(2 * count), count // 2
    grid = np.zeros((size, len(weights)), dtype=complex)
    for some in (slice(i, i + _BLOCK) for i in range(0, len(losses), _BLOCK)):
        place = losses[some] * (step * size / (2 * math.pi))
        first = np.floor(place)
        share = chebyshev.chebvander(2 * (place - first) - 1, _DEGREE) @ _window()
        points = (first.astype(np.int64)[:, None] + _NEAR) % size
        turned = weights[:, some] * np.exp(1j * (start + step * middle) * losses[some])
        ends = np.arange(0, points.size + 1, len(_NEAR))
        onto = sparse.csc_matrix((share.ravel(), points.ravel(), ends), shape=(size, len(first)))
        grid += (onto @ np.ascontiguousarray(turned.T).view(float)).view(complex)
    total = fft.ifft(grid.T, norm="forward")
    angle = (2 * math.pi / size) * np.arange(-middle, count - middle)
    steep = np.sqrt(_STEEP**2 - np.square(_HALF * angle))
    total = np.concatenate([total[:, size - middle :], total[:, : count - middle]], axis=1)
    return total * (steep / _HALF * np.exp(_STEEP - steep))  # the window's transform is 2 sinh(x)/x
