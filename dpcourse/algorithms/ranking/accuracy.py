"""How good a private choice or list is: exact probabilities, and the bounds that textbooks prove.

A list of k items is useful up to a slack if it is sound (every item on it has a score of at least S_k -
slack, S_k being the k-th largest) and complete (every item above S_k + slack is on it).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.algorithms.ranking.clocks import first_k
from dpcourse.errors import Floats, nonnegative, numeric, positive, reject, whole
from dpcourse.errors import probability as check_probability
from dpcourse.mechanisms import TopK
from dpcourse.mechanisms.selection import Single


@dataclass(frozen=True)
class Useful:
    """Whether a list is sound and complete; or the probabilities that it is."""

    sound: Any
    complete: Any
    both: Any


def exponential_slack(scale: float, outcomes: int, optimal: int = 1, *, failure: float) -> float:
    r"""How far below the best score an exponential mechanism's choice is, except with chance `failure`.

    \(Pr[q(r) \le OPT - scale(\ln(|R|/|R_{OPT}|) + t)] \le e^{-t}\), scale = 2 sensitivity/epsilon
    (McSherry and Talwar, FOCS 2007): a worse outcome has weight at most e^{-slack/scale} of a best one's.

    >>> round(exponential_slack(2.0, outcomes=2, failure=math.exp(-5)), 3)  # a majority of two, epsilon 1
    11.386
    """
    whole("outcomes", outcomes)
    if whole("optimal", optimal) > outcomes:
        reject("optimal", optimal, f"at most outcomes = {outcomes}", "count the outcomes of best score.")
    positive("failure", check_probability("failure", failure))
    return float(positive("scale", scale)) * (math.log(outcomes / optimal) - math.log(failure))


def shortfall(mechanism: Single, data: Any, slack: float) -> float:
    """The exact probability that the choice's score is at or below the best one minus `slack`.

    >>> from dpcourse.mechanisms import ExponentialMechanism
    >>> round(shortfall(ExponentialMechanism(2.0), (0, 1), 1), 6)
    0.268941
    """
    scores = mechanism.scores(data)
    return float(mechanism.law(data).weights[scores <= scores.max() - nonnegative("slack", slack)].sum())


def useful(chosen: Sequence[Hashable], scores: Any, slack: float, names: Sequence[Hashable] = ()) -> Useful:
    """Whether a list of items is sound and complete up to the slack, given all scores.

    >>> useful((2, 0), scores=(5, 9, 8), slack=2)
    Useful(sound=False, complete=True, both=False)
    """
    values = np.atleast_1d(numeric("scores", scores))
    places = {name: i for i, name in enumerate(names or range(len(values)))}
    unknown = [item for item in chosen if item not in places]
    if unknown or len(set(chosen)) < len(chosen) or not chosen:
        reject("chosen", chosen, "distinct items that have a score", "list items, or their indices.")
    wanted, unwanted = _extremes(values, len(chosen), slack)
    on = np.zeros(len(values), dtype=bool)
    on[[places[item] for item in chosen]] = True
    sound, complete = not (on & unwanted).any(), not (wanted & ~on).any()
    return Useful(sound, complete, sound and complete)


def usefulness(mechanism: TopK, data: Any, slack: float) -> Useful:
    """The exact probabilities that the released list is sound, complete, and both.

    >>> usefulness(TopK(1.0, k=2), data=(0, 0, 0, 9), slack=1)  # any list is sound; is the 9 on it?
    Useful(sound=1.0, complete=0.958175, both=0.958175)
    """
    scores = mechanism.scores(data)
    wanted, unwanted = _extremes(scores, mechanism.k, slack)
    logs, nobody = scores / mechanism.scale, np.zeros(len(scores), dtype=bool)
    chances = (first_k(logs, mechanism.k, *sets) for sets in _questions(wanted, unwanted, nobody))
    return Useful(*chances)


def _questions(wanted: Any, unwanted: Any, nobody: Any) -> tuple[tuple[Any, Any], ...]:
    return (nobody, unwanted), (wanted, nobody), (wanted, unwanted)


def _extremes(scores: Floats, k: int, slack: float) -> tuple[Any, Any]:
    """Which items must be on a useful list, and which must not."""
    if k > len(scores):
        reject("k", k, f"at most the number of items, {len(scores)}", "ask for fewer.")
    last = np.sort(scores)[-k]
    return scores > last + nonnegative("slack", slack), scores < last - slack


def top_k_slack(mechanism: TopK, items: int, *, failure: float) -> float:
    r"""A slack up to which the list is useful, except with chance `failure`: \(scale \ln(n k/failure)\).

    The list is drawn item by item. As long as it is short of k, one of the k best is left, with a score of
    at least S_k; each draw falls scale (ln n + t) below the best that is left with chance e^-t at most, and
    t = ln(k/failure) covers all k draws: sound. An item above S_k + slack that was never drawn would have
    forced all k draws above S_k, which makes k + 1 items above the k-th best: so it is complete as well.

    >>> round(top_k_slack(TopK(1.0, k=10), items=1000, failure=0.05), 1)
    244.1
    """
    positive("failure", check_probability("failure", failure))
    return mechanism.scale * (math.log(whole("items", items)) + math.log(mechanism.k / failure))
