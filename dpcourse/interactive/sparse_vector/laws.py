"""The laws of sparse vector: of one answer, of a whole transcript, and a plain simulation of both."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats, reject
from dpcourse.interactive.sparse_vector.outputs import log_prob, log_probs, strings
from dpcourse.interactive.sparse_vector.variants import EACH_QUERY, INDICATOR, NEVER, TESTED, Variant
from dpcourse.laws import Finite, Laplace, Law, Point
from dpcourse.laws.base import Size, generator, shape_of

_LEAST: Final = -700.0  # ln of the least probability that a double still holds to full precision


def law_of(variant: Variant, stream: Any) -> Law:
    """The exact law of the output on a stream: finite, or a `Transcript` where values are released.

    >>> from dpcourse.interactive.sparse_vector import stoddard
    >>> round(float(law_of(stoddard(1.0), (0, 1)).prob((False, True))), 7)
    0.1967347
    """
    values = variant.stream(stream)
    if variant.releases != INDICATOR:
        return Transcript(variant, tuple(values.tolist()))
    outputs = strings(variant, len(values))
    logs, _ = log_probs(variant, values, outputs)
    if underflows(logs):
        fix = "use SparseVector.loss or log_prob, which work in logarithms."
        reject("stream", stream, "near enough to the threshold for probabilities above e^-700", fix)
    return Finite(outputs, np.exp(logs))


def underflows(logs: Floats) -> bool:
    """Whether some possible output's probability is too small for a double."""
    return bool(np.any((logs < _LEAST) & (logs > -math.inf)))


def simulate(variant: Variant, stream: Any, rng: np.random.Generator, runs: int) -> list[tuple[Any, ...]]:
    """Outputs of independent runs, by the algorithm as it is written down."""
    values, v = variant.stream(stream), variant
    threshold = v.threshold + v.threshold_scale * _laplace(rng, runs)
    yeses, going = np.zeros(runs, dtype=int), np.ones(runs, dtype=bool)
    outputs: list[list[Any]] = [[] for _ in range(runs)]
    for value in values.tolist():
        noisy = value + v.query_scale * _laplace(rng, runs)
        yes = noisy >= threshold
        shown = noisy if v.releases == TESTED else value + v.answer_scale * _laplace(rng, runs)
        for i in np.flatnonzero(going):
            outputs[i].append((True if v.releases == INDICATOR else float(shown[i])) if yes[i] else False)
        if v.redraw != NEVER:
            again = yes | (v.redraw == EACH_QUERY)
            threshold = np.where(again, v.threshold + v.threshold_scale * _laplace(rng, runs), threshold)
        yeses += yes & going
        if v.cutoff is not None:
            going &= yeses < v.cutoff
    return [tuple(output) for output in outputs]


def _laplace(rng: np.random.Generator, runs: int) -> Any:
    return Laplace(0, 1).sample(rng, runs)


@dataclass(frozen=True, eq=False)
class Unordered(Law):
    """Outputs that are no numbers: they have a probability or density, but no order and no mean."""

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Always one law."""
        return ()

    def _unordered(self, *_: Any) -> Any:
        fix = "use log_prob for one output, or SparseVector watched for an event (Watched)."
        reject("law", self, "on numbers for a cdf, a moment or a divergence", fix)

    cdf = mean = variance = window = _unordered  # type: ignore[assignment]

    def _picture(self, width: int = 240, height: int = 64) -> str:
        return ""


@dataclass(frozen=True, eq=False)
class Transcript(Unordered):
    """The law of all answers to a stream where a yes comes with a value: atoms times densities."""

    variant: Variant
    stream: tuple[float, ...]

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Runs of the algorithm; a batch is an array of tuples."""
        shape = shape_of(size)
        runs = simulate(self.variant, self.stream, generator(rng), math.prod(shape))
        found = np.empty(len(runs), dtype=object)
        found[:] = runs
        return runs[0] if size is None else found.reshape(shape)

    def log_prob(self, y: Any) -> Any:
        """ln of the density of an output (of each, for an array)."""
        if isinstance(y, np.ndarray):
            each = [log_prob(self.variant, self.stream, output) for output in y.ravel()]
            return np.array(each).reshape(y.shape)
        return log_prob(self.variant, self.stream, y)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\int f(z)\prod_{\bot}F(z-q_i)\prod_{\top}S(z-q_j)\,g(y_j-q_j)\,dz"


@dataclass(frozen=True, eq=False)
class Answer(Unordered):
    """The law of one answer with a value, given the hidden threshold: False, or the number of a yes.

    `yes` is the chance of a yes; a tested value is at least `floor` and has the tail of Laplace noise there.
    """

    centre: float
    scale: float
    yes: float
    floor: float = -math.inf

    @staticmethod
    def of(variant: Variant, value: float, threshold: float) -> Law:
        """The law of the answer to a query of this value, against this (noisy) threshold."""
        if variant.redraw == EACH_QUERY:
            logs, _ = log_probs(variant, (value,), [(True,)])
            yes = math.exp(float(logs[0]))
        elif variant.query_scale == 0:
            yes = float(value >= threshold)
        else:
            yes = float(Laplace(value, variant.query_scale).sf(threshold))
        if variant.releases == TESTED:
            return Answer(value, variant.query_scale, yes, threshold)
        if variant.releases == INDICATOR:
            return Finite((True, False), (yes, 1 - yes)) if 0 < yes < 1 else Point(yes > 0)
        return Answer(value, variant.answer_scale, yes)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """False, or the value of a yes."""
        noise = Laplace(self.centre, self.scale)
        if size is not None:
            draws = np.empty(shape_of(size), dtype=object)
            draws.ravel()[:] = [self.sample(rng) for _ in range(draws.size)]
            return draws
        if self.floor > -math.inf:
            value = float(noise.sample(generator(rng)))
            return value if value >= self.floor else False
        return float(noise.sample(rng)) if generator(rng).random() < self.yes else False

    def log_prob(self, y: Any) -> Any:
        """ln of the chance of a no, or of the density of a yes with this value."""
        if y is False:
            return math.log1p(-self.yes) if self.yes < 1 else -math.inf
        log = float(Laplace(self.centre, self.scale).log_prob(y))
        if self.floor > -math.inf:
            return log if y >= self.floor else -math.inf
        return log + math.log(self.yes) if self.yes > 0 else -math.inf

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\Pr[\bot],\ \text{or}\ \Pr[\top]\,g(y-q)"
