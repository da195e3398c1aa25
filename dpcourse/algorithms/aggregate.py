"""Sample and aggregate: any program made private by running it on small blocks of the data.

Nissim, Raskhodnikova and Smith (STOC 2007); as a system, GUPT (Mohan, Thakurta, Shi, Song and Culler,
SIGMOD 2012). The program is not looked into: only its answers on the blocks are clipped and averaged.
"""

from __future__ import annotations

import hashlib
import numbers
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import Floats, positive, reject, whole
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Laplace, Law, Product
from dpcourse.mechanisms import Mechanism
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency, Dataset, Rows, rows


@dataclass(frozen=True)
class SampleAndAggregate(Mechanism):
    """The average of the program's clipped answers on disjoint blocks, plus Laplace noise: epsilon-DP.

    A row more or less changes one block, and so moves the average by at most (upper - lower)/blocks. A
    replaced row may leave one block and enter another: twice that. An answer with d coordinates shares
    epsilon among them, so each gets noise d times as wide.

    Where the program fails or gives something that is not a number (on an empty block, say), the middle
    of the bounds stands for its answer: an error message would be an answer without noise.
    """

    epsilon: float
    program: Callable[[Dataset], Any]
    blocks: int
    bounds: tuple[Any, Any]
    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        whole("blocks", self.blocks)
        fix = "say what answers are possible, without looking at the data: bounds=(0, 100)."
        if not callable(self.program):
            reject("program", self.program, "a function of a block of rows", "give one, such as max.")
        try:
            lower, upper = self._ends()
        except (OverflowError, TypeError, ValueError):
            reject("bounds", self.bounds, "a public pair (lower, upper)", fix)
        with np.errstate(over="ignore", invalid="ignore"):
            good = np.isfinite(self.blocks * (np.abs(lower) + np.abs(upper))) & (lower < upper)
        if lower.ndim > 1 or not lower.size or not np.all(good):
            reject("bounds", self.bounds, "finite, with lower < upper in each coordinate", fix)

    def _ends(self) -> tuple[Floats, Floats]:
        low, high = (np.asarray(end, dtype=float) for end in self.bounds)
        lower, upper = np.broadcast_arrays(low, high)
        return lower, upper

    @property
    def scale(self) -> Any:
        """The noise of each coordinate: coordinates * touched blocks * width/(blocks epsilon)."""
        lower, upper = self._ends()
        touched = 2 if self.adjacency is REPLACE_ONE and self.blocks > 1 else 1
        scale = lower.size * touched * (upper - lower) / (self.blocks * self.epsilon)
        return scale if scale.ndim else float(scale)

    @property
    def note(self) -> str:
        """What is done to the program's answers; how often is not told, for that would be an answer too."""
        lower, upper = (np.asarray(end).tolist() for end in self.bounds)
        moved = f"answers of the program outside [{lower}, {upper}] count as the nearer end"
        return f"{moved}; a block on which it fails counts as the middle"

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP, whatever the program does."""
        return PureDP(self.epsilon, adjacency=self.adjacency)

    def answers(self, data: Rows) -> Floats:
        """The program's clipped answers, one for each block (not private)."""
        return np.stack([self._clipped(block) for block in split(data, self.blocks)])

    def law(self, data: Rows) -> Law:
        """Laplace around the average of the blocks' answers."""
        centre = self.answers(data).mean(axis=0)
        return Product(Laplace(centre, self.scale)) if centre.ndim else Laplace(float(centre), self.scale)

    def _clipped(self, block: Dataset) -> Floats:
        lower, upper = self._ends()
        middle = (lower + upper) / 2
        try:
            answer = np.asarray(self.program(block), dtype=float)
        except (Exception, SystemExit):  # see the class: what goes wrong must not be seen
            return middle
        if answer.shape != lower.shape:
            return middle
        return np.where(np.isnan(answer), middle, np.clip(answer, lower, upper))


def sample_and_aggregate(
    program: Callable[[Dataset], Any],
    blocks: int,
    bounds: tuple[Any, Any],
    epsilon: float,
    *,
    adjacency: Adjacency = ADD_REMOVE,
) -> SampleAndAggregate:
    """Run any program on `blocks` disjoint parts of the data; average its clipped answers, add noise.

    >>> import statistics
    >>> mechanism = sample_and_aggregate(statistics.median, blocks=10, bounds=(0, 100), epsilon=1)
    >>> mechanism.scale
    10.0
    """
    return SampleAndAggregate(epsilon, program, blocks, bounds, adjacency=adjacency)


def split(data: Rows, blocks: int) -> list[Dataset]:
    """Disjoint blocks by a public hash of each row, equal rows told apart by a running number.

    The j-th copy of a row goes where the hash of (row, j) says, so that one row more or less changes one
    block, in whatever order the rows stand. Blocks cut by position would all change when a row is added
    in front. Within a block the rows are in the order of their hashes.
    """
    seen: Counter[Any] = Counter()
    filled: list[list[tuple[int, Any]]] = [[] for _ in range(blocks)]
    for row in rows("data", data):
        seen[row] += 1
        digest = hashlib.blake2b(f"{_text(row)} {seen[row]}".encode(), digest_size=16).digest()
        place = int.from_bytes(digest, "big")
        filled[place % blocks].append((place // blocks, row))
    return [tuple(row for _, row in sorted(block, key=lambda item: item[0])) for block in filled]


def _text(row: Any) -> str:
    """Equal rows have equal texts: 1, 1.0 and True are one number, 0.0 and -0.0 too; sets have no order.

    Else the copies of a row would be numbered as one and placed as several, and one more could move them all.
    """
    if isinstance(row, tuple):
        return f"({', '.join(map(_text, row))})"
    if isinstance(row, frozenset):
        return f"{{{', '.join(sorted(map(_text, row)))}}}"
    if not isinstance(row, numbers.Number):
        return repr(row)
    try:
        near: Any = float(row) + 0.0  # type: ignore[arg-type]  # -0.0 becomes 0.0
    except (OverflowError, TypeError):
        near = None
    return (
        repr(near) if near == row else f"#{hash(row)}"
    )  # Python's hash of a number depends on its value only
