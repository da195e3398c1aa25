"""The contract passes every sound mechanism of the zoo and rejects every broken one."""

from __future__ import annotations

import numpy as np
import pytest

import dpcourse as dp
from dpcourse import laws, zoo
from dpcourse.contract import RULES, Case, faults, total_mass


@pytest.mark.parametrize("case", zoo.sound(), ids=lambda case: case.name)
def test_sound_mechanisms_pass(case, rng):
    assert faults(case, rng) == []


# The rule by which each one must be found out: caught for its own fault, not for another.
CAUGHT_BY = {
    "one noise used twice": "samples",
    "sampler that draws less noise": "samples",
    "mass that does not add up": "mass",
}


@pytest.mark.parametrize("case", zoo.broken(), ids=lambda case: case.name)
def test_broken_mechanisms_are_rejected(case, rng):
    found = {fault.rule: fault.detail for fault in faults(case, rng)}
    assert CAUGHT_BY.get(case.name, "promise") in found, found
    assert "neighbours" not in found  # the pair is one that the claim speaks about


def test_zoo_covers_the_mistakes_that_matter():
    names = {case.name for case in zoo.broken()}
    assert {
        "no noise",
        "half the noise",
        "noise for add/remove, claim for replace-one",
        "one coin used twice",
        "choose among what occurs",
        "variance for standard deviation",
    } <= names


def test_a_loose_claim_called_tight_is_noticed(rng):
    case = Case("loose", dp.LaplaceMechanism(1.0), ((0, 0.5),), tight=True)
    assert [fault.rule for fault in faults(case, rng)] == ["tight"]


def test_a_pair_that_is_none_is_noticed(rng):
    case = Case("far", dp.LaplaceMechanism(1.0), ((0, 5),))
    assert {fault.rule for fault in faults(case, rng)} == {"neighbours", "promise"}


def test_a_mechanism_that_cannot_run_is_a_fault(rng):
    def law(data):
        raise ZeroDivisionError("no data")

    found = faults(Case("raises", dp.Custom(law, dp.PureDP(1)), (((), (0,)),)), rng)
    assert any("ZeroDivisionError: no data" in fault.detail for fault in found)


def test_false_alarms_are_rare():
    """Sound samplers pass under many seeds: the bound is one false alarm in a billion."""
    case = Case("Laplace", dp.Composed(dp.LaplaceMechanism(1.0), dp.LaplaceMechanism(1.0)), ((0, 1),))
    for seed in range(30):
        assert not list(RULES["samples"](case, np.random.default_rng(seed)))


def test_total_mass_sees_a_missing_part():
    law = laws.Mixture((0.5, 0.5), (laws.Gaussian(0, 1), laws.Gaussian(1, 1)))
    object.__setattr__(law, "weights", (0.5, 0.4))
    assert total_mass(law) == pytest.approx(0.9)
