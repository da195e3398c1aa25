"""Adversaries for the composition game: strategies to play, to beat and to learn from."""

from dpcourse.adversaries.attackers import Averaging, Differencing, Password, Person
from dpcourse.adversaries.azuma import SILENT, AzumaGap, StopOrSpend, smallest_gap
from dpcourse.adversaries.greedy import Greedy
from dpcourse.adversaries.strategies import Fixed, Guessing, LastAnswer, RandomChoice, guessing

__all__ = [
    "SILENT",
    "Averaging",
    "AzumaGap",
    "Differencing",
    "Fixed",
    "Greedy",
    "Guessing",
    "LastAnswer",
    "Password",
    "Person",
    "RandomChoice",
    "StopOrSpend",
    "guessing",
    "smallest_gap",
]
