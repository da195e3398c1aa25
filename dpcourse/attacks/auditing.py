"""Query auditing: refusing a question says something, too.

An auditor keeps the exact answers so far, and refuses a question if its true answer would determine
somebody's value. So a refusal is a fact about the data, and it can determine a value by itself: after
max(a, b, c) = 9, a refusal of max(a, b) says that max(a, b) is below 9, and so c = 9. An auditor that decides
without looking at the data (refuse if any possible answer would disclose) gives nothing away by refusing, and
answers less. (Kenthapadi, Mishra and Nissim, "Simulatable auditing", PODS 2005.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.attacks.oracles import Bools
from dpcourse.errors import reject

Query = Callable[[Any], Hashable]
REFUSED: Final = "refused"
LIMIT: Final = 20_000  # datasets listed


@dataclass(frozen=True)
class Transcript:
    """One way that the conversation can go."""

    replies: tuple[Hashable, ...]
    datasets: NDArray[Any]
    """The datasets for which it goes so, one a row: all that remain to one who knows the auditor's rule."""
    known: NDArray[Any]
    """The datasets that fit the answers alone: all that remain, as the auditor believes."""

    @property
    def disclosed(self) -> dict[int, Any]:
        """Whose value is determined, and the value."""
        same = (self.datasets == self.datasets[0]).all(axis=0)
        return {int(i): self.datasets[0, i].item() for i in np.flatnonzero(same)}


@dataclass(frozen=True)
class Conversations:
    """All ways that the conversation can go, over all datasets."""

    transcripts: tuple[Transcript, ...]

    @property
    def leak(self) -> Fraction:
        """The share of datasets for which somebody's value is determined."""
        leaked = sum(len(t.datasets) for t in self.transcripts if t.disclosed)
        return Fraction(leaked, sum(len(t.datasets) for t in self.transcripts))

    @property
    def answered(self) -> Fraction:
        """The mean share of questions that are answered."""
        given = sum(len(t.datasets) * sum(r != REFUSED for r in t.replies) for t in self.transcripts)
        asked = sum(len(t.datasets) * len(t.replies) for t in self.transcripts)
        return Fraction(given, asked)


def converse(queries: Sequence[Query], datasets: Iterable[Any], simulatable: bool = False) -> Conversations:
    """The conversation with an auditor, for every dataset that is possible to begin with.

    Three people have different salaries from 1 to 9. A refusal says that the third has the highest.

    >>> from itertools import permutations
    >>> questions = [max, lambda data: max(data[:2])]
    >>> naive = converse(questions, permutations(range(1, 10), 3))
    >>> careful = converse(questions, permutations(range(1, 10), 3), simulatable=True)
    >>> [(a.leak, a.answered) for a in (naive, careful)]
    [(Fraction(1, 3), Fraction(5, 6)), (Fraction(0, 1), Fraction(1, 2))]
    """
    if not queries:
        reject("queries", queries, "at least one question", "give functions of a dataset.")
    listed = [tuple(dataset) for dataset in itertools.islice(datasets, LIMIT + 1)]
    data: NDArray[Any] = np.array(listed if len({len(dataset) for dataset in listed}) == 1 else [])
    if data.ndim != 2 or len(data) > LIMIT:
        fix = "list the possible datasets, all of one length; take fewer people or values."
        reject("datasets", f"shape {data.shape}", f"1 to {LIMIT} rows of values", fix)
    # Each branch: the replies, the datasets that lead there, and those that fit the answers alone.
    everything = np.ones(len(data), dtype=np.bool_)
    branches: list[tuple[tuple[Hashable, ...], Bools, Bools]] = [((), everything, everything)]
    for query in queries:
        replies = np.array([query(tuple(row)) for row in data.tolist()])
        branches = [
            branch for old in branches for branch in _continue(data, replies, *old, simulatable=simulatable)
        ]
    return Conversations(tuple(Transcript(said, data[here], data[known]) for said, here, known in branches))


def _continue(
    data: NDArray[Any],
    replies: NDArray[Any],
    said: tuple[Hashable, ...],
    here: Bools,
    known: Bools,
    *,
    simulatable: bool,
) -> list[tuple[tuple[Hashable, ...], Bools, Bools]]:
    """The branches that one question makes of one."""
    values = np.unique(replies[known])
    harmful = [_determines(data[known & (replies == value)]) for value in values]
    if simulatable:  # the decision may depend on what is known, not on the true answer
        harmful = [any(harmful)] * len(values)
    refused = here & np.isin(replies, values[harmful])
    parts = [((*said, REFUSED), refused, known)]
    for value in values[np.logical_not(harmful)]:
        told = replies == value
        parts.append(((*said, value.item()), here & told, known & told))
    return [part for part in parts if part[1].any()]


def _determines(datasets: NDArray[Any]) -> bool:
    """Whether somebody has the same value in all of them."""
    return bool((datasets == datasets[0]).all(axis=0).any())
