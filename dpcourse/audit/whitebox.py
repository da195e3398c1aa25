"""An audit of a mechanism: what samples certify, next to what the law says exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpcourse.audit.bounds import LowerBound, epsilon_lower_bound
from dpcourse.audit.events import blindly
from dpcourse.errors import BadInput, reject, whole
from dpcourse.laws import Image
from dpcourse.laws.base import generator
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import Mechanism

Score = Callable[[Any], Any]


@dataclass(frozen=True)
class Audit:
    """A certified lower bound on epsilon and, where the law is known, the exact value for this pair.

    A bound above the exact value has one explanation, up to the confidence: the sampler does not draw
    from the law that the mechanism states.
    """

    bound: LowerBound
    exact: float | None
    samples: int

    @property
    def consistent(self) -> bool:
        """Whether the samples agree with the stated law."""
        return self.exact is None or self.bound.epsilon <= self.exact * (1 + 1e-9)

    def __str__(self) -> str:
        exact = "unknown exactly" if self.exact is None else f"exactly {self.exact:.4f}"
        warning = "" if self.consistent else "; more than the law allows: the sampler draws something else"
        return f"{self.bound}, {exact}{warning}"


def audit(
    mechanism: Mechanism,
    left: Any,
    right: Any,
    rng: np.random.Generator,
    samples: int = 10**6,
    score: Score | None = None,
    delta: float = 0.0,
    confidence: float = 0.99,
) -> Audit:
    """Run the mechanism on two neighbours, and certify an epsilon that it does not beat.

    Half of the samples come from each world. `score` gives one number for an array of outputs each (or
    for one output); by default it is the exact privacy loss, the best score there is.

    >>> from dpcourse.mechanisms import LaplaceMechanism
    >>> found = audit(LaplaceMechanism(1.0), 0, 1, np.random.default_rng(1), samples=100_000)
    >>> 0.92 < found.bound.epsilon < found.exact == 1.0
    True
    """
    if not mechanism.are_neighbours(left, right):
        rule = f"a pair of neighbours ({mechanism.guarantee.adjacency!r})"
        reject("(left, right)", (left, right), rule, "change one person's data only.")
    half = whole("samples", samples, at_least=20) // 2
    laws = mechanism.law(left), mechanism.law(right)
    known = not any(isinstance(law, Image) for law in laws)
    if score is None and not known:
        fix = "pass score=, a function that gives each output a number."
        reject("score", score, "given where the law has no density", fix)
    worlds = [mechanism(data, generator(rng), half) for data in (left, right)]
    if score is None:
        scores_p, scores_q = (PrivacyLoss.between(*laws).at(outputs) for outputs in worlds)
    else:
        scores_p, scores_q = blindly(partial(_scored, score), worlds[0], worlds[1], rng)
    bound = epsilon_lower_bound(scores_p, scores_q, delta, confidence)
    return Audit(bound, _exact(laws, delta) if known else None, 2 * half)


def _scored(score: Score, outputs: Any) -> Any:
    """One score for each output, from the whole array or one by one."""
    try:
        found = np.asarray(score(outputs), dtype=float)
    except Exception:  # it was written for one output
        found = np.empty(0)
    return found if found.shape == (len(outputs),) else np.array([float(score(y)) for y in outputs])


def _exact(laws: tuple[Any, Any], delta: float) -> float | None:
    """The exact epsilon at delta, in the worse of both directions."""
    try:
        loss = PrivacyLoss.between(*laws)
        return max(float(loss.epsilon(delta)), float(loss.reversed().epsilon(delta)))
    except BadInput:
        return None
