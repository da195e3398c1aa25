"""Proofs that run: brackets enclose, lines hold on the whole domain, and a wrong line is found."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcourse as dp
from dpcourse import BadInput, PrivacyLoss, laws, proofs
from dpcourse.plots.proofs import proof_bars, proof_slack
from dpcourse.plots.style import figure
from dpcourse.plots.walker import mathtext
from dpcourse.proofs import (
    Bracket,
    Domain,
    Laws,
    Many,
    Outcome,
    Proof,
    Rational,
    Real,
    Step,
    Term,
    Whole,
    chapters,
)
from dpcourse.proofs import functions as f
from dpcourse.proofs.book import CHAPTERS
from dpcourse.proofs.chapters import gaussian, noise, repeated, rounds, selection, sparse, stopping
from dpcourse.proofs.steps import compare

BOOK = proofs.book()
NAMES = list(BOOK)
DROPPED = [(name, hypothesis) for name, proof in BOOK.items() for hypothesis in proof.hypotheses]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def batch(proof: Proof, size: int = 200, seed: int = 1) -> Any:
    source = rng(seed)
    drawn = {name: kind.draw(source, size) for name, kind in proof.domain.parameters.items()}
    return proof.domain.legal(drawn)


# Brackets -----------------------------------------------------------------------------------------

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_arithmetic_never_loses_the_true_value(a: float, b: float, c: float) -> None:
    x, y, z = (Bracket.points([v]) for v in (a, b, c))
    p, q, r = (Fraction(v) for v in (a, b, c))
    pairs = [(x + y - z, p + q - r), (x * y * z, p * q * r), ((x - y) * (x + z), (p - q) * (p + r))]
    pairs += [(x / y, p / q), ((x + z) / y, (p + r) / q)] if b else []
    pairs += [(abs(x - y), abs(p - q)), ((x + y) ** 2, (p + q) ** 2)]
    pairs += [(f.stack([x, y, z]).sum(-1), p + q + r), (f.maximum(x, y), max(p, q))]
    for bracket, true in pairs:
        assert Fraction(float(bracket.lower[0])) <= true <= Fraction(float(bracket.upper[0]))
        assert (
            bracket.upper[0] - bracket.lower[0]
            <= 1e-13 * max(abs(a), abs(b), abs(c), abs(float(true)), 1) ** 3
        )


@given(st.fractions(-50, 50, max_denominator=1000), st.integers(0, 8))
def test_functions_enclose_what_mpmath_says(x: Fraction, power: int) -> None:
    here = Bracket.of(np.array([x], dtype=object))
    with mpmath.workdps(40):
        exact = mpmath.mpf(x.numerator) / x.denominator
        cases = [(f.exp(here), mpmath.exp(exact)), (f.tanh(here), mpmath.tanh(exact))]
        cases += [(f.expm1(here), mpmath.expm1(exact)), (f.cosh(here), mpmath.cosh(exact))]
        cases += [(f.normal_cdf(here), mpmath.ncdf(exact)), (abs(here) ** power, abs(exact) ** power)]
        if x > 0:
            cases += [(f.log(here), mpmath.log(exact)), (f.log1p(here), mpmath.log1p(exact))]
            cases += [(f.sqrt(here), mpmath.sqrt(exact))]
        for bracket, true in cases:
            assert mpmath.mpf(float(bracket.lower[0])) <= true <= mpmath.mpf(float(bracket.upper[0]))
            assert bracket.upper[0] - bracket.lower[0] <= 1e-11 * abs(float(true)) + 1e-300


def test_exact_arithmetic_on_dyadic_numbers_stays_a_point() -> None:
    x, y = Bracket.points([0.375]), Bracket.of(np.array([Fraction(5, 16)], dtype=object))
    result = (x * y + 1 - x) / 2
    assert (
        result.lower[0] == result.upper[0] == float((Fraction(3, 8) * Fraction(5, 16) + Fraction(5, 8)) / 2)
    )
    seventh = x / 7
    assert seventh.lower[0] < seventh.upper[0]


@given(st.integers(-(2**62), 2**62), st.integers(0, 80))
def test_numbers_with_more_bits_than_a_float_are_enclosed(n: int, shift: int) -> None:
    for number, given_as in ((Fraction(n, 2**shift), object), (Fraction(n), np.int64)):
        values = np.array([number if given_as is object else n], dtype=given_as)
        bracket = Bracket.of(values)
        assert Fraction(float(bracket.lower[0])) <= number <= Fraction(float(bracket.upper[0]))
        assert bracket.lower[0] == bracket.upper[0] or abs(n) >= 2**53


def test_rounded_floats_are_no_side_and_no_operand() -> None:
    with pytest.raises(TypeError, match="rounded"):
        Bracket.of(np.array([0.1]))
    step = Step("floats", Term("a", lambda v: np.array([0.1])), "<=", Term("b", lambda v: np.array([1])), "")
    with pytest.raises(TypeError, match="not rounded floats"):
        step.sides(None)
    mixed = np.array([Fraction(1, 2), 0.5], dtype=object)
    with pytest.raises(TypeError, match="not rounded floats"):
        replace(step, left=lambda v: mixed).sides(None)


def test_a_relation_is_held_violated_or_undecided() -> None:
    left = Bracket([1.0, 1.0, 3.0, 2.0], [1.5, 2.5, 4.0, 2.0])
    right = Bracket([2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0])
    held, failed = compare(left, "<=", right)
    assert held.tolist() == [True, False, False, True]
    assert failed.tolist() == [False, False, True, False]
    assert compare(left, ">", right)[1].tolist() == [True, False, False, True]
    held, failed = compare(left, "=", right)
    assert held.tolist() == [False, False, False, True]
    assert failed.tolist() == [True, False, True, False]
    half = np.array([Fraction(1, 2)], dtype=object)
    assert [flag.tolist() for flag in compare(half, "<", half)] == [[False], [True]]
    assert [flag.tolist() for flag in compare(half, "=", half)] == [[True], [False]]


# Domains ------------------------------------------------------------------------------------------

KINDS = [
    Real(0.1, 5.0), Real(1e-9, 0.5, log=True), Rational(0, 1), Rational(Fraction(1, 3), 7), Rational(2, 2),
    Rational(Fraction(1, 100), 50, log=True), Whole(-3, 9), Whole(1, 5000, log=True),
    Many(Rational(-1, 1), 4), Many(Whole(0, 1), 3), Many(Real(-1.0, 1.0), 2), Laws(3), Laws(2, 4),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_value_that_a_kind_proposes_obeys_its_rule(kind: Any) -> None:
    drawn = kind.draw(rng(), 300)
    assert drawn.shape == (300, *kind.shape)
    domain = Domain({"x": kind})
    values = [domain.row({"x": drawn}, i)["x"] for i in range(0, 300, 7)] + kind.corners() + kind.sweep()
    for value in values:
        assert kind.read(value) == value
        for simpler in kind.simpler(value):
            assert kind.read(simpler) == simpler
    assert kind.view(kind.array(values), exact=True).shape[0] == len(values)
    again = kind.draw(rng(), 300)
    assert (again == drawn).all()


@pytest.mark.parametrize("kind", [k for k in KINDS if k.has_fractions], ids=str)
def test_the_quick_view_encloses_the_exact_one(kind: Any) -> None:
    drawn = kind.draw(rng(3), 200)
    exact, quick = kind.view(drawn, True), kind.view(drawn, False)
    lower, upper = (np.vectorize(Fraction)(end) for end in (quick.lower, quick.upper))
    assert (lower <= exact).all()
    assert (exact <= upper).all()


def test_bad_points_and_names_are_refused_with_the_rule() -> None:
    proof = BOOK["gaussian-privacy"]
    with pytest.raises(BadInput, match=r"epsilon = 3 .* a number from 0.01 to 1\. Fix: .*without"):
        proof.check(epsilon=3)
    with pytest.raises(BadInput, match=r"parameter = 'eps' .* one of epsilon, delta"):
        proof.check(eps=0.5)
    with pytest.raises(BadInput, match=r"k = 2.5 .* a whole number from 1 to 6"):
        BOOK["group-privacy-pure"].check(k=2.5)
    with pytest.raises(BadInput, match=r"moves = .* 6 entries, each a Fraction or an int from 0 to 1"):
        BOOK["group-privacy-pure"].check(moves=(0, 1))
    with pytest.raises(BadInput, match=r"kernel = .* 2 rows of 3 whole weights"):
        BOOK["kl-lemma-tanh"].check(kernel=((1, 2, 3), (0, 0, 0)))
    with pytest.raises(BadInput, match=r"kernel = .* 3 whole weights from 0 to 10\^9"):
        BOOK["kl-lemma-tanh"].check(kernel=((1, 2, 2**62), (1, 1, 2**62)))  # their sums would not fit
    with pytest.raises(BadInput, match=r"proof = 'group-privacy' .* use 'group-privacy-pure' or"):
        BOOK["group-privacy"]
    with pytest.raises(BadInput, match=r"erratum = 'two-coin' .* use 'two-coins' or"):
        proofs.errata()["two-coin"]
    with pytest.raises(BadInput, match=r"proof = 7 .* print the list"):
        BOOK[7]  # type: ignore[index]
    with pytest.raises(BadInput, match=r"step = 'luck' .* 'loss', 'normal'"):
        proof.check()["luck"]
    with pytest.raises(BadInput, match=r"hypothesis = 'luck' .* 'eps at most 1'"):
        proof.without("luck")
    with pytest.raises(BadInput, match=r"rng = None .* numpy\.random\.Generator"):
        proof.falsify(100, rng=None)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"budget = 0 .* at least 1"):
        proof.falsify(0, rng=rng())
    ordered = Domain({"a": Whole(0, 9), "b": Whole(0, 9)}, fits=lambda v: v.a < v.b, start={"a": 1, "b": 2})
    smaller = Step("statement", Term("a", lambda v: v.a), "<", Term("b", lambda v: v.b), "")
    with pytest.raises(BadInput, match=r"point = 'a = 5, b = 2' .* inside the domain of the proof"):
        Proof("ordered", smaller, ordered, (), "").check(a=5)


def test_a_proof_that_makes_no_sense_is_refused() -> None:
    one, x = Term("1", lambda v: 0 * v.x + 1), Term("x", lambda v: v.x)
    domain = Domain({"x": Whole(0, 1)})
    step = Step("one", x, "<=", one, "x is a bit")
    with pytest.raises(BadInput, match=r"relation = '!=' .* one of"):
        Step("bad", x, "!=", one, "")
    with pytest.raises(BadInput, match="latex of step bare"):
        Step("bare", lambda v: v.x, "<=", one, "")
    with pytest.raises(BadInput, match=r"step = 'one' .* a name of its own"):
        Proof("twice", step, domain, (step,), "")
    with pytest.raises(BadInput, match="step used by two = 'three'"):
        Proof("unknown", replace(step, name="s"), domain, (replace(step, name="two", uses=("three",)),), "")
    empty = Domain({"x": Whole(0, 1)}, fits=lambda v: v.x > 5)
    with pytest.raises(BadInput, match="with points in it"):
        Proof("empty", step, empty, (), "").falsify(100, rng=rng())


# The book -----------------------------------------------------------------------------------------


PROMISED = [
    "exhaustive-reconstruction",
    "guessing-bound",
    "group-privacy-pure",
    "group-privacy-approx",
    "group-privacy-approx-simple",
    "laplace-privacy",
    "laplace-accuracy",
    "randomized-response",
    "histogram-add-remove",
    "histogram-replace",
    "exponential-privacy",
    "exponential-accuracy",
    "noisy-max-monotone",
    "noisy-max-general",
    "post-processing",
    "basic-composition",
    "basic-composition-approx",
    "basic-composition-induction",
    "pure-filter",
    "private-lloyd",
    "gaussian-privacy",
    "kl-lemma-classic",
    "kl-lemma-tanh",
    "kl-lemma-constants",
    "azuma-martingale",
    "azuma-conditional-means",
    "advanced-composition",
    "advanced-composition-approx",
    "advanced-composition-stopping",
    "advanced-composition-response",
    "above-threshold",
    "smooth-sensitivity-laplace",
    "smooth-sensitivity-cauchy",
    "renyi-chain-rule",
    "pure-to-zcdp",
    "zcdp-composition",
    "rdp-to-dp",
    "rdp-to-dp-improved",
    "zcdp-to-dp",
    "tradeoff-lines",
    "neyman-pearson",
    "optimal-composition",
    "rounding-up-is-safe",
    "rounding-up-costs",
    "net-mechanism-privacy",
    "net-mechanism-utility",
    "multiplicative-weights-potential",
    "multiplicative-weights-updates",
]


def test_the_book_covers_the_course() -> None:
    assert not set(PROMISED) - set(NAMES)
    assert all(proof.reference and proof.steps for proof in BOOK.values())


def test_every_chapter_is_in_the_book() -> None:
    """A chapter that the list of chapters forgets would be tested by nobody."""
    folder = Path(chapters.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(CHAPTERS)


def test_theorems_without_a_hypothesis_are_about_any_laws_or_about_one() -> None:
    """All others name what they assume, and `without` drops it."""
    bare = {name for name, proof in BOOK.items() if not proof.hypotheses}
    about_any = {"renyi-chain-rule", "tradeoff-lines", "rounding-up-costs"}
    assert bare == about_any | {"advanced-composition-response"}


@pytest.mark.parametrize("name", NAMES)
def test_every_proof_holds_links_and_survives(name: str) -> None:
    proof = BOOK[name]
    assert proof.check().holds, proof.check()
    assert proof.chain().faults(batch(proof)) == []
    result = proof.falsify(1000, rng=rng(20))
    assert result.survived, result
    assert result.tried == 1000
    assert max(result.undecided.values()) < 300, result.undecided  # ties at the corners


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_proof_survives_ten_thousand_points(name: str) -> None:
    result = BOOK[name].falsify(10_000, rng=rng(11))
    assert result.survived, result
    assert result.tried == 10_000
    assert max(result.undecided.values()) < 1000, result.undecided


@given(st.sampled_from(NAMES), st.integers(0, 2**32 - 1))
def test_no_seed_finds_a_point_where_a_line_fails(name: str, seed: int) -> None:
    for line, (_, failed) in zip(
        BOOK[name].lines, BOOK[name].outcomes(batch(BOOK[name], 100, seed)), strict=True
    ):
        assert not failed.any(), line.name


@pytest.mark.parametrize("name", NAMES)
def test_no_proof_is_about_nothing(name: str) -> None:
    """On a good part of the domain the two sides of the statement differ, and both are above 0."""
    proof = BOOK[name]
    seen = proof.domain.view(batch(proof, 1000), exact=False)
    left, right = (Bracket.of(side) for side in proof.statement.sides(seen))
    matters = (left.lower > 1e-12) & (right.lower > 1e-12)
    share = matters.reshape(len(matters), -1).any(1).mean()
    assert share > 0.04, share


@pytest.mark.parametrize(("name", "hypothesis"), DROPPED)
def test_without_a_hypothesis_the_search_finds_a_counterexample(name: str, hypothesis: str) -> None:
    result = BOOK[name].without(hypothesis).falsify(1000, rng=rng(5))
    assert not result.survived
    assert result.tried <= 1000
    assert result.counterexample is not None
    assert result.counterexample.fails


STATEMENT_FALLS = [
    ("gaussian-privacy", "eps at most 1"),
    ("kl-lemma-classic", "both directions"),
    ("histogram-add-remove", "adjacency"),
    ("basic-composition", "fresh coins"),
    ("randomized-response", "fresh second coin"),
    ("noisy-max-monotone", "monotone scores"),
    ("pure-filter", "charge before answering"),
    ("private-lloyd", "points in the l1 ball"),
    ("smooth-sensitivity-laplace", "S is beta-smooth"),
    ("smooth-sensitivity-cauchy", "S is beta-smooth"),
    ("above-threshold", "sensitivity"),
    ("laplace-privacy", "sensitivity in l1"),
    ("neyman-pearson", "no more false positives"),
    ("optimal-composition", "both directions"),
    ("rounding-up-is-safe", "rounded up"),
    ("rounding-up-is-safe", "not to the nearest"),
    ("exhaustive-reconstruction", "every set is asked"),
    ("guessing-bound", "the promise in both directions"),
    ("laplace-accuracy", "all coordinates counted"),
    ("exponential-accuracy", "all outcomes counted"),
    ("basic-composition-approx", "fresh coins"),
    ("basic-composition-induction", "every eps fixed in advance"),
    ("pure-to-zcdp", "both directions"),
    ("zcdp-composition", "round 2 private after every answer"),
    ("rdp-to-dp", "D at the same order"),
    ("zcdp-to-dp", "no chance of telling all"),
    ("net-mechanism-privacy", "sensitivity"),
    ("net-mechanism-utility", "a member within alpha"),
    ("multiplicative-weights-potential", "queries in [0, 1]"),
    ("multiplicative-weights-updates", "every gap above T/2"),
    ("azuma-martingale", "mean 0 given the past"),
    ("azuma-conditional-means", "losses at most alpha"),
    ("azuma-conditional-means", "means at most beta"),
    ("advanced-composition-stopping", "both directions"),
    ("advanced-composition-approx", "every round within delta"),
    ("smooth-sensitivity-laplace", "S bounds how f moves"),
    ("smooth-sensitivity-cauchy", "S bounds how f moves"),
]


@pytest.mark.parametrize(("name", "hypothesis"), STATEMENT_FALLS)
def test_these_hypotheses_are_needed_for_the_statement_itself(name: str, hypothesis: str) -> None:
    result = BOOK[name].without(hypothesis).falsify(1000, rng=rng(6))
    assert result.counterexample is not None
    assert "statement" in result.counterexample.fails


@pytest.mark.parametrize("name", [name for name in NAMES if BOOK[name].domain.has_fractions])
def test_brackets_and_fractions_never_contradict_each_other(name: str) -> None:
    proof = BOOK[name]
    points = batch(proof, 60, seed=8)
    quick, exact = (proof.domain.view(points, exact=way) for way in (False, True))
    for line in proof.lines:
        (held, failed), (true, false) = line.outcomes(quick), line.outcomes(exact)
        assert not (held & false).any(), line.name
        assert not (failed & true).any(), line.name


# The search ---------------------------------------------------------------------------------------


def test_a_search_depends_on_its_seed_only() -> None:
    proof = BOOK["kl-lemma-constants"].without("both directions")
    one, two = (proof.falsify(500, rng=rng(3)) for _ in range(2))
    assert one.counterexample is not None
    assert two.counterexample is not None
    assert (one.tried, one.counterexample.point) == (two.tried, two.counterexample.point)
    assert str(one) == str(two)


def test_a_tie_of_brackets_is_undecided_and_no_counterexample() -> None:
    left, right = Term("a", lambda v: f.log(v.x)), Term("b", lambda v: f.log(v.x * 3) - f.log(3))
    tie = Proof("tie", Step("statement", left, "<=", right, ""), Domain({"x": Real(0.5, 2.0)}), (), "")
    result = tie.falsify(300, rng=rng())
    assert result.survived
    assert result.undecided["statement"] > 250
    assert tie.check(x=0.75).statement.outcome is Outcome.UNDECIDED
    assert not tie.check(x=0.75).holds


def test_a_counterexample_is_shrunk_to_a_simple_one() -> None:
    left, right = Term(r"n^2+|m|", lambda v: v.n * v.n + abs(v.m)), Term("999", lambda v: 0 * v.n + 999)
    wrong = Proof(
        "large",
        Step("statement", left, "<", right, ""),
        Domain({"n": Whole(0, 500), "m": Whole(-9, 9)}),
        (),
        "",
    )
    found = wrong.falsify(1000, rng=rng()).counterexample
    assert found is not None
    assert found.point == {"n": 32, "m": 0}
    assert str(found) == "n = 32, m = 0\n  statement: 1024 < 999 is false"


TIGHT = [
    "group-privacy-pure",
    "group-privacy-approx",
    "laplace-privacy",
    "histogram-replace",
    "basic-composition",
]
TIGHT += ["randomized-response", "exponential-privacy", "noisy-max-general", "private-lloyd", "pure-filter"]


TIGHT_STEPS = [(name, place) for name in TIGHT for place in range(len(BOOK[name].steps))]


@pytest.mark.parametrize(("name", "place"), TIGHT_STEPS)
def test_a_wrong_step_is_found(name: str, place: int) -> None:
    """Every line of these proofs is tight somewhere: make one right side smaller, and the search sees it."""
    proof = BOOK[name]
    step = proof.steps[place]
    smaller = Term(step.right.latex, lambda v: Fraction(19, 20) * step.right(v))
    wrong = replace(
        proof, steps=(*proof.steps[:place], replace(step, right=smaller), *proof.steps[place + 1 :])
    )
    found = wrong.falsify(300, rng=rng(2)).counterexample
    assert found is not None, step.name
    assert found.fails == (step.name,)
    assert any(step.name in fault for fault in wrong.chain().faults(batch(wrong, 50))) or step.lemma


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_so_weak_that_nothing_could_break_it(name: str) -> None:
    """With a twentieth of its right side every line falls: the domain reaches to where it matters."""
    proof = BOOK[name]
    seen = proof.domain.view(batch(proof, 50), exact=False)
    for line in proof.lines:
        part = 20 if line.relation in (">=", ">") else Fraction(1, 20)
        zero = not Bracket.of(line.sides(seen)[1]).upper.any()  # "at least 0" becomes "at least 1/1000"
        other = Term(
            "", lambda v, line=line, part=part, zero=zero: part * line.right(v) + Fraction(zero, 1000)
        )
        alone = Step("statement", line.left, line.relation, other, "", "changed")
        found = replace(proof, statement=alone, steps=()).falsify(1500, rng=rng(4)).counterexample
        assert found is not None, line.name


def test_links_that_do_not_meet_are_seen() -> None:
    proof = BOOK["group-privacy-pure"]
    points = batch(proof)
    assert proof.chain().faults(points) == []
    skipped = replace(proof, steps=tuple(s for s in proof.steps if s.name != "induction"))
    assert "last row to collect: the two sides differ" in skipped.chain().faults(points)
    assert "lemma claim for i is used nowhere" in skipped.chain().faults(points)
    turned = replace(proof, statement=replace(proof.statement, relation="="))
    assert any("do not give =" in fault for fault in turned.chain().faults(points))
    asserted = replace(proof, steps=())
    assert asserted.chain().faults(points) == ["there are no steps: the statement is only asserted"]


@given(st.integers(0, 2**32 - 1))
def test_the_links_alone_imply_the_statement(seed: int) -> None:
    """Where every link is certain, the statement must be: the chain really yields it."""
    for name in ("rdp-to-dp", "exponential-accuracy", "gaussian-privacy", "smooth-sensitivity-laplace"):
        proof = BOOK[name]
        outcomes = proof.outcomes(batch(proof, 50, seed))
        links = np.all([held for step, (held, _) in zip(proof.lines, outcomes, strict=True)][:-1], axis=0)
        assert not (links & outcomes[-1][1]).any()


# What people see ----------------------------------------------------------------------------------


def test_a_checked_proof_reads_the_same_everywhere() -> None:
    checked = BOOK["group-privacy-pure"].check(ratio=2, k=2, start=Fraction(1, 8), moves=(1,) * 6)
    assert str(checked) == repr(checked) == "\n".join([
        "group-privacy-pure at ratio = 2, k = 2, start = 1/8, moves = (1, 1, 1, 1, 1, 1)",
        "✓ neighbours   1/4 <= 1/4",
        "✓ claim for i  1/4 <= 1/4",
        "✓ last row     1/2 <= 1/2",
        "✓ induction    1/2 <= 1/2",
        "✓ collect      1/2 = 1/2",
        "✓ statement    1/2 <= 1/2",
    ])  # fmt: skip
    table = checked._repr_markdown_()
    assert (
        r"| ✓ last row | $\Pr[A(D_k)\in S] \le e^{\varepsilon}\Pr[A(D_{k-1})\in S]$ | $1/2 \le 1/2$ |"
        in table
    )
    assert len({line.count("|") for line in table.splitlines()[2:]}) == 1
    page = checked._repr_html_()
    assert page.count("<tr>") == 7
    assert ">group-privacy-pure at ratio = 2" in page
    assert "$D_{i}$ and $D_{{i-1}}$ differ" in page  # a reason, with its indices as mathematics
    assert "<script" not in page
    composed = BOOK["zcdp-composition"].check()._repr_html_()
    assert "here with $ρ_{i}$ = $ε_{i}^2$/2" in composed  # Greek, with an index and a power
    assert "≥ c^2 - ε" in BOOK["gaussian-privacy"].check()._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_every_proof_renders(name: str) -> None:
    proof = BOOK[name]
    checked = proof.check()
    table = checked._repr_markdown_().splitlines()[2:]
    assert len(table) == len(proof.lines) + 2
    assert {line.count("|") for line in table} == {5}
    assert all(line.count("$") % 2 == 0 for line in table)
    assert proof.statement.latex in str(proof)
    assert proof._repr_markdown_().count("$") % 2 == 0
    assert {row["outcome"] for row in json.loads(json.dumps(proof.data()))["rows"]} == {"held"}


def test_formulas_are_balanced() -> None:
    everything = [*BOOK.values(), *(p for e in proofs.errata().values() for p in (e.broken, e.sound))]
    for line in (line for proof in everything for line in proof.lines):
        assert line.latex.count("{") == line.latex.count("}"), line.latex
        assert "$" not in line.latex + line.because
        for small, large in ((r"\big(", r"\big)"), (r"\big[", r"\big]"), (r"\Big(", r"\Big)")):
            assert line.latex.count(small) == line.latex.count(large), line.latex


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_a_chain_meet(name: str) -> None:
    """Also where lines are "for all": each link shows the entry at which the one before it ended."""
    checked = BOOK[name].check()
    links = [row for row in checked.rows[:-1] if not row.step.lemma]
    ends = [checked.statement.left, *(side for row in links for side in (row.left, row.right))]
    ends.append(checked.statement.right)
    for one, two in zip(ends[::2], ends[1::2], strict=True):
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12)
    assert checked.statement.left != checked.statement.right or name in TIGHT_EXAMPLES


TIGHT_EXAMPLES = {
    "exhaustive-reconstruction",
    "guessing-bound",
    "randomized-response",
    "histogram-add-remove",
    "histogram-replace",
}


def test_pictures_can_set_every_formula() -> None:
    everything = [*BOOK.values(), *(p for e in proofs.errata().values() for p in (e.broken, e.sound))]
    for line in (line for proof in everything for line in proof.lines):
        for side in (line.left, line.right):
            assert isinstance(side, Term)
            assert mathtext(side.latex).startswith("$"), side.latex


def test_a_failing_line_is_marked() -> None:
    broken = BOOK["gaussian-privacy"].without("eps at most 1")
    checked = broken.check(epsilon=10.0, delta=1e-5)
    assert not checked.holds
    assert checked["small epsilon"].outcome is Outcome.VIOLATED
    assert "✗ statement" in str(checked)
    assert round(checked.statement.left[0], 7) == 2.27e-5


def test_the_step_that_loses_most_is_named() -> None:
    checked = BOOK["kl-lemma-constants"].check(ratio=2, kernel=((1, 0, 0), (0, 1, 0)))
    assert checked.loses_most is not None
    assert checked.loses_most.name == "square"
    assert checked.proof.data()["loses_most"] == "square"
    assert proofs.errata()["variance-saving"].broken.data()["loses_most"] is None


def test_the_book_is_a_table_in_a_notebook() -> None:
    lines = BOOK._repr_markdown_().splitlines()
    assert len(lines) == len(BOOK) + 2
    assert {line.count("|") for line in lines} == {5}
    assert "gaussian-privacy:" in repr(BOOK)


def test_pictures_of_a_proof() -> None:
    checked = BOOK["gaussian-privacy"].check()
    with mpl.rc_context({"backend": "agg"}):
        with figure(8, 4) as (_, ax):
            artists = proof_bars(ax, checked)
            assert len(artists) == 3 * len(checked.rows)
            assert ax.get_xscale() == "log"
            assert ax.get_yticklabels()[-1].get_text() == "✓ loss"
        with figure(8, 4) as (_, ax):
            proof_slack(ax, checked)
            texts = [t.get_text() for t in ax.texts]
            assert sum("(most)" in t for t in texts) == 1
            shares = [int(t.split("%")[0]) for t in texts]
            assert abs(sum(shares) - 100) <= len(shares)
        bare = proofs.errata()["gaussian-variance"].broken.check()
        with figure() as (_, ax), pytest.raises(BadInput, match="one whose steps form a chain"):
            proof_slack(ax, bare)


# Against the engine and other oracles -------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_divergences_agree_with_the_engine(seed: int) -> None:
    proof = BOOK["pure-to-zcdp"]
    seen = proof.domain.view(batch(proof, 3, seed))
    for i in range(3):
        p, q = (laws.Finite(("a", "b", "c"), tuple(law[i])) for law in (seen.p, seen.q))
        loss = PrivacyLoss.between(p, q)
        order = float(seen.order.lower[i])
        mine = proof.statement.left(seen)
        assert loss.renyi(order) == pytest.approx(float(mine.lower[i]), rel=1e-9, abs=1e-12)
        assert loss.max_divergence() <= float(seen.epsilon.upper[i]) + 1e-12


@given(st.floats(0.05, 4.0), st.floats(0.01, 6.0))
def test_the_gaussian_delta_agrees_with_the_engine(mu: float, epsilon: float) -> None:
    bracket = gaussian.gaussian_delta(Bracket.points([mu]), Bracket.points([epsilon]))
    low, high = PrivacyLoss.between(laws.Gaussian(0, 1), laws.Gaussian(mu, 1)).delta_bounds(epsilon)
    assert bracket.lower[0] <= high
    assert low <= bracket.upper[0]


@given(st.integers(1, 3000), st.floats(0.01, 2.0), st.floats(0.0, 1.0))
def test_many_rounds_agree_with_mpmath_and_the_engine(k: int, epsilon: float, part: float) -> None:
    total = part * k * epsilon
    mine = repeated.response_delta(np.array([k]), Bracket.points([epsilon]), Bracket.points([total]))
    low, high = (k * dp.RandomizedResponse(epsilon).loss(0, 1)).delta_bounds(total)
    assert mine.lower[0] <= high + 1e-15
    assert low - 1e-15 <= mine.upper[0]
    least = k // 2 + 1
    with mpmath.workdps(30):
        h = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        true = mpmath.betainc(least, k - least + 1, 0, h, regularized=True)
    tail = repeated.binomial_tail(
        np.array([k]), 1 / (1 + f.exp(Bracket.points([-epsilon]))), np.array([least])
    )
    assert tail.lower[0] <= true <= tail.upper[0]
    if true > 1e-250:  # a tenth of what the bracket allows for
        assert abs(tail.lower[0] / (1 - repeated.ALLOWANCE) - true) <= 1e-10 * true


@given(st.fractions(1, 3, max_denominator=8), st.integers(-6, 6), st.integers(-6, 6))
def test_above_threshold_has_the_right_probability(u: Fraction, a: int, b: int) -> None:
    if u == 1:
        return
    mine = sparse.answer_above(np.array([u], dtype=object), np.array([[a]]), np.array([[b]]))[0, 0]
    assert isinstance(mine, Fraction)
    rate = math.log(u)  # eps/4
    rho, nu = laws.Laplace(0, 1 / (2 * rate)), laws.Laplace(0, 1 / rate)
    from scipy.integrate import quad

    ends = sorted({a, max(a, 0), max(a, b)})
    pieces = zip(ends, [*ends[1:], ends[-1] + 60 / rate], strict=True)
    value = sum(
        quad(lambda z: np.exp(rho.log_prob(z)) * (1 - nu.cdf(z - b)), low, high, epsabs=1e-12)[0]
        for low, high in pieces
    )
    assert float(mine) == pytest.approx(value, abs=1e-8)


@given(st.integers(-20, 20), st.fractions(Fraction(9, 8), 4, max_denominator=8))
def test_tails_of_integer_laplace_noise(x: int, ratio: Fraction) -> None:
    mine = selection.upper_tail(np.array([ratio], dtype=object), np.array([[x]]))[0, 0]
    assert float(mine) == pytest.approx(1 - laws.Laplace(0, 1 / math.log(ratio)).cdf(x), rel=1e-9)


@pytest.mark.parametrize(("depth", "count"), [(3, 2), (2, 3), (1, 4)])
def test_trees_list_every_transcript_once(depth: int, count: int) -> None:
    nodes, answers = rounds.paths(depth, count)
    assert nodes[:, 0].tolist() == [0] * count**depth
    assert len({tuple(row) for row in answers}) == count**depth
    questions = (count**depth - 1) // (count - 1)
    assert {(n, a) for ns, as_ in zip(nodes, answers, strict=True) for n, a in zip(ns, as_, strict=True)} == {
        (n, a) for n in range(questions) for a in range(count)
    }


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.fractions(0, 1, max_denominator=9))
def test_a_stopping_adversary_sees_what_its_games_say(k: int, low: int, high: int, one: Fraction) -> None:
    """Game by game, against the table of the proof."""
    games: dict[tuple[int, int], Fraction] = {}
    for answers in np.ndindex(*(2,) * k):
        leads = np.cumsum(2 * np.array(answers) - 1)
        stops = [i + 1 for i, lead in enumerate(leads) if lead >= high or lead <= -low] or [k]
        end = stops[0], sum(answers[: stops[0]])
        chance = math.prod(one if a else 1 - one for a in answers)
        games[end] = games.get(end, Fraction(0)) + chance
    point = SimpleNamespace(**{name: np.array([x]) for name, x in (("k", k), ("low", low), ("high", high))})
    table = stopping.stopped(point, np.array([[1 - one, one]], dtype=object))[0]
    ends = [(i, j) for i in range(stopping.LONGEST + 1) for j in range(i + 1)]
    assert {end: chance for end, chance in zip(ends, table, strict=True) if end in games} == games
    assert sum(table) == 1


def test_group_privacy_of_the_engine_is_the_exact_sum() -> None:
    ratio = Fraction(math.exp(0.5))
    point = {"ratio": ratio, "start": 0, "delta": Fraction(1, 100), "moves": (1,) * 6}
    checked = BOOK["group-privacy-approx"].check(k=2, **point)
    assert checked.statement.left == checked.statement.right  # the chain p' = e^eps p + delta is tight
    assert checked.statement.right[0] == pytest.approx(0.0264872, abs=5e-8)
    assert checked.statement.right[0] == pytest.approx(dp.ApproxDP(0.5, 0.01).group(2).delta(1.0), rel=1e-9)
    at_5 = BOOK["group-privacy-approx-simple"].check(k=5, **point)
    assert round(at_5.statement.left[0], 4) == 0.1724
    assert round(at_5.statement.right[0], 4) == 0.3695


def test_numbers_of_the_lectures() -> None:
    kl = BOOK["kl-lemma-tanh"].check(ratio=Fraction(math.e), kernel=((1, 0, 0), (0, 1, 0)))
    assert round(kl.statement.left[0], 6) == round(kl.statement.right[0], 6) == 0.462117
    assert round(BOOK["laplace-accuracy"].check(k=10, beta=0.05).statement.left[0], 4) == 0.0489
    yes = BOOK["randomized-response"].check(truth=Fraction(1, 2))
    assert yes["epsilon"].left_text == "3/4"  # two fair coins: ln 3
    response = BOOK["advanced-composition-response"].domain.view(
        BOOK["advanced-composition-response"].domain.batch([{"epsilon": 0.1, "k": 100, "slack": 1e-6}])
    )
    assert round(float(response.total.upper[0]), 3) == 5.756
    noise_seen = (
        BOOK["histogram-add-remove"]
        .without("adjacency")
        .check(epsilon=1, centre=(5, 5, 5, 5), to=0, out_of=1, output=(4, 6, 5, 5))
    )
    assert noise_seen.statement.left_text == "2"
    assert noise.BINS == 4


def test_a_search_is_neither_true_nor_false():
    """`"refuted" if search else "stands"` would always say refuted."""
    found = proofs.book()["group-privacy-pure"].falsify(10, rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"ask search\.survived"):
        bool(found)
