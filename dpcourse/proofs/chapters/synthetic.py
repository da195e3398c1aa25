"""Answering many queries: the net mechanism and the potential of multiplicative weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters.selection import CHANCE, EXPONENTIAL_STEPS, WHOLE, weights_of
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, stack, where
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import col, fair, kl, log_ratio
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Step, Term

NET: Final = 4
ROWS: Final = 12


def errors(count: Any, net: Any) -> Any:
    """The error of each member of the net on the counting query: how far its count is from the true one."""
    return abs(net - np.asarray(count)[:, None])


def net_weights(v: Any, rows: int = 1) -> dict[str, Any]:
    """Members of the net by e^{-eps error/2}; D' has one row more of the counted kind, or one less."""
    return weights_of(v, -errors(v.count, v.net), -errors(v.count + np.where(v.added, rows, -rows), v.net))


NET_DOMAIN: Final = Domain(
    {
        "root": Rational(1, 4),
        "count": Whole(1, ROWS - 1),
        "added": Whole(0, 1),
        "net": Many(Whole(0, ROWS), NET),
    },
    net_weights,
    start={"root": 2, "count": 3, "added": 0, "net": (0, 4, 8, 12)},
)
NET_PRIVACY: Final = Proof(
    "net-mechanism-privacy",
    Step("statement", CHANCE, "<=", WHOLE, "the exponential mechanism on the net, with exponent eps w/2"),
    NET_DOMAIN,
    EXPONENTIAL_STEPS,
    "Blum, Ligett and Roth, STOC 2008",
    {"sensitivity": replace(NET_DOMAIN, build=lambda v: net_weights(v, 2))},
)


def _useful(v: Any, is_net: bool = True) -> dict[str, Any]:
    """alpha is the error of the best member; gamma = (2/eps) ln(|N|/beta)."""
    error = errors(v.count, v.net)
    alpha = error.min(-1) if is_net else 0 * v.count + 1
    gamma = 2 / v.epsilon * log(NET / v.beta)
    weights = exp(-col(v.epsilon) * error / 2)
    limit = alpha + gamma
    surely, perhaps = error > col(limit.upper), error > col(limit.lower)
    bad = Bracket(where(surely, weights, 0).sum(-1).lower, where(perhaps, weights, 0).sum(-1).upper)
    return {"Z": weights.sum(-1), "bad": bad, "alpha": alpha, "gamma": gamma}


MISS = Term(r"\Pr[\text{error}>\alpha+\gamma]", lambda v: v.bad / v.Z)
BAD_MASS = Term(
    r"\frac{|N|e^{-\varepsilon(\alpha+\gamma)/2}}{Z}",
    lambda v: NET * exp(-v.epsilon * (v.alpha + v.gamma) / 2) / v.Z,
)
GOOD_MASS = Term(
    r"\frac{|N|e^{-\varepsilon(\alpha+\gamma)/2}}{e^{-\varepsilon\alpha/2}}",
    lambda v: NET * exp(-v.epsilon * (v.alpha + v.gamma) / 2) / exp(-v.epsilon * v.alpha / 2),
)
BETA = Term(r"\beta", lambda v: v.beta)
UTILITY_DOMAIN: Final = Domain(
    {
        "epsilon": Real(0.2, 3.0, log=True),
        "beta": Real(0.01, 0.99),
        "count": Whole(0, ROWS),
        "net": Many(Whole(0, ROWS), NET),
    },
    _useful,
    start={"epsilon": 2.0, "beta": 0.5, "count": 3, "net": (0, 4, 8, 12)},
)
NET_UTILITY: Final = Proof(
    "net-mechanism-utility",
    Step("statement", MISS, "<=", BETA, "for gamma = (2/eps) ln(|N|/beta)"),
    UTILITY_DOMAIN,
    (
        Step(
            "bad members", MISS, "<=", BAD_MASS, "at most |N|, each of weight below e^{-eps (alpha+gamma)/2}"
        ),
        Step("good member", BAD_MASS, "<=", GOOD_MASS, "the net holds a member with error alpha"),
        Step("choice", GOOD_MASS, "=", BETA, "gamma = (2/eps) ln(|N|/beta)"),
    ),
    "Blum, Ligett and Roth, STOC 2008",
    {"a member within alpha": replace(UTILITY_DOMAIN, build=lambda v: _useful(v, False))},
)

UNIVERSE: Final = 4


def reweighted(current: Any, query: Any, rate: Any) -> Any:
    """The next state: weights times e^{rate q}, normalised."""
    raw = current * exp(col(rate) * query)
    return raw / col(raw.sum(-1))


def update(v: Any) -> dict[str, Any]:
    """One update with the sign that lifts the answer towards the true one."""
    true, state = fair(v.laws[:, 0]), fair(v.laws[:, 1])
    difference = (Bracket.of(true) * v.query).sum(-1) - (Bracket.of(state) * v.query).sum(-1)
    low = difference.lower + difference.upper < 0
    query = where(low[:, None], 1 - v.query, v.query)
    after = reweighted(Bracket.of(state), query, v.eta)
    return {"true": true, "state": state, "after": after, "q": query, "gap": abs(difference), "falls": low}


