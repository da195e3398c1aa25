"""The privacy loss of two laws on the integers: sums over a window that misses next to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import reject
from dpcourse.laws import DiscreteGaussian
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.logs import log_sum_exp

MOST_OUTCOMES: Final = 2**23
_MISSED: Final = 1e-300


@dataclass(frozen=True)
class IntegerLoss(FiniteLoss):
    """Infinitely many outcomes, of which those outside the window have mass below 1e-300 in all.

    >>> from dpcourse.laws import DiscreteGaussian
    >>> loss = IntegerLoss.of(DiscreteGaussian(0, 2), DiscreteGaussian(1, 2))
    >>> loss.renyi(3)  # 3 (1/2)^2/2, as for the continuous law
    0.375
    """

    @classmethod
    def of(cls, p: Any, q: Any) -> IntegerLoss:
        """Both laws on a window around their centres."""
        y = _window(p, q)
        log_p, log_q = p.log_prob(y), q.log_prob(y)
        masses = tuple(np.exp(log_p).tolist()), tuple(np.exp(log_q).tolist())
        return cls(*masses, _MISSED, tuple((log_p - log_q).tolist()), (p, q))

    def log_moment(self, z: ArrayLike) -> Any:
        """The same sum with a window that follows the tilt; infinite where it does not converge.

        The terms are summed from log-densities, because the outcomes that matter for a high order have
        probabilities far below the smallest double.
        """
        z = np.asarray(z)
        return np.array([self._tilted(v) for v in z.ravel()]).reshape(z.shape)[()]

    def _tilted(self, z: Any) -> Any:
        p, q = self._laws()
        y = _window(p, q, stretch=1 + abs(float(np.real(z))))
        log_p = p.log_prob(y)
        exponents = log_p + z * (log_p - q.log_prob(y))
        size = np.real(exponents)
        if max(size[0], size[-1]) > size.max() - 40:
            return np.inf
        return log_sum_exp(exponents)

    def reversed(self) -> IntegerLoss:
        """P and Q exchanged."""
        return IntegerLoss.of(*self._laws()[::-1])


def _window(p: Any, q: Any, stretch: float = 1.0) -> Any:
    """The integers that matter; a tilt by z moves a Gaussian sum by z times the shift."""
    shift = stretch * abs(p.loc - q.loc)
    reach = [(40 if isinstance(law, DiscreteGaussian) else 700) * law.scale + shift for law in (p, q)]
    low = int(min(p.loc - reach[0], q.loc - reach[1])) - 1
    high = int(max(p.loc + reach[0], q.loc + reach[1])) + 1
    if high - low > MOST_OUTCOMES:
        fix = "use the continuous law, which is as close to it as a double can tell."
        reject("scale", (p.scale, q.scale), f"small enough for {MOST_OUTCOMES} outcomes", fix)
    return np.arange(low, high + 1)
