"""Guarantees: a promise over all neighbouring pairs, with one set of verbs for every kind.

delta(eps)  epsilon(delta)   read the promise as (eps, delta)-DP
a + b       k * a            compose (adaptively; the parameters are fixed in advance)
group(size)                  what it promises to groups of neighbours
to(kind)                     the same promise in another currency; each conversion says what it loses
share(loss)                  how much of it the loss of one neighbouring pair uses up; above 1 it is broken
"""

from dpcourse.guarantees.base import Guarantee
from dpcourse.guarantees.conversions import dominating_loss
from dpcourse.guarantees.gaussian import GDP
from dpcourse.guarantees.pure_approx import ApproxDP, PureDP, group_delta, randomized_response_loss
from dpcourse.guarantees.renyi import RDP, ZCDP

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "Guarantee",
    "PureDP",
    "dominating_loss",
    "group_delta",
    "randomized_response_loss",
]
