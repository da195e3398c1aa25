"""Events: sets of outputs, whose probability is computed where the law allows it, and counted elsewhere."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.laws import Image, Law, Product

Event = Callable[[Any], Any]


@dataclass(frozen=True)
class Between:
    """The event {low <= y <= high}; its probability comes from the distribution function.

    >>> from dpcourse.laws import Laplace
    >>> round(Between(-1, 1).under(Laplace(0, 1)), 6)  # 1 - 1/e
    0.632121
    """

    low: float
    high: float

    def __call__(self, y: Any) -> Any:
        """Whether an output (or each of an array of them) is in the event."""
        return (np.asarray(y) >= self.low) & (np.asarray(y) <= self.high)

    def under(self, law: Law) -> float:
        """The probability under a law on numbers, from the tail in which it is small."""
        at_low = float(law.prob(self.low)) if law.discrete else 0.0
        if float(law.cdf(self.low)) > 0.5:
            return at_low + float(law.sf(self.low)) - float(law.sf(self.high))
        return at_low + float(law.cdf(self.high)) - float(law.cdf(self.low))


@dataclass(frozen=True)
class Above:
    """The event {y > value}."""

    value: float

    def __call__(self, y: Any) -> Any:
        """Whether an output (or each of an array of them) is in the event."""
        return np.asarray(y) > self.value

    def under(self, law: Law) -> float:
        """The upper tail."""
        return float(law.sf(self.value))


@dataclass(frozen=True)
class Below:
    """The event {y < value}."""

    value: float

    def __call__(self, y: Any) -> Any:
        """Whether an output (or each of an array of them) is in the event."""
        return np.asarray(y) < self.value

    def under(self, law: Law) -> float:
        """The lower tail, without the value itself."""
        at_value = float(law.prob(self.value)) if law.discrete else 0.0
        return float(law.cdf(self.value)) - at_value


Interval = Above | Below | Between


@dataclass(frozen=True, init=False)
class Box:
    """One interval for each coordinate of a vector, all of them at once.

    >>> from dpcourse.laws import Laplace
    >>> noisy_counts = Product(Laplace([1, 0], 1))
    >>> round(Box(Above(1), Below(0)).under(noisy_counts), 6)
    0.25
    """

    sides: tuple[Interval, ...]

    def __init__(self, *sides: Interval) -> None:
        object.__setattr__(self, "sides", sides)

    def __call__(self, y: Any) -> Any:
        """Whether a vector (or each row of an array of them) is in the event."""
        y = np.asarray(y)
        return np.all([side(y[..., i]) for i, side in enumerate(self.sides)], axis=0)

    def under(self, law: Product) -> float:
        """The product of the sides' probabilities: coordinates are independent."""
        return math.prod(side.under(part) for side, part in zip(self.sides, law.coordinates(), strict=True))


def probabilities(event: Event, p: Law, q: Law) -> tuple[Any, Any] | None:
    """The event's exact probabilities under two laws; None where they can only be counted.

    Finite laws: a sum, in Fractions if the laws are exact. Other laws: intervals and boxes.

    >>> from fractions import Fraction
    >>> from dpcourse.laws import Finite
    >>> coin = Finite((0, 1), (Fraction(3, 4), Fraction(1, 4)))
    >>> probabilities(lambda y: y == 0, coin, coin.map(lambda y: 1 - y))
    (Fraction(3, 4), Fraction(1, 4))
    """
    first, second = p.to_finite(), q.to_finite()
    if first is not None and second is not None:
        outcomes = dict.fromkeys((*first.outcomes, *second.outcomes))
        inside = [y for y in outcomes if one(event, y)]  # asked once: the same event in both worlds
        in_p, in_q = (sum((law.prob(y) for y in inside), 0 * law.probs[0]) for law in (first, second))
        return in_p, in_q
    if isinstance(event, Box):
        fits = all(isinstance(law, Product) and law.dimension == len(event.sides) for law in (p, q))
    else:
        plain = not any(isinstance(law, Product | Image) or law.batch_shape for law in (p, q))
        fits = isinstance(event, Above | Below | Between) and plain
    return (event.under(p), event.under(q)) if fits else None  # type: ignore[attr-defined]


def one(event: Event, y: Any) -> bool:
    """Whether one output is in the event; an event written for arrays gets an array of one."""
    answers = []
    for form in (lambda: y, lambda: np.asarray([y])):  # a view of a game has no form as an array
        try:
            found = np.asarray(event(form()))
        except Exception as error:  # the student's code may raise anything
            answers.append(f"{type(error).__name__}: {error}")
            continue
        if found.size == 1 and found.dtype.kind in "biuf":
            return bool(found.reshape(())[()])
        answers.append(f"it gave {found!r}")
    fix = "return True or False for one output, as in lambda y: y > 3."
    reject("event", event, f"able to judge the output {y!r} ({answers[0]})", fix)


def count(event: Event, p: Any, q: Any, rng: np.random.Generator) -> tuple[int, int]:
    """How many outputs of each world are in the event."""
    in_p, in_q = blindly(lambda outputs: _each(event, outputs), p, q, rng)
    return int(np.count_nonzero(in_p)), int(np.count_nonzero(in_q))


def blindly(judge: Callable[[Any], Any], p: Any, q: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """What a judge says about each output of both worlds, which it sees as one shuffled heap.

    So a judge that remembers how often it was asked cannot tell the worlds apart by the order.
    """
    first, second = np.asarray(p), np.asarray(q)
    if first.shape[1:] == second.shape[1:]:
        heap = np.concatenate([first, second])
    else:  # vectors of different lengths
        heap = np.empty(len(first) + len(second), dtype=object)
        for i, row in enumerate([*first, *second]):
            heap[i] = row
    order = rng.permutation(len(heap))
    said = np.asarray(judge(heap[order]))
    back = np.empty_like(said)
    back[order] = said
    return back[: len(first)], back[len(first) :]


def _each(event: Event, outputs: Any) -> Any:
    """The event of a whole array if it can take one, else one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(event(outputs))
        except Exception:  # it was written for one output
            found = np.empty(0)
    whole = found.shape == (len(outputs),) and found.dtype == bool
    if whole and [one(event, y) for y in outputs[:8]] == found[:8].tolist():  # it means the same
        return found
    return np.array([one(event, y) for y in outputs])
