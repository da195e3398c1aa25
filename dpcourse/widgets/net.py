"""The net explorer: a small database, chosen by the exponential mechanism, stands in for the data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.algorithms.net import NetMechanism
from dpcourse.errors import Floats
from dpcourse.widgets.explorer import Explorer, Slider, View

SHARES: Final = (0.55, 0.3, 0.15)
NAMES: Final = ("bus", "train", "bicycle")
SIZES: Final = tuple(range(1, 17))
BETA: Final = 0.05
EXPECTED, LIKELY, PROMISED, NEAREST = "expected", "95 % of the time", "promised at 95 %", "best in the net"


def dataset(n: int) -> tuple[int, ...]:
    """n rows with about the shares."""
    counts = [round(SHARES[0] * n), round(SHARES[1] * n)]
    return tuple(np.repeat(np.arange(3), [*counts, n - sum(counts)]).tolist())


@lru_cache(maxsize=2048)
def errors(size: int, n: int, epsilon: float) -> tuple[NetMechanism, Floats, Floats]:
    """The mechanism, the exact probability of every database, and how far off its worst answer is."""
    net = NetMechanism(epsilon, np.eye(3), n, size=size)
    data = dataset(n)
    return net, net.law(data).weights, net.errors(data)


@lru_cache(maxsize=128)
def curves(n: int, epsilon: float) -> dict[str, list[float]]:
    """For every size: the net's best error, the mean, the 95 % quantile and the theorem's promise."""
    found: dict[str, list[float]] = {NEAREST: [], EXPECTED: [], LIKELY: [], PROMISED: []}
    for size in SIZES:
        net, chances, off = errors(size, n, epsilon)
        order = np.argsort(off)
        reached = int(np.searchsorted(np.cumsum(chances[order]), 1 - BETA))
        found[NEAREST].append(float(off.min()))
        found[EXPECTED].append(float(chances @ off))
        found[LIKELY].append(float(off[order][min(reached, len(off) - 1)]))
        found[PROMISED].append(float(off.min()) + net.price(BETA))
    return found


def draw(size: int, n: int, epsilon: float) -> View:
    """The triangle of databases with their exact probabilities, and the errors for every size."""
    from dpcourse import plots

    net, chances, off = errors(size, n, epsilon)
    found = curves(n, epsilon)
    here = {name: values[size - 1] for name, values in found.items()}
    data = np.bincount(dataset(n), minlength=3) / n
    with plots.panels(10, 4.3, left=6.3) as (fig, (right,)):
        left = fig.add_axes(plots.Panel(fig, (0.0, 0.02, 0.56, 0.88)))
        plots.simplex_net(left, net.net_answers, chances, data, NAMES, here[LIKELY])
        left.set_title("how likely each database is; ★ the data, hexagon 95 %")
        plots.net_errors(right, SIZES, found, size)
        right.set_title("finer: closer, but harder to choose")
    words = (
        f"{len(off)} databases of {size} rows. The nearest errs by {here[NEAREST]:.3f}; the chosen one by "
        f"{here[EXPECTED]:.4f} on average and by at most {here[LIKELY]:.3f} with probability 95 %, exactly. "
        f"The theorem promises {here[PROMISED]:.3f}. The choice is {epsilon:g}-DP."
    )
    return View(fig, words)


def net_mechanism(**start: Any) -> Explorer:
    """Make the net finer or the data larger, and see which database is chosen.

    >>> net_mechanism(size=3)
    Explorer(net mechanism: size = 3, n = 100, epsilon = 1)
    """
    controls = {
        "size": Slider("rows of a database", SIZES[0], SIZES[-1], 1, 8),
        "n": Slider("rows of the data", 20, 400, 20, 100),
        "epsilon": Slider("ε", 0.1, 3.0, 0.1, 1.0),
    }
    return Explorer("net mechanism", draw, controls, **start)