DROP = Term(r"D(x\|D_t)-D(x\|D_{t+1})", lambda v: kl(v.true, v.state) - kl(v.true, v.after))
RATIO = Term(
    r"\sum_ix_i\ln\frac{D_{t+1}[i]}{D_t[i]}", lambda v: (v.true * log_ratio(v.after, v.state)).sum(-1)
)
LOG_SUM = Term(
    r"\eta\,q(x)-\ln\sum_iD_t[i]e^{\eta q_i}",
    lambda v: v.eta * (v.true * v.q).sum(-1) - log((v.state * exp(col(v.eta) * v.q)).sum(-1)),
)
HOEFFDING = Term(
    r"\eta\,q(x)-\eta\,q(D_t)-\eta^2/8",
    lambda v: v.eta * (v.true * v.q).sum(-1) - v.eta * (v.state * v.q).sum(-1) - v.eta**2 / 8,
)
GAIN = Term(r"\eta\,\mathrm{gap}-\eta^2/8", lambda v: v.eta * v.gap - v.eta**2 / 8)
WEIGHTS_DOMAIN: Final = Domain(
    {"eta": Real(0.01, 4.0, log=True), "laws": Laws(UNIVERSE, 2), "query": Many(Real(0.0, 1.0), UNIVERSE)},
    update,
    start={"eta": 0.5, "laws": ((4, 2, 1, 1), (1, 1, 1, 1)), "query": (1.0, 1.0, 0.0, 0.25)},
)
POTENTIAL: Final = Proof(
    "multiplicative-weights-potential",
    Step("statement", DROP, ">=", GAIN, "each update lowers the potential D(x || D_t)"),
    WEIGHTS_DOMAIN,
    (
        Step("telescope", DROP, "=", RATIO, "the terms x ln x cancel"),
        Step("update rule", RATIO, "=", LOG_SUM, "ln(D'/D) = eta q - ln of the normaliser"),
        Step("Hoeffding", LOG_SUM, ">=", HOEFFDING, "Hoeffding's lemma for q in [0, 1] under D_t"),
        Step("gap", HOEFFDING, "=", GAIN, "the sign of the update makes q(x) - q(D_t) the gap"),
    ),
    "Hardt and Rothblum, FOCS 2010",
    {"queries in [0, 1]": WEIGHTS_DOMAIN.widened(query=Many(Real(-4.0, 4.0), UNIVERSE))},
)

MOST: Final = 32
MENU: Final = 3


def _run(v: Any, far_only: bool = True) -> dict[str, Any]:
    """Up to 32 updates from the even law with eta = T/4, for an adversary who wants as many as possible.

    It asks one of three queries, or which entries of D_t are too small: that with the least gap above T/2.
    If not `far_only`, it asks that with the least gap.
    """
    true = Bracket.of(fair(v.true))
    even = true * 0 + Bracket.of(1) / UNIVERSE
    given = [Bracket.of(v.queries[:, i * UNIVERSE : (i + 1) * UNIVERSE]) / 8 for i in range(MENU)]
    rows, eta, state, drops, count = np.arange(len(v.queries)), v.T / 4, even, 0 * v.T, 0 * v.queries[:, 0]
    for _ in range(MOST):
        menu = stack([*given, Bracket.points(true.lower > state.upper)], 1)
        moves = (menu * true[:, None]).sum(-1) - (menu * state[:, None]).sum(-1)
        gaps = abs(moves)
        far = gaps.lower > col(v.T.upper / 2) if far_only else gaps.lower >= 0
        chosen = rows, np.argmin(np.where(far, gaps.lower, np.inf), 1)
        query, falls, asked = menu[chosen], (moves.lower + moves.upper < 0)[chosen], far[chosen]
        after = reweighted(state, where(falls[:, None], 1 - query, query), eta)
        state = where(asked[:, None], after, state)
        drops = drops + where(asked, eta * gaps[chosen] - eta**2 / 8, 0)
        count = count + asked
    return {"p": true, "last": state, "even": even, "drops": drops, "L": count}


UPDATE_COST = Term(r"L\cdot\tfrac{15}{128}T^2", lambda v: v.L * 15 * v.T**2 / 128)
ALL_DROPS = Term(r"\sum_t\big(\eta\,\mathrm{gap}_t-\tfrac{\eta^2}8\big)", lambda v: v.drops)
SPENT = Term(
    r"D(x\|D_0)-D(x\|D_L)",
    lambda v: where(v.L == 0, 0, kl(v.p, v.even) - kl(v.p, v.last)),  # without an update, the very same
)
START = Term(r"D(x\|D_0)", lambda v: kl(v.p, v.even))
LN_U = Term(r"\ln|U|", lambda v: log(UNIVERSE) + 0 * v.T)
RUN_DOMAIN: Final = Domain(
    {
        "T": Real(0.05, 1.2, log=True),
        "true": Laws(UNIVERSE),
        "queries": Many(Whole(0, 8), MENU * UNIVERSE),
    },
    _run,
    start={"T": 0.5, "true": (8, 1, 1, 1), "queries": (8, 0, 0, 0, 8, 8, 0, 0, 0, 4, 8, 2)},
)
UPDATES_PROOF: Final = Proof(
    "multiplicative-weights-updates",
    Step("statement", UPDATE_COST, "<=", LN_U, "so there are at most 128 ln|U|/(15 T^2) updates"),
    RUN_DOMAIN,
    (
        Step("one update", UPDATE_COST, "<=", ALL_DROPS, "eta = T/4 and gap > T/2: T^2/8 - T^2/128 each"),
        Step("potential", ALL_DROPS, "<=", SPENT, "each update lowers the potential by that much"),
        Step("never negative", SPENT, "<=", START, "a divergence is at least 0"),
        Step("even start", START, "<=", LN_U, "against the even law it is at most ln|U|"),
    ),
    "Hardt and Rothblum, FOCS 2010",
    {"every gap above T/2": replace(RUN_DOMAIN, build=lambda v: _run(v, False))},
)
PROOFS: Final = (NET_PRIVACY, NET_UTILITY, POTENTIAL, UPDATES_PROOF)
