"""Errata of the net mechanism and of multiplicative weights."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse import special
from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters import synthetic
from dpcourse.proofs.chapters.selection import CHANCE, WHOLE
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.objects import col
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Term

# Nets and weights ----------------------------------------------------------------------------------

FULL_NET: Final = Domain(
    dict(synthetic.NET_DOMAIN.parameters),
    lambda v: {
        "w": (a := col(v.root) ** (-2 * synthetic.errors(v.count, v.net))),
        "w2": (b := col(v.root) ** (-2 * synthetic.errors(v.count + np.where(v.added, 1, -1), v.net))),
        "Z": a.sum(-1),
        "Z2": b.sum(-1),
    },
)
NETS: Final = Domain({"classes": Whole(1, 1000, log=True), "alpha": Real(0.01, 0.5, log=True)})


def _sample_fails(size: Any, latex: str) -> Term:
    """2 |C| e^{-2 m alpha^2}: the union bound for a sample of m rows to miss some query by alpha."""
    return Term(
        rf"2|C|e^{{-2m\alpha^2}},\ m={latex}",
        lambda v: 2 * v.classes * exp(-2 * size(v) * v.alpha**2),
    )


def _printed_size(v: Any) -> Any:
    """ln|C|/alpha^2, rounded up."""
    m = log(v.classes) / v.alpha**2
    return np.ceil((m.lower + m.upper) / 2 - 1e-9).astype(int)


def _right_size(v: Any) -> Any:
    """The first whole number above ln(2|C|)/(2 alpha^2)."""
    return np.floor((log(2 * v.classes) / (2 * v.alpha**2)).upper).astype(int) + 1


ONE = Term("1", lambda v: Bracket.of(1) + 0 * v.alpha)
COVERS: Final = Domain({"m": Whole(1, 8), "X": Whole(2, 6)})
DATABASES = Term(
    r"|N|=\binom{m+|X|-1}m", lambda v: np.rint(special.comb(v.m + v.X - 1, v.m)).astype(np.int64)
)
BEST_ERROR: Final = Domain({"n": Whole(1, 10_000, log=True), "K": Rational(Fraction(1, 4), 1000)})
"""K = ln|X| ln|C|/eps; the error alpha n + K/alpha^2 is least where its slope n - 2K/alpha^3 is 0."""


def _best_error(v: Any, times: int) -> Any:
    """The error for the best alpha, with K so many times as large."""
    costs = times * Bracket.of(v.K)
    alpha = (2 * costs / v.n) ** (Bracket.of(1) / 3)
    return alpha * v.n + costs / alpha**2


EIGHT_TIMES = Term(r"\mathrm{err}(8\ln|C|)", lambda v: _best_error(v, 8))


GAP_TWICE = Term(r"\eta T-\eta^2,\ \mathrm{gap}=T/2", lambda v: v.eta * 2 * v.gap - v.eta**2)


ERRATA: Final = (
    Erratum(
        "net-factor-two",
        claim("weights e^{eps w}", CHANCE, "<=", WHOLE, FULL_NET, "eps Delta-DP, as printed"),
        synthetic.NET_PRIVACY,
        "the net mechanism with weights e^{eps w} is eps Delta-DP",
        "2 eps Delta-DP; use e^{eps w/2}",
    ),
    Erratum(
        "net-size",
        claim(
            "m = ln|C|/alpha^2",
            _sample_fails(_printed_size, r"\lceil\ln|C|/\alpha^2\rceil"),
            "<",
            ONE,
            NETS,
            "as printed",
        ),
        claim(
            "m = ln(2|C|)/(2 alpha^2)",
            _sample_fails(_right_size, r"\lfloor\ln(2|C|)/(2\alpha^2)\rfloor+1"),
            "<",
            ONE,
            NETS,
            "solve for m",
        ),
        "databases of size ln|C|/alpha^2 form an alpha-net",
        "of size ln(2|C|)/(2 alpha^2), rounded up; the other is 0 for a single query",
    ),
    Erratum(
        "net-cover-number",
        claim(
            "the net has m members",
            DATABASES,
            "<=",
            Term("m", lambda v: v.m),
            COVERS,
            "m is the cover number",
        ),
        claim(
            "the net has at most |X|^m members",
            DATABASES,
            "<=",
            Term("|X|^m", lambda v: v.X**v.m),
            COVERS,
            "m rows, each of |X| kinds",
        ),
        "m is the size of the net",
        "m is the size of each database in it; the net has up to |X|^m",
    ),
    Erratum(
        "net-logarithm",
        claim(
            "the error is linear in ln|C|",
            EIGHT_TIMES,
            ">=",
            Term(r"8\,\mathrm{err}(\ln|C|)", lambda v: 8 * _best_error(v, 1)),
            BEST_ERROR,
            "as printed",
        ),
        claim(
            "the error grows like (ln|C|)^{1/3}",
            EIGHT_TIMES,
            "=",
            Term(r"2\,\mathrm{err}(\ln|C|)", lambda v: 2 * _best_error(v, 1)),
            BEST_ERROR,
            "the best alpha balances alpha n with ln|X| ln|C|/(eps alpha^2)",
        ),
        "the net mechanism errs by about n^{2/3} ln|C|",
        "by about n^{2/3} (ln|C| ln|X|/eps)^{1/3}",
    ),
    Erratum(
        "weights-gap",
        claim(
            "drop eta T - eta^2 for a gap of T/2",
            synthetic.DROP,
            ">=",
            GAP_TWICE,
            synthetic.WEIGHTS_DOMAIN,
            "as printed",
        ),
        synthetic.POTENTIAL,
        "an update with gap above T/2 lowers the potential by eta T - eta^2",
        "by eta gap - eta^2/8, that is eta T/2 - eta^2/8",
    ),
)
