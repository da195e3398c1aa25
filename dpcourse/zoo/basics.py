"""The textbook mechanisms of the zoo, and the mistakes that people make with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse import coins
from dpcourse.contract import Case
from dpcourse.guarantees import GDP, PureDP
from dpcourse.laws import Finite, Gaussian, Laplace, Law, Mixture, Point, Product
from dpcourse.mechanisms import (
    BinCounts,
    Composed,
    Custom,
    DiscreteGaussianMechanism,
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    LaplaceMechanism,
    NoisyMax,
    Parallel,
    PostProcessed,
    RandomizedResponse,
    Subsampled,
    TopK,
    TwoCoins,
    histogram,
)
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE

_BITS: Final = (0, 1)
_ADDED: Final = ADD_REMOVE.pairs(_BITS, 2)
_REPLACED: Final = REPLACE_ONE.pairs(_BITS, 2)
_COUNT: Final = BinCounts(_BITS)
_SCORES: Final = (((0, 5), (1, 4)), ((0, 20), (1, 19)), ((3, 3), (4, 3)))


def _ones(data: Any) -> float:
    return float(sum(data))


def sound() -> list[Case]:
    """The textbook mechanisms, each with neighbouring pairs; tight where the promise is reached."""
    laplace = LaplaceMechanism(0.7, sensitivity=2)
    return [
        Case("Laplace", laplace, ((10, 12), (0, -2)), tight=True),
        Case("Laplace, vector", LaplaceMechanism(0.5), (((0, 0, 0), (1, 0, 0)), ((2, 1), (2.5, 1.5)))),
        Case("Laplace sum", LaplaceMechanism(0.5, query=_ones), _ADDED, tight=True),
        Case("histogram, add/remove", histogram(0.5, _BITS), _ADDED, tight=True),
        Case("histogram, replace-one", histogram(0.5, _BITS, adjacency=REPLACE_ONE), _REPLACED, tight=True),
        Case("one bin, replace-one", histogram(0.5, (1,), adjacency=REPLACE_ONE), _REPLACED, tight=True),
        Case("geometric", GeometricMechanism(0.3, sensitivity=3), ((5, 8), (0, -1)), tight=True),
        Case("geometric histogram", histogram(0.5, _BITS, mechanism=GeometricMechanism), _ADDED, tight=True),
        Case("Gaussian", GaussianMechanism(2.0, sensitivity=3), ((0, 3), (1, 0)), tight=True),
        Case("Gaussian, vector", GaussianMechanism(2.0, sensitivity=5), (((0, 0), (3, 4)),), tight=True),
        Case("Gaussian, calibrated", GaussianMechanism.calibrated(2.0, 1e-5), ((0, 1),), tight=True),
        Case("discrete Gaussian", DiscreteGaussianMechanism(3.0, sensitivity=2), ((0, 2), (7, 6))),
        Case("randomized response", RandomizedResponse(1.0), (_BITS,), tight=True),
        Case("response of four", RandomizedResponse.with_odds(3, tuple("abcd")), (("a", "c"),), tight=True),
        Case("two coins", TwoCoins(), (_BITS,), tight=True),
        Case("two biased coins", TwoCoins(0.25, 0.5), (_BITS,), tight=True),
        Case("exponential", ExponentialMechanism(1.0), _SCORES),
        Case(
            "exponential, monotone",
            ExponentialMechanism(1.0, ("a", "b"), monotone=True, base=(1.0, 3.0)),
            (((0, 30), (0, 31)), ((0, 0), (1, 1))),
        ),
        Case("noisy max", NoisyMax(1.0), _SCORES),
        Case("noisy max, counts", NoisyMax(1.0, score=_COUNT, monotone=True), _ADDED),
        Case("noisy max, Gumbel", NoisyMax(1.0, noise="gumbel"), _SCORES),
        Case("top 2", TopK(1.0, k=2), (((0, 1, 2, 3), (1, 0, 3, 2)),)),
        Case("composed", Composed(laplace, laplace), ((10, 12),), tight=True),
        Case("composed, mixed kinds", Composed(RandomizedResponse(1.0), TwoCoins()), (_BITS,), tight=True),
        Case("post-processed", PostProcessed(RandomizedResponse(1.0), lambda y: ["no", "yes"][y]), (_BITS,)),
        Case("post-processed noise", PostProcessed(laplace, np.round), ((10, 12),)),
        Case(
            "parallel",
            Parallel(lambda row: row, {v: LaplaceMechanism(0.5, query=len) for v in _BITS}),
            _ADDED,
            tight=True,
        ),
        Case(
            "parallel, replace-one",
            Parallel(
                lambda row: row,
                {v: LaplaceMechanism(0.5, query=len) for v in _BITS},
                adjacency=REPLACE_ONE,
            ),
            _REPLACED,
            tight=True,
        ),
        Case("subsampled", Subsampled(LaplaceMechanism(1.0, query=len), 0.25), (((), (0,)),), tight=True),
        Case("subsampled Gaussian", Subsampled(GaussianMechanism(1.0, query=len), 0.25), (((), (0,)),)),
    ]


def broken() -> list[Case]:
    """Mechanisms that do not keep their word: each a mistake that people really make."""
    half = LaplaceMechanism(1.0)
    return [
        Case("no noise", Custom(Point, PureDP(1.0), _close), ((0, 1),)),
        Case("half the noise", Custom(lambda x: Laplace(x, 0.5), half.guarantee, _close), ((0, 1),)),
        Case(
            "noise for add/remove, claim for replace-one",
            LaplaceMechanism(1.0, query=_COUNT, adjacency=REPLACE_ONE),
            _REPLACED,
        ),
        Case(
            "one coin used twice",
            Custom(_one_coin, PureDP(math.log(3), adjacency=REPLACE_ONE), _any),
            (_BITS,),
        ),
        Case("one noise used twice", SharedNoise(), ((0, 1),)),
        Case(
            "choose among what occurs",
            Custom(_choose_among_present, PureDP(1.0)),
            (((0,), (0, 1)),),
        ),
        Case("variance for standard deviation", _variance_for_deviation(10.0), ((0, 1),)),
        Case("mean with the true size's noise", Custom(_noisy_mean, PureDP(1.0)), (((0,), (0, 1)),)),
        Case("full exponent, scores both ways", _two_way_exponential(), _SCORES),
        Case("monotone noise, scores both ways", _two_way_noisy_max(), _SCORES),
        Case("top 2 at the price of 1", _cheap_top_two(), (((4, 4, 0, 0), (3, 3, 1, 1)),)),
        Case("name and shame", Custom(_name_and_shame, PureDP(1.0, adjacency=REPLACE_ONE)), _REPLACED),
        Case("only the bins that occur", Custom(_occurring_bins, PureDP(1.0)), (((0,), (0, 1)),)),
        Case("sampler that draws less noise", QuietSampler(), ((0, 1),)),
        Case("promises more than it can keep for groups", _optimistic_group(), ((0, 3),)),
        Case("mass that does not add up", Custom(_leaky_mixture, GDP(10.0), _close), ((0, 1),)),
    ]


def _close(left: Any, right: Any) -> bool:
    return bool(abs(left - right) <= 1)


def _any(left: Any, right: Any) -> bool:
    return True


def _one_coin(truth: Any) -> Finite:
    """Two-coin randomized response that looks at its first coin again instead of a second one."""

    def program(coin: coins.Coins) -> bool:
        heads = coin.flip()
        return heads or bool(truth)

    return coins.law(program)


@dataclass(frozen=True)
class SharedNoise(LaplaceMechanism):
    """Two answers, x + Z and -x + Z, with the same Z: their difference is 2x exactly."""

    epsilon: float = 1.0

    def law(self, data: Any) -> Law:
        """What the author believes: two independent answers."""
        return Product(Laplace([data, -data], 2 / self.epsilon))

    def __call__(self, data: Any, rng: Any, size: Any = None) -> Any:
        """What happens: one draw serves both."""
        z = Laplace(0, 2 / self.epsilon).sample(rng, size)
        return np.stack([data + z, -data + z], axis=-1)


@dataclass(frozen=True)
class QuietSampler(LaplaceMechanism):
    """States Laplace(1/epsilon) and draws Laplace(1/(2 epsilon))."""

    epsilon: float = 1.0

    def __call__(self, data: Any, rng: Any, size: Any = None) -> Any:
        """Half of the stated noise."""
        return Laplace(data, self.scale / 2).sample(rng, size)


def _choose_among_present(data: Any) -> Finite:
    """The exponential mechanism over the values that occur: the range itself gives a row away."""
    present = sorted(set(data))
    return ExponentialMechanism(1.0, tuple(present)).law([data.count(v) for v in present])


def _variance_for_deviation(sigma: float) -> Custom:
    return Custom(lambda x: Gaussian(x, math.sqrt(sigma)), GDP(1 / sigma), _close)


def _noisy_mean(data: Any) -> Law:
    """mean + Lap(1/n) with n the secret size: both centre and scale move with one row."""
    return Laplace(sum(data) / len(data), 1 / len(data))


def _two_way_exponential() -> Custom:
    inner = ExponentialMechanism(1.0, monotone=True)
    return Custom(inner.law, PureDP(1.0), ExponentialMechanism(1.0).are_neighbours)


def _two_way_noisy_max() -> Custom:
    return Custom(NoisyMax(1.0, monotone=True).law, PureDP(1.0), NoisyMax(1.0).are_neighbours)


def _cheap_top_two() -> Custom:
    inner = TopK(2.0, k=2)
    return Custom(inner.law, PureDP(1.0), inner.are_neighbours)


def _name_and_shame(data: Any) -> Finite:
    """Publish one row, chosen at random: (0, 1/n)-DP, and not pure for any epsilon."""
    return Finite.from_pairs((row, Fraction(1, len(data))) for row in enumerate(data))


def _occurring_bins(data: Any) -> Law:
    """Noisy counts of the bins that occur, so an empty bin is visible by its absence."""
    present = sorted(set(data))
    return Product(Laplace([data.count(v) for v in present], 1.0))


def _optimistic_group() -> Custom:
    inner = LaplaceMechanism(0.5)
    return Custom(inner.law, PureDP(1.0), lambda a, b: abs(a - b) <= 3)


def _leaky_mixture(x: Any) -> Law:
    """A mixture whose weights were meant to sum to one; a tenth of the mass is missing."""
    law = Mixture((0.5, 0.5), (Gaussian(x, 1.0), Gaussian(x, 3.0)))
    object.__setattr__(law, "weights", (0.5, 0.4))
    return law
