"""The adversary game: play it, count it, enumerate it, solve it."""

from dpcourse.game.exact import ExactResult
from dpcourse.game.moves import Ask, Challenge, Guess, Open, Refused, Round, Transcript
from dpcourse.game.optimal import OptimalAdversary, best_fixed, optimal_adversary
from dpcourse.game.referee import Game, GameError, Played
from dpcourse.game.results import Simulation
from dpcourse.game.walk import Walk

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
    "Walk",
    "best_fixed",
    "optimal_adversary",
]
