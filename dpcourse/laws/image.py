"""Image: the law of a function of a draw, for post-processing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.laws.base import Law, Size


@dataclass(frozen=True, eq=False)
class Image(Law):
    """The law of function(Y): it can be sampled and its events counted, but has no density of its own.

    The function takes an array of outcomes. Divergences are at most those of the inner law
    (post-processing), so account with that one.
    """

    law: Law
    function: Callable[[Any], Any]

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """As the inner law is."""
        return self.law.discrete

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """As the inner law's."""
        return self.law.batch_shape

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """The function of draws from the inner law."""
        return self.function(self.law.sample(rng, size))

    def _unknown(self, *_: Any) -> Any:
        fix = "use the inner law for divergences, or sample this one."
        reject("law", self, "one whose density is known", fix)

    log_prob = cdf = mean = variance = _unknown  # type: ignore[assignment]

    @property
    def formula(self) -> str:
        """The definition in LaTeX."""
        return r"f(Y)"

    def _picture(self, width: int = 240, height: int = 64) -> str:
        return ""
