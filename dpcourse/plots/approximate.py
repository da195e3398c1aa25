"""Pictures of approximate privacy: what delta counts, what it allows, and what Gaussian noise costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.attacks.membership import roc
from dpcourse.errors import Floats
from dpcourse.laws import Finite, Gaussian
from dpcourse.loss import GaussianLoss
from dpcourse.mechanisms import classic_failure, gaussian_sigma
from dpcourse.plots.streams import LOOKS, curves
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def excess(ax: Axes, left: Finite, right: Finite, epsilon: float) -> list[Artist]:
    """P(y) against e^eps Q(y), outcome by outcome: the parts that stick out add up to delta."""
    names = list(dict.fromkeys([*left.outcomes, *right.outcomes]))
    p = np.array([float(left.prob(y)) for y in names])
    q = math.exp(epsilon) * np.array([float(right.prob(y)) for y in names])
    place, over = np.arange(len(names)), np.maximum(p - q, 0)
    artists: list[Artist] = [*ax.bar(place - 0.2, p - over, 0.36, color=BLUE, label="P(y)")]
    artists += ax.bar(place + 0.2, q, 0.36, color="none", edgecolor=INK, hatch="//", label="$e^ε$ Q(y)")
    artists += ax.bar(place - 0.2, over, 0.36, bottom=p - over, color=VERMILION, label="sticks out of it")
    for x, top, size in zip(place, p, over, strict=True):
        if size > 0:
            artists.append(label(ax, x - 0.2, top, f"{size:.4f}", VERMILION, dx=-17, dy=8))
    ax.set_xticks(place, [str(name) for name in names])
    ax.set(xlabel="outcome y", ylabel="probability", ylim=(0, 1.18 * max(p.max(), q.max())))
    ax.legend(frameon=False, labelcolor=INK, ncols=3, loc="upper left")
    return artists


def exposed(ax: Axes, sizes: Sequence[int]) -> list[Artist]:
    """The chance that somebody is exposed if each of n people is, with probability delta."""
    delta = np.geomspace(1e-12, 1e-1, 400)
    artists: list[Artist] = []
    for size, (colour, line, marker) in zip(sizes, LOOKS, strict=False):
        chance = -np.expm1(size * np.log1p(-delta))
        artists += ax.plot(delta, chance, color=colour, linestyle=line, linewidth=2)
        artists += ax.plot(
            [1 / size], [-math.expm1(size * math.log1p(-1 / size))], marker, color=colour, ms=8
        )
        words = ax.annotate(
            f"n = {size:,} ", (1 / size, 0.7), color=colour, ha="right", va="center", annotation_clip=False
        )
        artists.append(words)
    ax.set(xscale="log", xlim=(1e-12, 1e-1), ylim=(0, 1.02), xlabel="δ")
    ax.set_ylabel("chance that somebody is exposed")
    ax.grid()
    return artists


def discounted_tail(ax: Axes, mu: float, epsilon: float) -> list[Artist]:
    """The density of a Gaussian privacy loss: all of the tail is Pr[L > eps], delta is a part of it."""
    law, loss = Gaussian(mu**2 / 2, mu), GaussianLoss(mu)
    x = np.linspace(mu**2 / 2 - 3.2 * mu, mu**2 / 2 + 3.6 * mu, 600)
    density = np.exp(law.log_prob(x))
    part = density * np.maximum(-np.expm1(epsilon - x), 0)
    tail, delta = float(loss.tail(epsilon)), float(loss.delta(epsilon))
    beyond = x >= epsilon
    artists: list[Artist] = [*ax.plot(x, density, color=INK, linewidth=1.5)]
    whole = f"hatched and filled: Pr[L > ε] = {tail:.4f}"
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": PURPLE, "hatch": "//", "linewidth": 0}
    artists.append(ax.fill_between(x[beyond], part[beyond], density[beyond], label=whole, **look))
    filled = f"filled: δ(ε) = {delta:.4f}"
    artists.append(ax.fill_between(x, part, color=VERMILION, linewidth=0, label=filled))
    artists.append(ax.axvline(epsilon, color=INK, linestyle="--", linewidth=1))
    artists.append(label(ax, epsilon, 1.08 * float(density.max()), f"ε = {epsilon:g}", dx=5))
    ax.set(xlim=(x[0], x[-1]), ylim=(0, 1.5 * float(density.max())), xlabel="privacy loss L (nats)")
    ax.set_ylabel("density")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    return artists


def first_failures(ax: Axes, constants: Mapping[str, float]) -> list[Artist]:
    """The epsilon from which each classical constant is false, against the promised delta."""
    delta = np.geomspace(1e-12, 0.3, 60)
    limits = {name: np.array([classic_failure(d, c) for d in delta]) for name, c in constants.items()}
    artists = curves(ax, delta, limits, markers=False)
    artists.append(ax.axhspan(0, 1, color=GREEN, alpha=0.14, linewidth=0))
    artists.append(label(ax, 1e-12, 0.5, "proved: ε up to 1", GREEN, dx=6))
    lowest = np.min(list(limits.values()), axis=0)
    artists.append(ax.fill_between(delta, 1, lowest, color=BLUE, alpha=0.07, linewidth=0))
    artists.append(label(ax, 1e-12, 3.6, "not proved there, but true", BLUE, dx=6))
    artists.append(label(ax, 1e-12, 12.4, "false: more than δ", VERMILION, dx=6))
    ax.set(xscale="log", xlim=(1e-12, 0.3), ylim=(0, 13.5), xlabel="promised δ", ylabel="promised ε (nats)")
    return artists


def membership(
    ax: Axes, scores: Mapping[str, tuple[Floats, Floats]], known: Mapping[str, tuple[Floats, Floats]],
    epsilon: float, delta: float,
) -> list[Artist]:  # fmt: skip
    """True against false positives: tests that were played, known curves, and what the promise allows."""
    x = np.linspace(0, 1, 400)
    most = np.minimum(math.exp(epsilon) * x + delta, 1 - math.exp(-epsilon) * (1 - delta - x))
    artists: list[Artist] = []
    for (name, pair), (colour, style) in zip(scores.items(), ((BLUE, "--"), (GREEN, "-")), strict=False):
        artists += ax.plot(*roc(*pair), style, color=colour, linewidth=2, label=name)
    for (name, rates), (colour, style) in zip(known.items(), ((PURPLE, "-."), (INK, "--")), strict=False):
        artists += ax.plot(*rates, style, color=colour, label=name)
    allowed = f"allowed by ({epsilon:g}, {delta:g})"
    artists += ax.plot(x, np.minimum(most, 1), ":", color=VERMILION, linewidth=2, label=allowed)
    artists += ax.plot(x, x, color=INK, linewidth=0.8)
    ax.set(xlabel="false positives", ylabel="true positives", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()
    return artists


def dimension_error(ax: Axes, rows: int, epsilon: float, delta: float, largest: int) -> list[Artist]:
    """The root mean square l2 error of a mean of K numbers in [0, 1]: Laplace against Gaussian noise."""
    k = np.arange(1, largest + 1)
    laplace = math.sqrt(2) * k**1.5 / (rows * epsilon)
    gauss = k * gaussian_sigma(epsilon, delta) / rows
    book = k * math.sqrt(2 * math.log(1.25 / delta)) / (rows * epsilon)
    named = {"Laplace, pure": laplace, "Gaussian, exact σ": gauss, "Gaussian, textbook's σ": book}
    looks = ((VERMILION, "--"), (GREEN, "-"), (BLUE, ":"))
    artists: list[Artist] = []
    for (name, y), (colour, line) in zip(named.items(), looks, strict=True):
        artists += ax.plot(k, y, line, color=colour, linewidth=2, label=name)
    for y, (colour, _), mark in ((gauss, looks[1], "o"), (book, looks[2], "s")):
        first = int(np.argmax(y < laplace))
        artists += ax.plot(k[first], y[first], mark, color=colour, markersize=8)
        artists.append(label(ax, k[first], y[first], f"K = {k[first]}", colour, dx=10, dy=-9))
    ax.set(xscale="log", yscale="log", xlabel="numbers released, K", ylabel="typical error ($ℓ_2$)")
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def noisy_cells(ax: Axes, true: Floats, released: Floats, off: float) -> list[Artist]:
    """A table by site (rows) and year (columns): true values, and released ones with a 95% band."""
    sites, years = true.shape
    x = np.add.outer(np.arange(sites) * (years + 1), np.arange(years)).ravel()
    artists: list[Artist] = [*ax.plot(x, true.ravel(), "_", color=INK, markersize=12, mew=2, label="true")]
    look: dict[str, Any] = {"color": GREEN, "markersize": 4, "elinewidth": 1, "capsize": 2}
    bars = ax.errorbar(x, released.ravel(), off, fmt="o", label="released, with its 95% band", **look)
    artists += bars.get_children()
    middles = np.arange(sites) * (years + 1) + (years - 1) / 2
    ax.set_xticks(middles, [f"site {site + 1}" for site in range(sites)])
    ax.set_ylabel("visits in all")
    ax.legend(frameon=False, labelcolor=INK, ncols=2)
    ax.grid(axis="y")
    return artists
