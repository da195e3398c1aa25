"""The argument checks: what they accept, and that each message names value, rule and fix."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpcourse import errors
from dpcourse.errors import BadInput


def test_good_values_come_back_ready_to_compute_with():
    assert errors.positive("x", 3) == 3.0
    assert errors.positive("x", Fraction(1, 3)) == Fraction(1, 3)
    np.testing.assert_array_equal(errors.positive("x", [1, 2]), [1.0, 2.0])
    assert errors.nonnegative("x", float("inf")) == float("inf")
    assert errors.delta("d", 0) == 0
    assert errors.probability("p", np.float64(1)) == 1
    assert errors.whole("k", np.int64(4)) == 4
    assert errors.one_of("c", "a", ("a", "b")) == "a"
    assert errors.numeric("v", [1, 2]).dtype == float


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (errors.positive, 0),
        (errors.positive, float("inf")),
        (errors.positive, "big"),
        (errors.positive, 10**400),
        (errors.nonnegative, 10**400),
        (errors.nonnegative, [10**400]),
        (errors.numeric, [10**400]),
        (errors.positive, [1, float("nan")]),
        (errors.nonnegative, -1e-9),
        (errors.delta, 1),
        (errors.delta, float("nan")),
        (errors.probability, 1.1),
        (errors.whole, 2.0),
        (errors.whole, True),
        (errors.whole, 0),
        (errors.numeric, None),
        (errors.numeric, [[1], [2, 3]]),
    ],
)
def test_every_message_names_value_rule_and_fix(check, value):
    with pytest.raises(BadInput) as caught:
        check("thing", value)
    message = str(caught.value)
    assert message.startswith("thing = ")
    assert " breaks a rule: it must be " in message
    assert " Fix: " in message
    assert isinstance(caught.value, ValueError)


def test_long_values_are_shortened():
    with pytest.raises(BadInput) as caught:
        errors.reject("data", "x" * 500, "short", "shorten it.")
    assert len(str(caught.value)) < 160
