"""Verdicts on an attack: does an event prove that a mechanism breaks its promise?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.audit.confidence import check_confidence, clopper_pearson
from dpcourse.audit.events import count, probabilities
from dpcourse.errors import BadInput, reject, whole
from dpcourse.guarantees import ApproxDP, Guarantee, PureDP
from dpcourse.laws.base import generator
from dpcourse.mechanisms import Mechanism

FALSE_ALARM: Final = 1e-6
"""The chance that an arm of a break-it exercise errs by bad luck, where it has to count."""

SLACK: Final = 1e-9
"""Relative rounding error that an exact certificate allows for: a tight promise is not a broken one."""


@dataclass(frozen=True)
class Verdict:
    """Whether Pr[event | left] > e^epsilon Pr[event | right] + delta is proved, and by what numbers.

    `p` and `q` are the two probabilities (observed frequencies, if `exact` is False); `epsilon_found` is
    the epsilon that the event rules out at the claim's delta.
    """

    certified: bool
    epsilon_found: float
    p: Any
    q: Any
    exact: bool
    message: str

    def __bool__(self) -> bool:
        return self.certified


def certify(
    attack: Sequence[Any],
    mechanism: Mechanism,
    claim: Guarantee,
    rng: np.random.Generator | None = None,
    samples: int = 400_000,
    confidence: float = 0.999,
) -> Verdict:
    """Judge an attack (left, right, event): does it prove that the mechanism breaks the claim?

    Exact where the law is finite or the event is `Above`, `Below`, `Between` or a `Box` of them. Otherwise
    half of the samples are drawn in each world, and p and q are replaced by Clopper-Pearson bounds: an
    attack that proves nothing is certified with probability at most 1 - confidence.

    A mechanism with a sampler of its own is always sampled, because its law is only what it says.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> from dpcourse.neighbours import REPLACE_ONE
    >>> claim = PureDP(1.0, adjacency=REPLACE_ONE)
    >>> verdict = certify((1, 0, lambda y: y == 1), RandomizedResponse.with_odds(3), claim)
    >>> verdict.certified, verdict.p, verdict.q, round(verdict.epsilon_found, 4)
    (True, Fraction(3, 4), Fraction(1, 4), 1.0986)
    """
    epsilon, delta = _parameters(claim)
    left, right, event = _checked(attack, mechanism, claim)
    laws = mechanism.law(left), mechanism.law(right)
    exact = probabilities(event, *laws) if type(mechanism).__call__ is Mechanism.__call__ else None
    if exact is not None:
        p, q = exact
        proved, back = (float(a) > allowed(b, epsilon, delta) * (1 + SLACK) for a, b in ((p, q), (q, p)))
        found = epsilon_of(p, q, delta)
        numbers = f"Pr[event] = {_shown(p)} on left and {_shown(q)} on right, exactly"
    else:
        level = check_confidence(confidence)
        if rng is None:
            fix = "pass rng=numpy.random.default_rng(seed), or use Above, Below, Between or Box as the event."
            reject("rng", rng, "a generator, since this event has to be counted", fix)
        half = whole("samples", samples, at_least=2) // 2
        worlds = [mechanism(data, generator(rng), half) for data in (left, right)]
        hits = count(event, worlds[0], worlds[1], rng)
        (p_low, p_high), (q_low, q_high) = (clopper_pearson(h, half, level) for h in hits)
        p, q = hits[0] / half, hits[1] / half
        proved, back = p_low > allowed(q_high, epsilon, delta), q_low > allowed(p_high, epsilon, delta)
        found = epsilon_of(p_low, q_high, delta)
        sure = f"({100 * level:.6g}% confidence)"
        numbers = f"Pr[event] >= {p_low:.4g} on left and <= {q_high:.4g} on right {sure}"
    return Verdict(proved, found, p, q, exact is not None, _message(proved, back, numbers, found, claim))


def allowed(q: Any, epsilon: float, delta: float) -> float:
    """e^epsilon q + delta: the most that the claim lets the other world's probability be."""
    return math.exp(min(epsilon, 700.0)) * float(q) + delta


def epsilon_of(p: Any, q: Any, delta: float) -> float:
    """The epsilon that the event rules out: ln((p - delta)/q), at least 0."""
    if float(p) <= delta:
        return 0.0
    return max(0.0, math.log(float(p) - delta) - math.log(float(q))) if q > 0 else math.inf


