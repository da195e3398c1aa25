"""How much Gaussian noise (epsilon, delta)-DP needs: the exact answer and the textbooks'."""

from __future__ import annotations

import math

from dpcourse.errors import delta as check_delta
from dpcourse.errors import one_of, positive, reject
from dpcourse.loss import GaussianLoss


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1, rule: str = "analytic") -> float:
    """The standard deviation that makes Gaussian noise (epsilon, delta)-DP.

    "analytic": the smallest one, rounded up (Balle and Wang, ICML 2018), for every epsilon.
    "classic": sqrt(2 ln(1.25/delta)) sensitivity/epsilon, which is proved for epsilon < 1 only
    (Dwork and Roth 2014, Theorem A.1) and false from about epsilon = 8 on.

    >>> round(gaussian_sigma(1, 1e-5), 4), round(gaussian_sigma(0.99, 1e-5, rule="classic"), 4)
    (3.7306, 4.8937)
    """
    positive("epsilon", epsilon)
    positive("sensitivity", sensitivity)
    one_of("rule", rule, ("analytic", "classic"))
    check_delta("delta", delta)
    if delta == 0:
        reject("delta", delta, "above 0 for Gaussian noise", "use LaplaceMechanism for delta = 0.")
    if rule == "classic":
        if epsilon >= 1:
            reject("epsilon", epsilon, 'below 1 for rule "classic"', 'use rule="analytic".')
        return classic_sigma(epsilon, delta, sensitivity)
    low, high = 0.0, 1.0  # bounds on mu = sensitivity/sigma; delta(epsilon) grows with mu
    while GaussianLoss(high).delta(epsilon) <= delta:
        low, high = high, 2 * high
    while high - low > 1e-16 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if GaussianLoss(middle).delta(epsilon) <= delta:
            low = middle
        else:
            high = middle
    return math.nextafter(sensitivity / low, math.inf)


def classic_sigma(epsilon: float, delta: float, sensitivity: float = 1, constant: float = 1.25) -> float:
    """sqrt(2 ln(constant/delta)) sensitivity/epsilon for any epsilon, to see where it fails."""
    return math.sqrt(2 * math.log(constant / delta)) * sensitivity / epsilon


def classic_failure(delta: float, constant: float = 1.25) -> float:
    """The epsilon up to which `classic_sigma` keeps its promise: its exact delta grows with epsilon.

    >>> [round(classic_failure(1e-5, constant), 2) for constant in (2.0, 1.25, 1.0)]
    [9.39, 8.42, 7.97]
    """
    low, high = 0.0, 1e3
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        kept = GaussianLoss(1 / classic_sigma(middle, delta, constant=constant)).delta(middle) <= delta
        low, high = (middle, high) if kept else (low, middle)
    return low
