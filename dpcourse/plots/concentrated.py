"""Pictures of Renyi and concentrated privacy: orders, moments, tests, samples, and a model that learns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse import special
from dpcourse.accounting import subsampled_gaussian_rdp
from dpcourse.loss import PrivacyLoss
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

LINES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))
LEVELS = ((VERMILION, "--"), (PURPLE, ":"), (BLUE, "--"))
ORDERS = 1 + np.geomspace(0.02, 60, 120)


def _order_axis(ax: Axes, high: float) -> None:
    ax.set(xscale="log", xlabel="order α", xlim=(1, high))
    ticks = [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t <= high]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.set_xticks([], minor=True)
    ax.grid()


def divergences(ax: Axes, losses: Mapping[str, PrivacyLoss], top: float = 2.0) -> list[Artist]:
    """D_α against the order; at 1 it begins as the mean loss, and it climbs to the largest loss."""
    artists: list[Artist] = []
    for (name, loss), (colour, style) in zip(losses.items(), LINES, strict=False):
        curve = [loss.renyi(float(order)) for order in ORDERS]
        artists += ax.plot(ORDERS, curve, style, color=colour, linewidth=2, label=name)
        artists += ax.plot([1], [loss.kl()], "o", color=colour, clip_on=False, zorder=4)
        if loss.max_divergence() < top:
            artists.append(ax.axhline(loss.max_divergence(), color=INK, linewidth=0.8))
    _order_axis(ax, float(ORDERS[-1]))
    ax.set(ylabel="$D_α$ (nats)", ylim=(0, top))
    ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    return artists


def divergences_by_order(ax: Axes, losses: Mapping[str, PrivacyLoss], top: float = 0.6) -> list[Artist]:
    """D_α/α against the order: its largest value is the ρ of zCDP."""
    artists: list[Artist] = []
    for (_, loss), (colour, style) in zip(losses.items(), LINES, strict=False):
        curve = [loss.renyi(float(order)) / order for order in ORDERS]
        artists += ax.plot(ORDERS, curve, style, color=colour, linewidth=2)
        artists += ax.plot([1], [loss.kl()], "o", color=colour, clip_on=False, zorder=4)
    _order_axis(ax, float(ORDERS[-1]))
    ax.set(ylabel="$D_α\\,/\\,α$ (nats)", ylim=(0, top))
    return artists


def tails_and_moments(axes: Sequence[Axes], loss: PrivacyLoss, rho: float) -> list[Artist]:
    """Against N(ρ, 2ρ): the tail of a loss may lie above the normal one, its moments do not."""
    left, right = axes
    x = np.linspace(-2.5, 3.5, 601)
    normal = special.ndtr((rho - x) / math.sqrt(2 * rho))
    tail = np.asarray(loss.tail(np.nextafter(x, -np.inf)))
    artists: list[Artist] = list(left.plot(x, normal, "--", color=BLUE, linewidth=2, label="normal"))
    artists += left.plot(x, tail, color=VERMILION, linewidth=2, label="the loss")
    artists.append(left.fill_between(x, normal, tail, where=tail > normal, color=VERMILION, alpha=0.2))
    left.set(xlabel="x (nats)", ylabel="probability of x or more", ylim=(0, 1.02), xlim=(-2.5, 3.5))
    left.set_title("tails: in places above the normal one")
    left.legend(frameon=False, labelcolor=INK)
    order = np.linspace(1.001, 4, 200)
    artists += right.plot(order, (order - 1) * order * rho, "--", color=BLUE, linewidth=2)
    artists += right.plot(order, np.real(loss.log_moment(order - 1)), color=VERMILION, linewidth=2)
    right.set(xlabel="order α", ylabel="$\\ln\\,E\\,e^{(α-1)L}$", xlim=(1, 4), ylim=(0, None))
    right.set_title("moments: below, at every order")
    for ax in axes:
        ax.grid()
    return artists


def above_the_hockey_stick(ax: Axes, order: float) -> list[Artist]:
    """(1 - e^-x)+, the step that Mironov's proof puts above it, and both exponentials of that order."""
    x = np.linspace(-1.2, 2.2, 681)
    a = order
    touch = math.log(a / (a - 1))
    scale = math.exp((a - 1) * math.log(a - 1) - a * math.log(a))
    stick = np.maximum(0, -np.expm1(-x))
    artists: list[Artist] = list(ax.plot(x, np.exp((a - 1) * x), "--", color=VERMILION, linewidth=1.8))
    artists += ax.plot(x, x >= 0, ":", color=INK, linewidth=1.8)
    artists += ax.plot(x, scale * np.exp((a - 1) * x), color=BLUE, linewidth=2)
    artists += ax.plot(x, stick, color=GREEN, linewidth=2.6)
    artists += ax.plot([touch], [-math.expm1(-touch)], "o", color=BLUE, markersize=8, zorder=5)
    ax.fill_between(x, 0, stick, color=GREEN, alpha=0.12, linewidth=0)
    ax.set(xlim=(-1.2, 2.2), ylim=(0, 2.2), xlabel="x = L − ε (nats)", ylabel="what counts for δ")
    words = (
        (0.62, 1.93, "Markov: $e^{(α-1)x}$", VERMILION),
        (-0.03, 1.08, "1 where the loss is large", INK),
        (1.35, 1.33, "the improved one\ntouches", BLUE),
        (1.5, 0.55, "$δ$ needs only\n$(1-e^{-x})_+$", GREEN),
    )
    for at, y, text, colour in words:
        side = "right" if colour == INK else "left"
        artists.append(ax.text(at, y, text, color=colour, ha=side, va="center"))
    ax.grid()
    return artists