@dataclass(frozen=True)
class Arms:
    """Both arms of a break-it exercise: the attack breaks `broken` and leaves `sound` alone."""

    passed: bool
    broken: Verdict
    sound: Verdict
    message: str

    def __bool__(self) -> bool:
        return self.passed


def break_it(
    attack: Sequence[Any],
    broken: Mechanism,
    sound: Mechanism,
    claim: Guarantee,
    rng: np.random.Generator | None = None,
    samples: int = 400_000,
    confidence: float = 1 - FALSE_ALARM,
) -> Arms:
    """Try an attack on a broken mechanism, and the same attack on a sound one, which must withstand it.

    The second arm stops answers that would accuse anything. Where events have to be counted, each arm errs
    by bad luck with probability at most 1 - confidence: one in a million.

    >>> from dpcourse.mechanisms import Custom, LaplaceMechanism
    >>> from dpcourse.laws import Laplace
    >>> from dpcourse.audit.events import Above
    >>> half_the_noise = Custom(lambda x: Laplace(x, 0.5), PureDP(1.0), lambda a, b: abs(a - b) <= 1)
    >>> arms = break_it((1, 0, Above(1)), half_the_noise, LaplaceMechanism(1.0), PureDP(1.0))
    >>> arms.passed, round(arms.broken.epsilon_found, 6), round(arms.sound.epsilon_found, 6)
    (True, 2.0, 1.0)
    """
    against, control = (certify(attack, m, claim, rng, samples, confidence) for m in (broken, sound))
    if not against.certified:
        message = f"Not broken yet. {against.message}"
    elif control.certified:
        message = (
            "Your attack breaks the faulty mechanism, but it also accuses a sound one that keeps the same "
            f"promise, so it cannot be right. Use what only the faulty one does. {control.message}"
        )
    else:
        message = f"Well done: the faulty mechanism breaks, and the sound one withstands. {against.message}"
    return Arms(against.certified and not control.certified, against, control, message)


def _checked(attack: Sequence[Any], mechanism: Mechanism, claim: Guarantee) -> tuple[Any, Any, Any]:
    if not isinstance(attack, Sequence) or isinstance(attack, str) or len(attack) != 3:
        reject("attack", attack, "a tuple (left, right, event)", "return all three, in this order.")
    left, right, event = attack
    if not callable(event):
        fix = "write a function of the output, such as lambda y: y == 'No', or Above(3)."
        reject("event", event, "a predicate on outputs", fix)
    mechanism.guarantee.adjacency.require_same(claim.adjacency, "the mechanism's own promise")
    try:
        neighbours = mechanism.are_neighbours(left, right)
    except Exception as error:
        pair = f"(left, right) = ({left!r}, {right!r})"
        fix = f"look at what the mechanism takes. It said: {error}"
        raise BadInput(f"{pair} breaks a rule: it must be data for the mechanism. Fix: {fix}") from error
    if not neighbours:
        rule = f"a pair of neighbours ({claim.adjacency!r}): privacy promises nothing about other pairs"
        reject("(left, right)", (left, right), rule, "change one person's data only.")
    return left, right, event


def _parameters(claim: Guarantee) -> tuple[float, float]:
    if not isinstance(claim, PureDP | ApproxDP):
        fix = "turn it into one with claim.to(ApproxDP, delta=1e-6): one event tests one (epsilon, delta)."
        reject("claim", claim, "PureDP or ApproxDP", fix)
    return claim.epsilon_0, getattr(claim, "delta_0", 0.0)


def _message(proved: bool, back: bool, numbers: str, found: float, claim: Guarantee) -> str:
    epsilon, delta = _parameters(claim)
    promise = f"epsilon = {epsilon:.4g}" + (f", delta = {delta:.4g}" if delta else "")
    if proved:
        return f"Certified: {numbers}; this needs epsilon >= {found:.4g}, and the claim is {promise}."
    hint = (
        "The other way round it would be certified: exchange left and right."
        if back
        else "Look for an event that is likely on left and far less likely on right."
    )
    shown = f"this shows epsilon >= {found:.4g} only, within the claim {promise}"
    return f"Not certified: {numbers}; {shown}. {hint}"


def _shown(p: Any) -> str:
    return f"{float(p):.4g}"
