"""Attacks: what goes wrong without differential privacy, each next to the exact number.

- `linkage`, `anonymity`: names from harmless columns; k-anonymity and the homogeneity attack
- `differencing`, `averaging`, `auditing`: two large sets, repeated questions, refusals
- `exhaustive`, `linear`, `phase`: reconstruction of secret bits from noisy counts
- `membership`: who is in the study, from its means
- `floating_point`: the true answer, from the low bits of a noisy one
- `dalenius`: why "nothing learned about anybody" cannot be promised

An attack on counts receives `answer(mask) -> number`; `oracles` has some that answer.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> oracle = Bounded(PICTURE.ravel(), error=2, rng=rng)
>>> interrogate(oracle, n=64, queries=256, rng=rng).recovered(PICTURE.ravel())
1.0
"""

from dpcourse.attacks.anonymity import Homogeneity, anonymity, bands, generalise, hide, homogeneity, prefix
from dpcourse.attacks.auditing import REFUSED, Conversations, Transcript, converse
from dpcourse.attacks.averaging import Averaged, average, error_probability, queries_needed, tail_of_sum
from dpcourse.attacks.dalenius import Disclosure, disclosure, guessing
from dpcourse.attacks.differencing import Difference, difference
from dpcourse.attacks.exhaustive import Survivors, confusing, consistent, exhaust, subsets
from dpcourse.attacks.floating_point import Decided, TextbookLaplace, addable, decide, rounding_rate
from dpcourse.attacks.linear import Reconstruction, interrogate, random_subsets, reconstruct
from dpcourse.attacks.linkage import Linkage, class_sizes, expected_uniqueness, link, uniqueness
from dpcourse.attacks.membership import ReleasedMeans, roc
from dpcourse.attacks.oracles import Bounded, Exact, Private, Rounding, ask
from dpcourse.attacks.phase import PICTURE, PhaseCurve, expected_recovery, phase_curve, recoverable

__all__ = [
    "PICTURE",
    "REFUSED",
    "Averaged",
    "Bounded",
    "Conversations",
    "Decided",
    "Difference",
    "Disclosure",
    "Exact",
    "Homogeneity",
    "Linkage",
    "PhaseCurve",
    "Private",
    "Reconstruction",
    "ReleasedMeans",
    "Rounding",
    "Survivors",
    "TextbookLaplace",
    "Transcript",
    "addable",
    "anonymity",
    "ask",
    "average",
    "bands",
    "class_sizes",
    "confusing",
    "consistent",
    "converse",
    "decide",
    "difference",
    "disclosure",
    "error_probability",
    "exhaust",
    "expected_recovery",
    "expected_uniqueness",
    "generalise",
    "guessing",
    "hide",
    "homogeneity",
    "interrogate",
    "link",
    "phase_curve",
    "prefix",
    "queries_needed",
    "random_subsets",
    "reconstruct",
    "recoverable",
    "roc",
    "rounding_rate",
    "subsets",
    "tail_of_sum",
    "uniqueness",
]
