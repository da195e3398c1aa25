"""Logarithms and exponentials that keep their digits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpcourse.errors import Floats


def log_ratio(a: Fraction, b: Fraction) -> float:
    """ln a/b to two ulps of itself, however near a and b are, and however small.

    >>> log_ratio(Fraction(1, 2) + Fraction(1, 10**30), Fraction(1, 2))
    2e-30
    """
    if not a or not b:
        return math.inf if a else -math.inf
    ratio = a / b
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    twos = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return math.log(float(ratio / Fraction(2) ** twos)) + twos * math.log(2)


def log_sum_exp(exponents: Any) -> Any:
    """ln of the sum of e^x along the last axis, for real or complex x, without overflow."""
    if not exponents.shape[-1]:
        return np.full(exponents.shape[:-1], -np.inf)[()]
    top = np.real(exponents).max(-1)
    return top + np.log(np.exp(exponents - np.asarray(top)[..., None]).sum(-1))


def log1p(x: Any) -> Any:
    """ln(1 + x) with the digits of x; numpy's own loses them for complex x."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    a, b = x.real, x.imag
    excess = a * (2 + a) + b * b  # |1 + x|^2 - 1
    small = np.log(np.maximum(np.hypot(1 + a, b), 1e-300))  # for 1 + x near 0
    return np.where(excess > -0.5, 0.5 * np.log1p(np.maximum(excess, -0.5)), small) + 1j * np.arctan2(
        b, 1 + a
    )


def expm1(x: Any) -> Any:
    """e^x - 1 with the digits of x, for real and complex x."""
    if not np.iscomplexobj(x):
        return np.expm1(x)
    grown = np.expm1(x.real)
    return grown + (1 + grown) * turned(x.imag)


def turned(angle: Floats) -> Any:
    """e^{i angle} - 1 = 2i sin(angle/2) e^{i angle/2}, with the digits of the angle."""
    half = np.exp(0.5j * angle)
    return 2j * half.imag * half
