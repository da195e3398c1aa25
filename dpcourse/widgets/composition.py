"""The composition workbench: many releases under every bound of the course, next to the exact answer."""

from __future__ import annotations

from typing import Any

from dpcourse.accounting import compare
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, Mechanism, RandomizedResponse
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, Switch, View

RESPONSE, LAPLACE, GAUSSIAN = "randomized response", "Laplace noise", "Gaussian noise, σ = 1/ε"
TRUE = ("exact", "optimal", "rdp", "zcdp", "gdp", "clt", "tanh", "half-square", "square", "classic", "basic")
FALSE = ("missing two", "without mean", "exponential of slack")


def made(mechanism: str, epsilon: float) -> Mechanism:
    """The mechanism of one release."""
    if mechanism == RESPONSE:
        return RandomizedResponse(epsilon)
    return LaplaceMechanism(epsilon) if mechanism == LAPLACE else GaussianMechanism(1 / epsilon)


def draw(mechanism: str, epsilon: float, k: int, delta: float, misprints: bool) -> View:
    """The law of the total loss with the exact epsilon, and the row of every bound."""
    from dpcourse.plots import panels
    from dpcourse.plots import workbench as picture

    one = made(mechanism, epsilon)
    table = compare(one, delta, k, misprints=misprints)
    loss = k * one.worst_case()
    exact = table["exact"].epsilon
    ends = picture.axis_of(loss, table)
    lattice = 2 * epsilon if mechanism == RESPONSE else None
    with panels(10, 5.8, rows=(1, 1.35), left=2.15, right=0.4, down=0.2) as (fig, (top, bottom)):
        picture.loss_law(top, loss, lattice, exact, delta, ends)
        picture.rulers(bottom, table, TRUE + FALSE * misprints, ends)
    best = min((row for row in table.rows if row.valid and row.key != "exact"), key=lambda row: row.epsilon)
    basic = table["basic"].epsilon
    words = (
        f"{number(k)} release{'s' * (k > 1)}: exactly ε = {number(exact)} at δ = {number(delta)}. "
        f"The mean loss is {number(loss.kl())}, and a loss beyond ε has probability "
        f"{number(float(loss.tail(exact * (1 + 1e-9))))}.\n"
        f"Best theorem here: {picture.NAMES[best.key].replace('$', '')}, {number(best.epsilon)}. "
        f"Basic composition says {number(basic)}"
        f"{f', {basic / exact:.3g} times the exact ε' if exact else ''}."
    )
    wrong = [row.name for row in table.rows if row.kind == "misprint" and row.epsilon < exact * (1 - 1e-9)]
    if wrong:
        words += f"\nToo low to be true: {', '.join(wrong)}."
    return View(fig, words)


def composition(**start: Any) -> Explorer:
    """Drag k, epsilon and delta, and see every bound against the exact answer.

    >>> composition(k=10, epsilon=0.5).view().words[:39]
    '10 releases: exactly ε = 5 at δ = 1e-6.'
    """
    controls = {
        "mechanism": Choice("each release", (RESPONSE, LAPLACE, GAUSSIAN)),
        "epsilon": Slider("ε of one release", -2, 0.5, 0.1, 0.1, log=True),
        "k": Slider("releases k", 0, 4, 0.1, 100, log=True),
        "delta": Slider("δ", -12, -1, 0.5, 1e-6, log=True),
        "misprints": Switch("show misprints"),
    }
    return Explorer("composition", draw, controls, **start)
