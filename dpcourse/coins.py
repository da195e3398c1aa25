"""Run a sampler over all of its coin flips: a program becomes its exact law.

A program draws only from `coins`, so it is a tree of draws: P(y) is the sum, over the leaves that
return y, of the product of the probabilities on the way. The tree is walked by replaying the
program with forced draws, heaviest branch first (Kiselyov and Shan, "Embedded probabilistic
programming", 2009, without continuations).

>>> def randomized_response(coins, truth):  # Warner 1965; Dwork and Roth 2014, section 3.2
...     return truth if coins.flip() else coins.flip()
>>> distribution(randomized_response, True)
{True: Fraction(3, 4), False: Fraction(1, 4)}
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count, cycle, islice
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from dpcourse.errors import reject, whole

if TYPE_CHECKING:
    from dpcourse.laws import Finite

Number = Fraction | float
Probs = tuple[Number, ...]
Path = tuple[tuple[Probs, Any], ...]  # the draws that lead to a branch, each with its value
LIMIT: Final = 1_000_000  # draws over all replays: some seconds
REPEATS: Final = 16  # runs made twice, to catch randomness that is not from the coins


class _Unfinished:
    def __repr__(self) -> str:
        return "UNFINISHED"

    def __reduce__(self) -> str:
        return "UNFINISHED"  # a copy or a pickle is the same object


UNFINISHED: Final = _Unfinished()  # the outcome that carries the mass of the branches cut off


def _probability(name: str, p: Any) -> Number:
    if isinstance(p, numbers.Real) and not isinstance(p, Fraction):
        p = Fraction(int(p)) if isinstance(p, numbers.Integral) else float(p)
    if not isinstance(p, Fraction | float) or not 0 <= p <= 1:
        reject(name, p, "a probability from 0 to 1", "give a number such as Fraction(1, 4).")
    return p


class Coins(ABC):
    """What a program draws from. All methods rest on one: a value with given probabilities."""

    @abstractmethod
    def _draw(self, probs: Probs, values: Sequence[Any]) -> Any: ...

    def draw(self, program: Callable[..., Any], *args: Any) -> Any:
        """The outcome of `program(coins, *args)` as one draw: branches of equal outcome merge.

        A loop that tries again is then one open branch a round, not a tree of them.
        """
        return program(self, *args)

    def flip(self, p: Number = Fraction(1, 2)) -> bool:
        """True with probability p."""
        p = _probability("p", p)
        return bool(self._draw((1 - p, p), (False, True)))

    def choice(self, probs: Iterable[Number], values: Sequence[Any] | None = None) -> Any:
        """The index i with probability probs[i], or values[i] if values are given."""
        probs = tuple(_probability("probs", p) for p in probs)
        exact = all(isinstance(p, Fraction) for p in probs)
        if sum(probs) != 1 if exact else abs(math.fsum(probs) - 1) > 1e-12:
            reject("probs", probs, f"of sum 1, not {sum(probs)}", "divide each by their sum.")
        if values is not None and len(values) != len(probs):
            reject("values", values, f"as long as probs, {len(probs)}", "pair them one to one.")
        return self._draw(probs, range(len(probs)) if values is None else values)

    def integer(self, n: int) -> int:
        """One of 0, ..., n-1, each with probability 1/n."""
        n = whole("n", n)
        if n > LIMIT:
            reject("n", n, f"at most {LIMIT} to try every value", "draw from a smaller range.")
        return int(self._draw((Fraction(1, n),) * n, range(n)))


class Random(Coins):
    """Coins that are really tossed, exact to the last bit of p: the program is then a sampler.

    >>> Random(np.random.default_rng(1)).flip(1)
    True
    """

    def __init__(self, rng: np.random.Generator) -> None:
        if not isinstance(rng, np.random.Generator):
            reject("rng", rng, "a numpy Generator", "pass numpy.random.default_rng(seed).")
        self.rng = rng

    def integer(self, n: int) -> int:
        """As many random bits as n-1 has, drawn again until they are below n."""
        bits = (whole("n", n) - 1).bit_length()
        while (u := int.from_bytes(self.rng.bytes(bits // 8 + 1), "big") & ((1 << bits) - 1)) >= n:
            pass
        return u

    def _draw(self, probs: Probs, values: Sequence[Any]) -> Any:
        exact = [Fraction(p) for p in probs]  # a float is a fraction too
        scale = math.lcm(*(p.denominator for p in exact))
        u = Fraction(self.integer(scale), scale)
        for p, value in zip(exact, values, strict=True):
            if (u := u - p) < 0:
                return value
        return next(value for p, value in zip(exact, values, strict=True) if p)  # sum 1 - 1e-12


class _Stop(BaseException):
    """Leaves a program at its first free draw; its own `except Exception` does not catch it."""


class _Replay(Coins):
    """One run with forced draws; `fork` is what the first free draw, if any, chooses from."""

    def __init__(self, path: Path, program: Callable[..., Any], args: Sequence[Any]) -> None:
        self.path, self.place = path, 0
        self.fork: list[tuple[Number, Path]] = []
        self.outcome: Any = None
        try:
            self.outcome = program(self, *args)
        except _Stop as stop:
            if stop.args[0] is not self:  # coins.draw(lambda own: coins.flip())
                fix = "draw from the first argument of the inner program."
                reject("coins", "outer", "those that coins.draw gives the inner program", fix)
        if self.place < len(path):
            _impure(program, f"draw {self.place + 1}")

    def draw(self, program: Callable[..., Any], *args: Any) -> Any:
        if self.place < len(self.path):
            return self._draw(self.path[self.place][0], ())
        masses = distribution(program, *args)
        return self._draw(tuple(masses.values()), tuple(masses))

    def _draw(self, probs: Probs, values: Sequence[Any]) -> Any:
        if self.place == len(self.path):
            pairs = zip(probs, values, strict=True)
            self.fork = [(p, (*self.path, (probs, value))) for p, value in pairs if p]
        elif self.path[self.place][0] == probs:
            self.place += 1
            return self.path[self.place - 1][1]
        raise _Stop(self)


def _impure(program: Callable[..., Any], what: str) -> NoReturn:
    rule = f"a function of its coins and arguments, but {what} of a branch changed in a replay"
    fix = "draw all randomness from `coins`, and change nothing outside the program."
    reject("program", getattr(program, "__name__", program), rule, fix)


def _countable(outcome: Any) -> Any:
    try:
        hash(outcome)
    except TypeError:
        fix = "return a tuple instead of a list, or tuple(y.tolist()) instead of an array y."
        reject("outcome", outcome, "hashable, so that equal outcomes add up", fix)
    if isinstance(outcome, float) and math.isnan(outcome):
        reject("outcome", outcome, "equal to itself", "return None or a word instead of NaN.")
    return outcome


def distribution(
    program: Callable[..., Any], *args: Any, tail: Number = 0, limit: int = LIMIT
) -> dict[Any, Any]:
    """The probability of every outcome of `program(coins, *args)`.

    Fractions if every probability in the program is an int or a Fraction, floats otherwise. The
    walk ends once the mass of the open branches is at most `tail`; that mass is the outcome
    UNFINISHED, so that the sum stays 1. `limit` bounds the number of draws over all replays.

    >>> def geometric(coins):  # a loop with no bound
    ...     return 0 if coins.flip() else 1 + geometric(coins)
    >>> distribution(geometric, tail=Fraction(1, 4))
    {0: Fraction(1, 2), 1: Fraction(1, 4), UNFINISHED: Fraction(1, 4)}
    """
    tail, budget = _probability("tail", tail), whole("limit", limit)
    left, exact, order = Fraction(1), True, count(1)
    heap: list[tuple[float, int, Number, Path]] = [(-1.0, 0, left, ())]  # heaviest, oldest first
    masses: dict[Any, Any] = {}
    ended: list[_Replay] = []
    while heap and (left > tail or tail == 0):
        _, _, mass, path = heappop(heap)
        budget -= len(path) + 1
        if budget < 0:
            state = f"{len(ended)} ended, {len(heap) + 1} of mass {float(left):.3g} are open"
            fix = "give a tail such as 1e-6 or a higher limit; make loops end; merge by coins.draw."
            reject("limit", limit, f"enough draws to end all branches ({state})", fix)
        replay = _Replay(path, program, args)
        left -= Fraction(mass)
        for p, longer in replay.fork:
            left += Fraction(mass * p)
            exact = exact and isinstance(mass * p, Fraction)
            heappush(heap, (-float(mass * p), next(order), mass * p, longer))
        if not replay.fork:
            ended.append(replay)
            y = _countable(replay.outcome)
            masses[y] = masses.get(y, 0) + Fraction(mass)
    for replay in islice(cycle(ended), REPEATS):
        if _Replay(replay.path, program, args).outcome != replay.outcome:
            _impure(program, "the outcome")
    if left:
        masses[UNFINISHED] = masses.get(UNFINISHED, 0) + left
    return masses if exact else {y: float(mass) for y, mass in masses.items()}


def law(program: Callable[..., Any], *args: Any, tail: Number = 0, limit: int = LIMIT) -> Finite:
    """The exact law of `program(coins, *args)`; the arguments are those of `distribution`.

    >>> law(lambda coins: coins.integer(2))
    Finite(0: 1/2, 1: 1/2)
    """
    from dpcourse.laws import Finite

    masses = distribution(program, *args, tail=tail, limit=limit)
    return Finite(tuple(masses), tuple(masses.values()))
