"""Pictures of unit 11: promises as curves, games against them, rounded accountants, limits, and summaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from dpcourse.accounting import ROUNDINGS, Limit, Rounded
from dpcourse.audit import clopper_pearson
from dpcourse.errors import Floats
from dpcourse.game.results import Simulation
from dpcourse.guarantees import GDP, RDP, ZCDP
from dpcourse.loss import GaussianLoss, PrivacyLoss
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

LINES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))
ROUNDED = {"up": (BLUE, "o-"), "dots": (GREEN, "D-"), "nearest": (PURPLE, "^--"), "down": (VERMILION, "X:")}


def approximate_tradeoff(epsilon: float, delta: float, fpr: Any) -> Floats:
    """f(x) = max{0, 1 - delta - e^eps x, e^-eps (1 - delta - x)}: what (eps, delta)-DP says of every test.

    >>> float(approximate_tradeoff(0.0, 0.25, 0.25))
    0.5
    """
    x = np.asarray(fpr, dtype=float)
    steep, flat = 1 - delta - math.exp(epsilon) * x, (1 - delta - x) * math.exp(-epsilon)
    return np.maximum(0.0, np.maximum(steep, flat))


def promises(ax: Axes, curves: Mapping[str, Any], fpr: Floats, at: float | None = None) -> list[Artist]:
    """One curve for each promise: tests below it are ruled out; a thin line marks one false-positive rate."""
    artists: list[Artist] = list(ax.plot([0, 1], [1, 0], color=INK, linewidth=0.8))
    artists.append(label(ax, 0.62, 0.38, "a coin", INK, dx=6, dy=6))
    for (name, fnr), (colour, style) in zip(curves.items(), LINES, strict=False):
        artists += ax.plot(fpr, fnr, style, color=colour, linewidth=2, label=name)
    if at is not None:
        artists.append(ax.axvline(at, color=INK, linewidth=0.8, linestyle=":"))
    _square(ax)
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    return artists


def played(
    ax: Axes, games: Simulation, exact: PrivacyLoss, curves: Mapping[str, Any], fpr: Floats, points: int = 16
) -> list[Artist]:
    """Tests of games that were played, with 99% intervals for both of their rates, on the exact curve."""
    artists = promises(ax, curves, fpr)
    artists += ax.plot(fpr, exact.tradeoff(fpr), color=GREEN, linewidth=2.4, label="exact", zorder=3)
    cuts = np.quantile(games.one.losses, np.linspace(0.97, 0.03, points))
    for cut in cuts:
        alarms = int(np.count_nonzero(games.one.losses > cut))
        misses = int(np.count_nonzero(games.zero.losses <= cut))
        x, y = alarms / len(games.one.losses), misses / len(games.zero.losses)
        across, along = (
            clopper_pearson(n, len(world.losses)) for n, world in ((alarms, games.one), (misses, games.zero))
        )
        artists += ax.plot(across, [y, y], color=INK, linewidth=1.2, zorder=4)
        artists += ax.plot([x, x], along, color=INK, linewidth=1.2, zorder=4)
        artists += ax.plot([x], [y], "o", color=INK, mfc="none", markersize=5, zorder=4)
    artists[-1].set_label("games played, 99% intervals")
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    return artists


def _square(ax: Axes) -> None:
    ax.set(xlabel="false positives", ylabel="false negatives", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set(xticks=[0, 0.25, 0.5, 0.75, 1], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.grid()


def grid_widths(
    ax: Axes, one: PrivacyLoss, k: int, widths: Sequence[float], delta: float = 1e-6
) -> list[Artist]:
    """epsilon as each way of rounding reports it, against the width of the grid; below the line is false."""
    exact = float((k * one).epsilon(delta))
    found = {r: [(k * Rounded.of(one, w, r)).epsilon(delta) for w in widths] for r in ROUNDINGS}
    artists: list[Artist] = [ax.axhline(exact, color=INK, linewidth=1.2)]
    artists.append(ax.axhspan(0, exact, color=VERMILION, alpha=0.08, linewidth=0))
    for name, epsilons in found.items():
        colour, style = ROUNDED[name]
        artists += ax.plot(widths, epsilons, style, color=colour, markersize=5, label=name)
    artists.append(ax.text(0.03, 0.04, "promises too much", transform=ax.transAxes, color=VERMILION))
    ax.set(xscale="log", xlabel="grid width h", ylabel="ε that is reported (nats)", ylim=(0, 2 * exact))
    ax.set_xlim(min(widths) / 1.15, max(widths) * 1.15)
    ax.set_xticks([0.001, 0.003, 0.01, 0.03], ["0.001", "0.003", "0.01", "0.03"])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid()
    return artists


def transform_noise(
    ax: Axes, exact: PrivacyLoss, grids: Mapping[str, Rounded], epsilons: Floats
) -> list[Artist]:
    """What a plain transform reports far out, next to the exact delta; hollow marks are negative."""
    artists: list[Artist] = list(
        ax.plot(epsilons, exact.delta(epsilons), color=INK, linewidth=2, label="exact")
    )
    for name, grid in grids.items():
        colour, style = ROUNDED[name]
        found = np.asarray(grid.delta(epsilons))
        good = found > 0
        artists += ax.plot(
            epsilons[good], found[good], style[0], color=colour, markersize=5, label=f"{name}, by transform"
        )
        artists += ax.plot(
            epsilons[~good], np.abs(found[~good]), style[0], color=colour, markersize=5, mfc="none"
        )
    ax.set(yscale="log", xlabel="ε (nats)", ylabel="δ that is reported")
    ax.set_xlim(epsilons[0], epsilons[-1])
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    ax.grid()
    return artists


def limit_curves(ax: Axes, losses: Mapping[int, PrivacyLoss], mu: float, fpr: Floats) -> list[Artist]:
    """Trade-off curves of ever more and ever smaller steps, and the Gaussian curve that they tend to."""
    gaussian = GaussianLoss(mu)
    artists: list[Artist] = list(ax.plot([0, 1], [1, 0], color=INK, linewidth=0.8))
    for (k, loss), (colour, style) in zip(losses.items(), LINES, strict=False):
        name = f"k = {k}"
        artists += ax.plot(fpr, loss.tradeoff(fpr), style, color=colour, linewidth=1.6, label=name)
    artists += ax.plot(fpr, gaussian.tradeoff(fpr), color=INK, linewidth=3, alpha=0.45, label="the limit")
    _square(ax)
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    return artists


def limit_ratio(
    ax: Axes, cases: Mapping[str, tuple[PrivacyLoss, Limit | GDP]], deltas: Sequence[float]
) -> list[Artist]:
    """epsilon of the limit over the exact one, against delta: below 1 the limit promises too much."""
    artists: list[Artist] = [ax.axhline(1, color=INK, linewidth=1.2)]
    for (name, (loss, limit)), (colour, style) in zip(cases.items(), LINES, strict=False):
        ratio = [limit.epsilon(d) / float(loss.epsilon(d)) for d in deltas]
        artists += ax.plot(deltas, ratio, style, color=colour, linewidth=2, label=name)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.25 * (high - low))
    artists.append(ax.axhspan(low, 1, color=VERMILION, alpha=0.08, linewidth=0))
    artists.append(ax.text(0.03, 0.04, "promises too much", transform=ax.transAxes, color=VERMILION))
    ax.set(xscale="log", xlabel="δ", ylabel="ε of the limit / exact ε", xlim=(max(deltas), min(deltas)))
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid()
    return artists


def summaries(ax: Axes, loss: PrivacyLoss, rho: float, delta: float, epsilons: Floats) -> list[Artist]:
    """delta(eps) as each summary of one mechanism can prove it; dots show epsilon at one delta."""
    moments, number = RDP(loss.renyi), ZCDP(rho)
    curves = {
        "the whole curve": loss.delta(epsilons),
        "Rényi: a number for each order": [moments.delta(e) for e in epsilons],
        "ρ: one number": [number.delta(e) for e in epsilons],
    }
    marks = [float(loss.epsilon(delta)), moments.epsilon(delta), number.epsilon(delta)]
    artists: list[Artist] = [ax.axhline(delta, color=INK, linewidth=0.8, linestyle=":")]
    styles = ((GREEN, "-"), (BLUE, "--"), (VERMILION, "-."))
    for (name, values), mark, (colour, style) in zip(curves.items(), marks, styles, strict=True):
        artists += ax.plot(epsilons, values, style, color=colour, linewidth=2, label=name)
        artists += ax.plot([mark], [delta], "o", color=colour, markersize=8)
    low, high = marks[0], marks[-1]
    artists.append(
        ax.annotate(
            "",
            (low, delta / 60),
            (high, delta / 60),
            arrowprops={"arrowstyle": "<->", "color": INK, "linewidth": 1},
        )
    )
    words = f"the price of one number: {high - low:.2f}"
    artists.append(ax.text(low - 0.15, delta / 60, words, ha="right", va="center", color=INK))
    ax.set(yscale="log", xlabel="ε (nats)", ylabel="δ that it can prove", ylim=(delta / 1e4, 1))
    ax.set_xlim(epsilons[0], epsilons[-1])
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    ax.grid()
    return artists