def tests_of(ax: Axes, losses: Mapping[str, PrivacyLoss], second: float) -> list[Artist]:
    """True against false positives of the best tests of each pair, in the region that D_2 leaves open."""
    x = np.linspace(0, 1, 801)
    edge = np.minimum(1, x + np.sqrt(math.expm1(second) * x * (1 - x)))
    edge[np.argmax(edge) :] = 1
    artists: list[Artist] = [ax.fill_between(x, x, edge, color=INK, alpha=0.14, linewidth=0)]
    artists += ax.plot(x, edge, color=INK, linewidth=1.5)
    artists += ax.plot([0, 1], [0, 1], ":", color=INK, linewidth=1)
    for (name, loss), (colour, style) in zip(losses.items(), LINES, strict=False):
        best = 1 - np.asarray(loss.tradeoff(x))
        artists += ax.plot(x, best, style, color=colour, linewidth=2.2, label=name)
    artists.append(ax.text(0.02, 0.93, "no test gets here", color=INK, va="center"))
    ax.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="false positives", ylabel="true positives")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    ax.grid()
    return artists


def sampled_orders(ax: Axes, sigma: float, rates: Sequence[float], high: int = 256) -> list[Artist]:
    """D_α of Gaussian noise on samples: a small part of the whole at small orders, all at large ones."""
    orders = sorted({round(a) for a in np.geomspace(2, high, 60)})
    artists: list[Artist] = []
    for rate, (colour, style) in zip(rates, LINES, strict=False):
        curve = [subsampled_gaussian_rdp(rate, sigma, a) for a in orders]
        name = "everybody" if rate == 1 else f"1 in {round(1 / rate)}"
        artists += ax.plot(orders, curve, style, color=colour, linewidth=2, label=name)
    _order_axis(ax, high)
    ax.set(yscale="log", xlim=(2, high), ylabel="$D_α$ of one step (nats)")
    ax.legend(frameon=False, labelcolor=INK, title="in the sample", loc="lower right")
    return artists


def learned_under(
    ax: Axes, epsilons: Sequence[float], losses: Any, levels: Mapping[str, float]
) -> list[Artist]:
    """Log loss on other people against ε, a dot a run, among levels to compare with."""
    artists: list[Artist] = []
    for epsilon, runs in zip(epsilons, losses, strict=True):
        artists += ax.plot([epsilon] * len(runs), runs, ".", color=INK, markersize=6, alpha=0.6)
    means = [float(np.mean(runs)) for runs in losses]
    artists += ax.plot(epsilons, means, "-D", color=GREEN, markersize=6, linewidth=2)
    for (text, y), (colour, style) in zip(levels.items(), LEVELS, strict=False):
        artists.append(ax.axhline(y, color=colour, linestyle=style, linewidth=1.6))
        artists.append(ax.text(1.01, y, text, color=colour, transform=ax.get_yaxis_transform(), va="center"))
    ax.set(xscale="log", xlabel="exact ε at δ = 1e-5 (nats)", ylabel="log loss on other people (nats)")
    ticks = [0.1, 0.2, 0.5, 1, 2, 5]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.set_xticks([], minor=True)
    ax.grid()
    return artists
