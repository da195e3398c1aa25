"""All games at once: the exact laws of both views, for finite mechanisms.

The tree of the game is walked once, carrying for each bit the probability of the view so far (and, for
interactive mechanisms, of each hidden state behind it). Fractions stay Fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

from dpcourse import coins as tossing
from dpcourse.errors import reject
from dpcourse.game.moves import Adversary, Ask, Challenge, Guess, Open, Refused, Transcript
from dpcourse.game.referee import Game, Recorder
from dpcourse.laws import Finite, Law
from dpcourse.loss import FiniteLoss

States = tuple[Any, ...]
Weights = dict[States, Any]  # hidden states of the open sessions -> joint probability with the view
MOST_VIEWS: Final = 2**17


@dataclass(frozen=True)
class ExactResult:
    """Every view with its probability under bit 0 and bit 1."""

    views: dict[tuple[Any, ...], tuple[Any, Any]]
    guesses: dict[tuple[Any, ...], int | None]
    game: Game

    @cached_property
    def loss(self) -> FiniteLoss:
        """The privacy loss of the view under bit 0 against bit 1."""
        p, q = zip(*self.views.values(), strict=True)
        return FiniteLoss(tuple(p), tuple(q))

    def law(self, bit: int) -> Finite:
        """The law of the view in the world of the bit."""
        return Finite(tuple(self.views), tuple(pair[bit] for pair in self.views.values()))

    def delta(self, epsilon: float) -> Any:
        """How well this adversary beats e^epsilon: sup over events of its view."""
        return self.loss.delta(epsilon)

    @property
    def advantage(self) -> Any:
        """Pr[says 0 | bit 0] - Pr[says 0 | bit 1] of the adversary's own guesses."""
        said = [pair for view, pair in self.views.items() if self.guesses[view] == 0]
        return sum((p for p, _ in said), Fraction(0)) - sum((q for _, q in said), Fraction(0))

    def bounds(self, delta: float) -> Any:
        """Every composition theorem's promise for this game, against the exact one."""
        return self.game.bounds(delta)

    def __repr__(self) -> str:
        return f"ExactResult({len(self.views)} views)"


def play_exactly(game: Game, adversary: Adversary, most_views: int = MOST_VIEWS) -> ExactResult:
    """The exact experiment: both laws of the view."""
    views: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    guesses: dict[tuple[Any, ...], int | None] = {}
    start: Weights = {(): Fraction(1)}
    root = Transcript(left=game.rounds)
    for view, guess, left, right in _walk(game, adversary, root, start, start, ()):
        key = (*view.view, ("guess", guess))
        p, q = views.get(key, (Fraction(0), Fraction(0)))
        views[key] = (p + sum(left.values()), q + sum(right.values()))
        guesses[key] = guess
        if len(views) > most_views:
            fix = "play fewer rounds, use optimal_adversary (it merges equal states), or simulate."
            reject("rounds", game.rounds, f"few enough for {most_views} views", fix)
    return ExactResult(views, guesses, game)


def _walk(
    game: Game,
    adversary: Adversary,
    view: Transcript,
    left: Weights,
    right: Weights,
    opened: tuple[Open, ...],
) -> Iterator[tuple[Transcript, int | None, Weights, Weights]]:
    """Every end of the game, with its weights under both bits."""
    for drawn, chance, move in _moves(game, adversary, view):
        here, there = ({s: chance * w for s, w in side.items()} for side in (left, right))
        if move is None or isinstance(move, Guess):
            yield view, None if move is None else int(move.bit), here, there
            continue
        refusal = game.refusal(move, view)
        now_open = (*opened, move) if isinstance(move, Open) and not refusal else opened
        refused = {Refused(refusal): (here, there)}
        answers = refused if refusal else _answers(move, here, there, now_open)
        for answer, (p, q) in answers.items():
            counts = isinstance(move, Challenge) and not refusal
            loss = _known(move)[2][answer] if counts else 0.0
            after = game.extended(view, move, answer, drawn, loss)
            yield from _walk(game, adversary, after, p, q, now_open)


class _Drew(BaseException):
    """The adversary wants a coin."""


class _NoCoins(tossing.Coins):
    def _draw(self, probs: tuple[Any, ...], values: Any) -> Any:
        raise _Drew


def _moves(game: Game, adversary: Adversary, view: Transcript) -> list[tuple[tuple[Any, ...], Any, Any]]:
    """(the adversary's coins, their probability, its move), for all of its coins."""
    try:
        return [((), Fraction(1), game.move(adversary, view, _NoCoins()))]
    except _Drew:
        pass
    moves: dict[tuple[Any, ...], Any] = {}

    def program(source: tossing.Coins) -> tuple[Any, ...]:
        recorder = Recorder(source)
        move = game.move(adversary, view, recorder)
        moves[recorder.drawn] = move
        return recorder.drawn

    chances = tossing.distribution(program)
    return [(drawn, chance, moves[drawn]) for drawn, chance in chances.items()]


def _answers(
    move: Challenge | Open | Ask, left: Weights, right: Weights, opened: tuple[Open, ...]
) -> dict[Any, tuple[Weights, Weights]]:
    """For every answer: the joint weights with it, under both bits."""
    found: dict[Any, tuple[Weights, Weights]] = {}
    for bit, side in enumerate((left, right)):
        for states, weight in side.items():
            for answer, after, p in _replies(move, bit, states, opened):
                if p:
                    world = found.setdefault(answer, ({}, {}))[bit]
                    world[after] = world.get(after, 0) + weight * p
    return found


def _replies(
    move: Challenge | Open | Ask, bit: int, states: States, opened: tuple[Open, ...]
) -> Iterator[tuple[Any, States, Any]]:
    """(answer, hidden states after it, probability) in one world."""
    if isinstance(move, Challenge):
        for answer, p in _known(move)[bit]:
            yield answer, states, p
    elif isinstance(move, Open):
        data = move.right if bit else move.left
        for state, p in _finite(move.mechanism.begin(data)).items():
            yield len(states), (*states, state), p
    else:
        session = opened[move.session]
        data, state = session.right if bit else session.left, states[move.session]
        for answer, p in _finite(session.mechanism.answer(data, state, move.query)).items():
            after = session.mechanism.after(state, move.query, answer)
            yield answer, (*states[: move.session], after, *states[move.session + 1 :]), p


@lru_cache(maxsize=256)
def _known(challenge: Any) -> tuple[list[Any], list[Any], dict[Any, float]]:
    """Outcomes with probabilities under both bits, and the loss at each: the same all over the tree."""
    left, right = (_finite(challenge.law(bit)).items() for bit in (0, 1))
    outcomes = dict.fromkeys(y for y, _ in (*left, *right))
    return left, right, {y: challenge.loss_at(y) for y in outcomes}


def _finite(law: Law) -> Finite:
    finite = law.to_finite()
    if finite is None:
        fix = "use play or simulate for continuous mechanisms, or a discrete one here."
        reject("law", law, "finite, to enumerate all games", fix)
    return finite
