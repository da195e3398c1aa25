"""The exact probability of any output of a sparse-vector variant on a given stream of query values.

An output is a tuple of answers: False for a no; for a yes True, or where values are released a number (the
probability is then a density) or an interval (low, high) that the number falls into. It ends with the
stream, or with the yes that reaches the cutoff.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats, reject
from dpcourse.interactive.sparse_vector.integral import Factors, log_cdf, log_integrals
from dpcourse.interactive.sparse_vector.variants import (
    EACH_QUERY,
    INDICATOR,
    NEVER,
    TESTED,
    Variant,
)
from dpcourse.laws import Laplace
from dpcourse.loss.solve import ULP

MOST: Final = 2**16  # strings listed at once
Output = tuple[Any, ...]


def strings(variant: Variant, length: int) -> tuple[tuple[bool, ...], ...]:
    """Every string of yes and no that the variant can give on a stream of this length.

    >>> from dpcourse.interactive.sparse_vector import above_threshold
    >>> strings(above_threshold(1.0), 2)
    ((False, False), (False, True), (True,))
    """
    most = length if variant.cutoff is None else min(variant.cutoff, length)
    if sum(math.comb(length, k) for k in range(most + 1)) > MOST:
        fix = "ask for the log-probability of single outputs, which has no such limit."
        reject("length", length, f"short enough for {MOST} outputs", fix)
    return tuple(_grow((), length, variant.cutoff))


def _grow(start: tuple[bool, ...], length: int, cutoff: int | None) -> Iterator[tuple[bool, ...]]:
    if len(start) == length or sum(start) == cutoff:
        yield start
        return
    yield from _grow((*start, False), length, cutoff)
    yield from _grow((*start, True), length, cutoff)


def log_probs(variant: Variant, stream: Any, outputs: Sequence[Sequence[bool]]) -> tuple[Floats, Floats]:
    """ln of the probability of each string of yes and no, and how far each may be off.

    Outputs share their epochs (the runs under one threshold noise), and all epochs are integrated together.
    """
    values = variant.stream(stream) - variant.threshold
    centres, place = np.unique(values, return_inverse=True)
    epochs: dict[tuple[int, tuple[bool, ...]], int] = {}
    owner, used = [], []
    for i, output in enumerate(outputs):
        for epoch in _epochs(variant, tuple(output)):
            owner.append(i)
            used.append(epochs.setdefault(epoch, len(epochs)))
    said = np.full((len(epochs), len(values)), -1)
    for row, (start, answers) in enumerate(epochs):
        said[row, start : start + len(answers)] = answers
    no, yes = np.zeros((2, len(epochs), len(centres)))
    np.add.at(no.T, place, (said == 0).T)  # equal queries share a column
    np.add.at(yes.T, place, (said == 1).T)
    logs, errors = _chances(variant, centres, no, yes)
    total: Floats = np.bincount(owner, logs[used]).astype(float)
    return total, np.bincount(owner, errors[used]).astype(float)


def _epochs(variant: Variant, output: tuple[bool, ...]) -> Iterator[tuple[int, tuple[bool, ...]]]:
    """The runs of answers under one threshold noise: where each starts, and its answers."""
    start = 0
    for i, said in enumerate(output) if variant.redraw != NEVER else ():
        if said or variant.redraw == EACH_QUERY:
            yield start, output[start : i + 1]
            start = i + 1
    if start < len(output):
        yield start, output[start:]


def log_prob_bounds(variant: Variant, stream: Any, output: Output) -> tuple[float, float]:
    """Bounds on ln of the probability of an output (of its density, where it holds numbers).

    >>> from dpcourse.interactive.sparse_vector import chen
    >>> low, high = log_prob_bounds(chen(1.0), (0, 0, 0, 0), (False, False, True, True))
    >>> round(math.exp(low), 12), bool(0 < high - low < 1e-12)  # 2! 2!/5! by symmetry
    (0.033333333333, True)
    """
    values = variant.stream(stream)
    _check(variant, len(values), output)
    said = tuple(answer is not False for answer in output)
    released = [i for i, answer in enumerate(output) if not isinstance(answer, bool)]
    if variant.releases == TESTED and released:
        log, error = _tested(variant, values[: len(output)], output)
    else:
        logs, errors = log_probs(variant, values, [said])
        log, error = float(logs[0]), float(errors[0])
        for i in released:
            extra = _log_release(output[i], values[i], variant.answer_scale)
            log, error = log + extra, error + 8 * ULP * (1 + abs(extra))
    slip = float(error) if math.isfinite(log) else 0.0
    return float(log) - slip, float(log) + slip


def log_prob(variant: Variant, stream: Any, output: Output) -> float:
    """ln of the probability of an output, the middle of its bounds."""
    low, high = log_prob_bounds(variant, stream, output)
    return low if math.isinf(low) else (low + high) / 2


def log_ratio_bounds(variant: Variant, left: Any, right: Any, output: Output) -> tuple[float, float]:
    """Bounds on the privacy loss ln P[output | left]/P[output | right] at one output."""
    if np.shape(left) != np.shape(right):
        fix = "give the value of every query in both worlds, also of those after the halt."
        reject("right", right, f"a stream as long as left = {left}", fix)
    p, q = log_prob_bounds(variant, left, output), log_prob_bounds(variant, right, output)
    if math.isinf(q[0]):
        return (math.nan, math.nan) if math.isinf(p[0]) else (math.inf, math.inf)
    return p[0] - q[1], p[1] - q[0]


def _check(variant: Variant, length: int, output: Any) -> None:
    if not isinstance(output, tuple):
        reject("output", output, "a tuple of answers", "write it as a tuple, such as (False, True).")
    yeses = [answer for answer in output if answer is not False]
    halted = variant.cutoff is not None and len(yeses) == variant.cutoff and output[-1] is not False
    if len(output) > length or (variant.cutoff is not None and len(yeses) > variant.cutoff):
        fix = "stop at the yes that reaches the cutoff, at the latest with the stream."
        reject("output", output, f"at most {length} answers with {variant.cutoff} yeses", fix)
    if len(output) < length and not halted:
        fix = "answer every query until the cutoff is reached."
        reject("output", output, f"one answer for each of the {length} queries", fix)
    if variant.releases == INDICATOR and not all(isinstance(answer, bool) for answer in output):
        reject("output", output, "only True and False: no values are released", "write True for a yes.")
    for answer in (a for a in output if not isinstance(a, bool)):
        ends = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, answer)
        if not all(isinstance(end, numbers.Real) for end in ends) or not ends[0] <= ends[1]:
            fix = "give a number, or an interval (low, high) with low < high."
            reject("output", output, "False, True, and for a released value a number or an interval", fix)


def _log_release(answer: Any, centre: float, scale: float) -> float:
    """ln of the density at a number, or of the chance of an interval."""
    law = Laplace(centre, scale)
    if not isinstance(answer, tuple):
        return float(law.log_prob(answer))
    low, high = answer
    chance = law.sf(low) - law.sf(high) if low > centre else law.cdf(high) - law.cdf(low)
    return math.log(chance) if chance > 0 else -math.inf


def _tested(variant: Variant, values: Floats, output: Output) -> tuple[float, float]:
    """The values that passed the test are themselves released: they bound the threshold noise from above.

    A number y puts z <= y - T and the density at y. An interval is the chance of at least `low` minus
    that of at least `high`, and a value of at least y has the tail S(max(z, y - T) - q).
    """
    pairs = list(zip((values - variant.threshold).tolist(), output, strict=True))
    plain = [(gap, answer) for gap, answer in pairs if isinstance(answer, bool)]
    ranges = [(gap, answer) for gap, answer in pairs if isinstance(answer, tuple)]
    numbers = [(v, float(y)) for v, y in zip(values, output, strict=True) if not isinstance(y, bool | tuple)]
    ends = [(gap, end - variant.threshold) for gap, interval in ranges for end in interval]
    columns = np.array([(gap, -math.inf) for gap, _ in plain] + ends).reshape(-1, 2)
    open_ended = np.array([interval[1] == math.inf for _, interval in ranges], dtype=bool)
    columns[columns[:, 1] == math.inf, 1] = -math.inf  # never picked
    picks = np.array(list(itertools.product((0, 1), repeat=len(ranges))), dtype=int)
    picks = picks[~(picks * open_ended).any(1)]
    no, yes = np.zeros((2, len(picks), len(columns)))
    no[:, : len(plain)] = [not answer for _, answer in plain]
    yes[:, : len(plain)] = [answer for _, answer in plain]
    for j in range(len(ranges)):
        yes[np.arange(len(picks)), len(plain) + 2 * j + picks[:, j]] = 1
    upper = min((y - variant.threshold for _, y in numbers), default=math.inf)
    logs, errors = _chances(variant, columns[:, 0], no, yes, columns[:, 1], upper)
    density = math.fsum(float(Laplace(v, variant.query_scale).log_prob(y)) for v, y in numbers)
    top = logs.max()
    terms = np.exp(logs - top)
    total = float((-1.0) ** picks.sum(1) @ terms)
    if not total > 0:
        return -math.inf, 0.0
    return density + top + math.log(total), float(terms @ errors) / total + 8 * ULP * (1 + abs(density))


def _chances(
    variant: Variant,
    centres: Floats,
    no: Floats,
    yes: Floats,
    floors: Floats | None = None,
    upper: float = math.inf,
) -> tuple[Floats, Floats]:
    """ln of the chance of an epoch's answers, one row each: the integral, or what is left without noise."""
    a, b = variant.threshold_scale, variant.query_scale
    floors = np.full(len(centres), -math.inf) if floors is None else floors
    if b == 0:
        return _without_query_noise(a, centres, no, yes)
    if a > 0:
        return log_integrals(Factors(a, b, centres, floors, no, yes, upper))
    said_no, said_yes = log_cdf(-centres / b), log_cdf((centres - np.maximum(0, floors)) / b)
    values = no @ said_no + yes @ said_yes if upper >= 0 else np.full(len(no), -math.inf)
    return values, 4 * ULP * ((no + yes) @ (np.abs(centres) / b + 1))


def _without_query_noise(a: float, centres: Floats, no: Floats, yes: Floats) -> tuple[Floats, Floats]:
    """Only z decides: it lies above every query that got a no, and not above one that got a yes."""
    low = np.where(no > 0, centres, -math.inf).max(1, initial=-math.inf)
    high = np.where(yes > 0, centres, math.inf).min(1, initial=math.inf)
    if a == 0:
        return np.where((low < 0) & (high >= 0), 0.0, -math.inf), np.zeros(len(no))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.maximum(np.maximum(low, -high), 0)  # the nearer end, if both are on one side of 0
        one_side = -near / a - math.log(2) + np.log(-np.expm1(-(high - low) / a))
        both_sides = np.log1p(-0.5 * np.exp(low / a) - 0.5 * np.exp(-high / a))
    inside = np.where((low < 0) & (high > 0), both_sides, one_side)
    return np.where(high > low, inside, -math.inf), np.full(len(no), 16 * ULP)
