"""Pictures of the KL lemma: all pairs of coins that epsilon allows, and the constants that bound their KL."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from dpcourse import special
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def kl_coins(p: Any, q: Any) -> Any:
    """KL(p || q) of two coins, in nats."""
    return special.rel_entr(p, q) + special.rel_entr(1 - np.asarray(p), 1 - np.asarray(q))


@cache
def _clouds() -> Any:
    """The KL of all pairs as a picture: the more, the bluer."""
    p, q = np.meshgrid(*2 * [np.linspace(0.002, 0.998, 200)])
    strength = np.clip(np.sqrt(kl_coins(p, q)) / 2.2, 0, 1)
    return np.dstack([np.broadcast_to(to_rgb(BLUE), (200, 200, 3)), 0.65 * np.round(12 * strength) / 12])


def coin_pairs(ax: Axes, epsilon: float, p: float, q: float) -> None:
    """The square of all pairs of coins: inside the lens both log-ratios are at most epsilon."""
    ax.imshow(_clouds(), extent=(0, 1, 0, 1), origin="lower", interpolation="bilinear", aspect="auto")
    t = np.linspace(0, 1, 201)
    e = math.exp(epsilon)
    upper, lower = np.minimum(e * t, 1 - (1 - t) / e), np.maximum(t / e, 1 - e * (1 - t))
    ax.fill_between(t, lower, upper, color=GREEN, alpha=0.22, linewidth=0)
    ax.plot(t, upper, color=GREEN, linewidth=1.8)
    ax.plot(t, lower, color=GREEN, linewidth=1.8)
    level = epsilon * math.tanh(epsilon / 2)
    for side in (0.0, 1.0):
        ax.plot(t, _level(t, level, side), "--", color=VERMILION, linewidth=1.5)
    corner = 1 / (1 + 1 / e)
    ax.plot([corner, 1 - corner], [1 - corner, corner], "*", color=VERMILION, markersize=16)
    ax.plot([p], [q], "D", color=PURPLE, markersize=10, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="Pr[heads] under P", ylabel="Pr[heads] under Q")
    ax.set(xticks=[0, 0.25, 0.5, 0.75, 1], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.set_title("pairs of coins that ε allows; ★ the worst")


def _level(p: Any, level: float, side: float) -> Any:
    """The q between p and `side` with KL(p || q) = level, by bisection; NaN where there is none."""
    near, far = np.array(p), np.full_like(p, side)
    for _ in range(30):
        middle = (near + far) / 2
        with np.errstate(all="ignore"):
            beyond = kl_coins(p, middle) > level
        far, near = np.where(beyond, middle, far), np.where(beyond, near, middle)
    return np.where(np.abs(near - side) < 1e-6, np.nan, near)


CONSTANTS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "ε(e^ε − 1)": (lambda e: e * np.expm1(e), INK, "-."),
    "ε²": (lambda e: e * e, PURPLE, ":"),
    "ε²/2": (lambda e: e * e / 2, BLUE, "--"),
    "ε tanh(ε/2), tight": (lambda e: e * np.tanh(e / 2), GREEN, "-"),
}
"""Bounds on the KL of two laws whose log-ratio is at most epsilon, from loose to tight."""


def kl_constants(ax: Axes, epsilon: float, found: float, legal: bool) -> None:
    """The bounds against epsilon, and the pair that was chosen."""
    e = np.linspace(0, 3, 121)
    for name, (bound, colour, style) in CONSTANTS.items():
        ax.plot(e, bound(e), style, color=colour, linewidth=2, label=name)
        ax.plot([epsilon], [bound(np.float64(epsilon))], "o", color=colour, markersize=5)
    ax.axvline(epsilon, color=INK, linewidth=0.8)
    ax.plot(
        [epsilon],
        [min(found, 3)],
        "D" if legal else "X",
        color=PURPLE if legal else VERMILION,
        markersize=11,
        clip_on=False,
    )
    ax.plot([], [], "D", color=PURPLE, label="your pair")
    ax.set(xlim=(0, 3), ylim=(0, 3), xlabel="ε (nats)", ylabel="KL(P ‖ Q) (nats)", yticks=[0, 1, 2, 3])
    ax.set_title("what ε says about KL: tanh is tight")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()
