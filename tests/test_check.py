"""Checks: what a student sees, what is judged exactly, and that evidence travels as plain data."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput, PureDP, RandomizedResponse, check, expect, laws
from dpcourse.neighbours import REPLACE_ONE
from dpcourse.workbook import NotYet, checking
from dpcourse.workbook.evidence import Strange, decode, encode, same

EPSILON = expect.Real(0.1, 2)


@pytest.fixture(autouse=True)
def fresh_tries() -> None:
    checking._tries.clear()


def complaint(*args: Any, **options: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check("it", *args, **options)
    return str(caught.value)


# -- What a student sees ----------------------------------------------------------------------------


def test_a_right_answer_gets_one_green_line(capsys: pytest.CaptureFixture[str]) -> None:
    check("it", lambda x: 2 * x, expect.values(lambda x: x + x, x=EPSILON))
    assert capsys.readouterr().out == "✓ it: right, on 100 fresh inputs\n"
    assert "color:#009E73" in checking.Right("a < b")._repr_html_()
    assert "a &lt; b" in checking.Right("a < b")._repr_html_()


def test_a_wrong_answer_is_shown_with_the_simplest_input_found() -> None:
    wanted = expect.values(lambda x, n: x + n, x=EPSILON, n=expect.Whole(0, 1000))

    def add(x: float, n: int) -> float:
        return x + n if n < 700 else x

    lines = complaint(add, wanted).splitlines()
    assert lines[0] == "✗ it: not yet"
    assert lines[1].startswith("  add(x=0.1, n=7")  # shrunk from 1000 towards 700, and x to one digit
    assert lines[2:] == ["    found  0.1", f"    asked  {lines[1][:-1].partition('n=')[2]}.1"]


def test_hints_grow_with_each_try_and_start_again_after_success() -> None:
    wanted = expect.values(lambda x: x, x=EPSILON)

    def said() -> list[str]:
        return [
            s.strip() for s in complaint(lambda x: -x, wanted, hints=["a", "b"]).splitlines() if "Hint" in s
        ]

    assert said() == []
    assert said() == ["Hint 1 of 2: a"]
    assert said() == ["Hint 1 of 2: a", "Hint 2 of 2: b"]
    assert len(said()) == 2
    check("it", lambda x: x, wanted)
    assert said() == []


def test_the_traceback_is_the_message_and_nothing_else() -> None:
    lines = NotYet("✗ it: not yet\n    found  1")._render_traceback_()
    assert lines == ["\x1b[1;31m✗ it: not yet\x1b[0m", "    found  1"]


def test_a_stub_is_not_answered_yet() -> None:
    def stub(x: float) -> float:
        raise NotImplementedError("Add them.")

    assert complaint(stub, expect.values(lambda x: x, x=EPSILON)) == "○ Not answered yet. Add them."


def test_an_error_in_the_answer_is_shown_kindly() -> None:
    space: dict[str, Any] = {}
    exec(compile("def f(x):\n    return 1 / 0", "<cell>", "exec"), space)
    said = complaint(space["f"], expect.values(lambda x: x, x=EPSILON))
    assert "found  ZeroDivisionError: division by zero" in said
    assert "asked  an answer without an error" in said


def test_what_the_library_does_may_be_asked_of_the_student() -> None:
    cell: dict[str, Any] = {"math": math, "__name__": "__main__"}
    exec("def helper(x): return math.tanh(x)\ndef borrowed(x): return [helper(y) for y in (x,)][0]", cell)
    wanted = expect.values(math.tanh, x=EPSILON)
    assert "found  a call of tanh" in complaint(cell["borrowed"], wanted, without=["tanh"])
    check("it", lambda x: 1 - 2 / (math.exp(2 * x) + 1), wanted, without=["tanh"])


def test_what_is_forbidden_is_the_thing_and_not_its_name() -> None:
    cell: dict[str, Any] = {"tanh": math.tanh, "shrink": math.tanh, "__name__": "__main__"}
    exec("def f(x): return shrink(x)", cell)
    wanted = expect.values(math.tanh, x=EPSILON)
    assert "found  a call of tanh" in complaint(cell["f"], wanted, without=["tanh"])
    own: dict[str, Any] = {"math": math, "__name__": "__main__"}
    exec("def tanh(x): return 1 - 2 / (math.exp(2 * x) + 1)\ndef f(x): return tanh(x)", own)
    check("it", own["f"], wanted, without=["tanh"])


def test_data_may_have_the_name_of_what_is_forbidden() -> None:
    wanted = expect.values(math.tanh, x=EPSILON)
    cell: dict[str, Any] = {"math": math, "tanh": {"tanh": 2}, "__name__": "__main__"}
    exec("def f(x): return 1 - tanh['tanh'] / (math.exp(2 * x) + 1)", cell)
    check("it", cell["f"], wanted, without=["tanh"])
    exec("def f(x): return math.tanh(x) * tanh['tanh'] / 2", cell)  # the same name after a dot
    assert "found  a call of tanh" in complaint(cell["f"], wanted, without=["tanh"])


@pytest.mark.parametrize(
    "line", ["import dpcourse as it", "from dpcourse import laws as it", "from dpcourse import PureDP as it"]
)
def test_all_of_the_library_may_be_forbidden(line: str) -> None:
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(f"{line}\ndef f(x): return x * bool(it)", cell)
    wanted = expect.values(lambda x: x, x=EPSILON)
    check("it", cell["f"], wanted)
    assert "found  a call of dpcourse" in complaint(cell["f"], wanted, without=["dpcourse"])
    exec("def f(x): return x", cell)
    check("it", cell["f"], wanted, without=["dpcourse"])


def test_an_unnamed_question_is_reported_by_its_inputs_alone() -> None:
    said = complaint(lambda n: n, expect.values(lambda n: n + 1, n=expect.Whole(0, 9)))
    assert said.splitlines()[1] == "  n=0"


def test_a_check_that_expects_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="say what is expected"):
        check("it", 1)


# -- What is judged ---------------------------------------------------------------------------------


def test_inputs_are_fresh_each_time() -> None:
    wanted = expect.values(lambda x: x, x=EPSILON)
    seen = [wanted.points(np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert seen[0] == seen[1] != seen[2]
    assert len(seen[0]) == expect.INPUTS


def test_values_are_exact_where_they_can_be() -> None:
    halves = expect.values(lambda x: x / 2, x=expect.Rational(0, 1))
    check("it", lambda x: x / 2, halves)
    assert "found" in complaint(lambda x: x / 2 + Fraction(1, 10**30), halves)
    count = expect.values(lambda n: n, n=expect.Whole(0, 9))
    assert "found" in complaint(lambda n: n + 1e-7, count)
    assert "found  True" in complaint(lambda n: True, count)


def rr(epsilon: float) -> Any:
    return lambda bit: RandomizedResponse(epsilon).law(bit)


PAIRS = ((0, 1),)


def wanted_private(tight: bool = True) -> expect.Expectation:
    def promise(epsilon: float) -> PureDP:
        return PureDP(epsilon, adjacency=REPLACE_ONE)

    return expect.private(promise, lambda epsilon: PAIRS, tight, epsilon=EPSILON)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (lambda e: rr(1.001 * e), "0 against 1 takes 1.001 times that"),
        (lambda e: lambda bit: laws.Finite((bit,), (1.0,)), "takes inf times that"),
        (lambda e: lambda bit: laws.Finite((0, 1), (0.5, 0.5)), "no more noise than"),
        (lambda e: lambda bit: 0.5, "a law for each data set, such as dp.laws.Laplace(0, 1), and not 0.5"),
    ],
    ids=["a little too much", "no noise", "no use", "no law"],
)
def test_privacy_is_judged_by_the_exact_divergence(answer: Any, asked: str) -> None:
    check("it", rr, wanted_private())
    check("it", RandomizedResponse, wanted_private())  # a mechanism is as good as a function
    assert asked in complaint(answer, wanted_private())


@pytest.mark.parametrize("answer", [math.nan, (1.0, math.nan), {"a": [math.nan]}, np.array([0.5, np.nan])])
def test_nan_passes_no_rule(answer: Any) -> None:
    """A rule that looks for numbers that are too large or too small finds none."""
    assert "nan is none" in complaint(answer, expect.that(lambda found: found != "too large", "a number"))
    check("it", math.inf, expect.that(lambda found: found > 1, "a number"))


def test_noise_must_be_about_the_data() -> None:
    """Otherwise the noisy answer to another question, or a tenth of the answer, would do."""

    def around(centre: Any, scale: float = 1.0) -> Any:
        return lambda epsilon: lambda n: laws.Laplace(centre(n), scale / epsilon)

    wanted = expect.private(
        PureDP, lambda epsilon: [(2, 3)], centre=lambda n, epsilon: float(n), epsilon=EPSILON
    )
    check("it", around(float), wanted)
    assert "noise around [2], for the data 2" in complaint(around(lambda n: n / 10, 0.1), wanted)
    assert "noise around [2], for the data 2" in complaint(around(lambda n: n - 2.0), wanted)
    assert "one law, not an array of laws" in complaint(around(lambda n: [float(n)]), wanted)


def test_less_privacy_than_asked_is_refused_and_more_is_allowed_if_not_tight() -> None:
    check("it", lambda e: rr(e / 2), wanted_private(tight=False))
    assert "uses 0.5 of it" in complaint(lambda e: rr(e / 2), wanted_private())


def test_samplers_are_run_over_all_their_coins() -> None:
    wanted = expect.sampler(lambda n: laws.Finite(range(n), (Fraction(1, n),) * n), n=expect.Whole(2, 6))
    check("it", lambda coins, n: coins.integer(n), wanted)
    said = complaint(lambda coins, n: coins.integer(n) if coins.flip() else 0, wanted)
    assert "asked  the law Finite(0: 1/2, 1: 1/2)" in said
    assert "found  Finite(0: 3/4, 1: 1/4)" in said
    nearly = complaint(lambda c, n: c.integer(n) if c.flip(1 - Fraction(1, 10**7)) else 0, wanted)
    assert "asked" in nearly  # one in ten million off: no number of samples would show it


def test_a_rule_can_say_what_is_wrong() -> None:
    even = expect.that(lambda n: n % 2 == 0 or f"an even number, and {n} is odd", "a number")
    check("it", 4, even)
    assert "asked  an even number, and 3 is odd" in complaint(3, even)
    assert complaint(object, even).endswith("asked  a number")
    assert complaint(5, expect.that(lambda n: n < 5, "a number below 5")).endswith("asked  a number below 5")
    assert complaint(0, expect.that(lambda n: 1 / n > 1, "a share")).endswith("asked  a share")
    for strange in (None, "five", (1, 2)):  # what the rule cannot read is not what was asked
        assert complaint(strange, expect.that(lambda n: n < 5, "a number below 5")).endswith("below 5")


# -- Evidence ---------------------------------------------------------------------------------------

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.fractions()
nested = st.recursive(plain, lambda x: st.lists(x) | st.tuples(x, x) | st.dictionaries(st.text(), x))


@given(nested)
def test_evidence_survives_json(value: Any) -> None:
    travelled = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert repr(travelled) == repr(value)
    assert same(travelled, value)


@pytest.mark.parametrize(
    "law",
    [
        laws.Finite(("a", (1, 2)), (Fraction(1, 3), Fraction(2, 3))),
        laws.Laplace(1.5, 2.0),
        laws.Gaussian(0.0, 3.0),
        laws.DiscreteLaplace(3, 2.0),
        laws.Product(laws.Laplace(0.0, 1.0), laws.Gaussian(1.0, 2.0)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_laws_travel_whole(law: laws.Law) -> None:
    travelled = decode(json.loads(json.dumps(encode(law))))
    assert repr(travelled) == repr(law)
    assert same(travelled, law)


def test_strange_values_are_shown_and_never_rebuilt() -> None:
    class Liar:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None

        def __repr__(self) -> str:
            return "anything you like"

    travelled = decode(json.loads(json.dumps(encode(Liar()))))
    assert travelled == Strange("Liar", "anything you like")
    assert not same(travelled, 3.0)
    assert "anything you like (a Liar)" in complaint(lambda x: Liar(), expect.values(lambda x: x, x=EPSILON))


@pytest.mark.parametrize(
    ("found", "asked", "equal"),
    [
        (1, True, False), (True, 1, False), (np.bool_(True), True, True), (np.float64(0.1), 0.1, True),
        (0.1 + 0.2, 0.3, True), (0.3001, 0.3, False), (math.inf, math.inf, True), (math.nan, math.nan, False),
        (Fraction(1, 3), Fraction(1, 3), True), (1 / 3, Fraction(1, 3), True), ("a", "a", True),
        (1, "1", False),
        ([1, 2], (1, 2), True), ([1], [1, 2], False), (np.array([1.0]), [1.0], True), (None, None, True),
        ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"b": 1}, False), (0.0, 1e-20, False), (3, None, False),
        (laws.Laplace(0.0, 1.0), laws.Laplace(0.0, 1.0), True),
        (laws.Laplace(0.0, 1.0), laws.Laplace(0.0, 1.001), False),
        (laws.Laplace(0.0, 1.0), laws.Finite((0,), (1,)), False),
        (0.5, laws.Laplace(0.0, 1.0), False),
    ],
)  # fmt: skip
def test_what_counts_as_the_same(found: Any, asked: Any, equal: bool) -> None:
    assert same(found, asked) is equal
