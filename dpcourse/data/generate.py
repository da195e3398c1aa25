"""Generated data of any size: nothing here was measured, and no name belongs to anybody."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.errors import Floats, generator, one_of, positive, probability, reject, whole

_CANDIDATES = 40  # spots tried for each centre
_SYLLABLES = [a + b for a in "bdklmnrstv" for b in "aeiou"]


class Clusters(NamedTuple):
    """Generated points in the unit ball, with the truth about them."""

    points: Floats
    centres: Floats
    labels: NDArray[np.intp]


def clusters(
    n: int, k: int, dim: int, rng: np.random.Generator, *, spread: float = 0.15, norm: int = 2
) -> Clusters:
    """n points around k centres, all within the unit ball of the norm (1 or 2) by construction.

    Each point is its centre plus a bell of bounded width: the squared radius, in units of `spread`, is
    Beta(dim/2, 4), whose density falls to zero at the rim. Nothing has to be clipped.

    >>> made = clusters(1000, k=3, dim=2, rng=np.random.default_rng(0))
    >>> bool(np.linalg.norm(made.points, axis=1).max() <= 1)
    True
    """
    n, k, dim = whole("n", n, 0), whole("k", k), whole("dim", dim)
    generator(rng)
    one_of("norm", norm, (1, 2))
    if not 0 < positive("spread", spread) < 1:
        reject("spread", spread, "below 1: a cluster lies within the unit ball", "choose 0.15.")
    centres = (1 - spread) * _apart(k, dim, norm, rng)
    labels = rng.integers(0, k, n)
    offsets = _directions((n, dim), rng)
    # In the l1 ball the width shrinks by sqrt(dim), since |x|_1 <= sqrt(dim) |x|_2.
    width = spread if norm == 2 else spread / np.sqrt(dim)
    offsets *= width * np.sqrt(rng.beta(dim / 2, 4, (n, 1)))
    return Clusters(centres[labels] + offsets, centres, labels)


def _directions(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    draws = rng.standard_normal(shape)
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    return draws


def _apart(k: int, dim: int, norm: int, rng: np.random.Generator) -> Floats:
    """k spots in the unit ball, each the farthest of some candidates from those before it."""
    spots: list[Floats] = []
    for _ in range(k):
        tries = _directions((_CANDIDATES, dim), rng) * rng.random((_CANDIDATES, 1)) ** (1 / dim)
        if norm == 1:
            tries /= np.sqrt(dim)
        nearest = [np.linalg.norm(tries - spot, axis=1) for spot in spots]
        spots.append(tries[int(np.min(nearest, axis=0).argmax())] if spots else tries[0])
    return np.array(spots)


def survey(n: int, rate: ArrayLike, rng: np.random.Generator) -> NDArray[np.int8]:
    """n people's answers, 1 for yes with probability `rate`; an array of rates asks a question each.

    >>> survey(5, (0.0, 1.0), np.random.default_rng(0)).tolist()
    [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]
    """
    rates = np.asarray(probability("rate", rate))
    return (generator(rng).random((whole("n", n, 0), *rates.shape)) < rates).astype(np.int8)


def visits(
    people: int, rng: np.random.Generator, *, sites: int = 20, often: float = 0.8
) -> tuple[tuple[frozenset[str], ...], tuple[str, ...]]:
    """Which invented web sites each person visited, and the public list of sites, the likeliest first.

    The site of rank r is visited by each person with probability often/r, independently (Zipf's law).

    >>> rows, names = visits(1000, np.random.default_rng(0), sites=3)
    >>> names[0], sum(names[0] in row for row in rows) > sum(names[2] in row for row in rows)
    ('site-01.example', True)
    """
    probability("often", often)
    names = tuple(f"site-{rank:02d}.example" for rank in range(1, whole("sites", sites) + 1))
    chances = often / np.arange(1, sites + 1)
    went = generator(rng).random((whole("people", people, 0), sites)) < chances
    return tuple(frozenset(itertools.compress(names, row)) for row in went.tolist()), names


def baby_names(
    n: int, rng: np.random.Generator, *, pool: int = 100, exponent: float = 0.8
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """n babies' invented names, and the public list of names, the most likely first.

    The name of rank r is given with probability proportional to 1/r^exponent.

    >>> born, names = baby_names(1000, np.random.default_rng(0), pool=3)
    >>> names, born.shape
    (('Babe', 'Diki', 'Kumo'), (1000,))
    """
    if whole("pool", pool) > len(_SYLLABLES) ** 2:
        reject("pool", pool, f"at most {len(_SYLLABLES) ** 2}", "ask for fewer names.")
    names = tuple(_name(i) for i in range(pool))
    weights = 1 / np.arange(1, pool + 1) ** positive("exponent", exponent)
    born = generator(rng).choice(np.array(names), whole("n", n, 0), p=weights / weights.sum())
    return born, names


def _name(i: int) -> str:
    """Two syllables; different for all i below their number squared, since 7 and 50 share no factor."""
    count = len(_SYLLABLES)
    return (_SYLLABLES[7 * i % count] + _SYLLABLES[(11 * i + i // count + 1) % count]).capitalize()
