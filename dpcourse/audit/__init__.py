"""Audits: what samples certify about epsilon, and whether an attack proves a promise broken."""

from dpcourse.audit.bounds import LowerBound, delta_lower_bound, epsilon_lower_bound
from dpcourse.audit.confidence import advantage_interval, clopper_pearson, hockey_stick_interval, roc
from dpcourse.audit.events import Above, Below, Between, Box
from dpcourse.audit.verdicts import Arms, Verdict, break_it, certify
from dpcourse.audit.whitebox import Audit, audit

__all__ = [
    "Above",
    "Arms",
    "Audit",
    "Below",
    "Between",
    "Box",
    "LowerBound",
    "Verdict",
    "advantage_interval",
    "audit",
    "break_it",
    "certify",
    "clopper_pearson",
    "delta_lower_bound",
    "epsilon_lower_bound",
    "hockey_stick_interval",
    "roc",
]
