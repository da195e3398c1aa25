"""The adversary game: play it, count it, enumerate it, solve it."""

from dpcourse.game.exact import ExactResult
from dpcourse.game.moves import Ask, Challenge, Guess, Open, Round, Transcript
from dpcourse.game.optimal import OptimalAdversary, best_fixed, optimal_adversary
from dpcourse.game.referee import Game, GameError, Played, Refused
from dpcourse.game.results import Simulation

__all__ = [
    "Ask",
    "Challenge",
    "ExactResult",
    "Game",
    "GameError",
    "Guess",
    "Open",
    "OptimalAdversary",
    "Played",
    "Refused",
    "Round",
    "Simulation",
    "Transcript",
    "best_fixed",
    "optimal_adversary",
]
