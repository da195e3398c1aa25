"""Private k-means: Lloyd's algorithm that sees its points only through noisy counts and sums.

>>> import numpy as np
>>> from dpcourse import data
>>> from dpcourse.guarantees import ZCDP
>>> points = data.clusters(10_000, k=3, dim=2, rng=np.random.default_rng(0)).points
>>> kmeans = PrivateKMeans(k=3, ball=Ball(2), budget=ZCDP(0.1), rounds=5)
>>> trace = kmeans.run(points, np.random.default_rng(1))
>>> trace.path.shape  # start and five rounds, three centres, two dimensions
(6, 3, 2)
>>> trace.guarantee.epsilon(1e-6) < kmeans.budget.epsilon(1e-6)
True
"""

from dpcourse.algorithms.kmeans.ball import Ball
from dpcourse.algorithms.kmeans.exact import assign, cost, lloyd, spread
from dpcourse.algorithms.kmeans.private import PrivateKMeans, Round, Trace, rounds_for
from dpcourse.algorithms.kmeans.release import LloydRound, best_share, noises
from dpcourse.algorithms.kmeans.update import recentre

__all__ = [
    "Ball",
    "LloydRound",
    "PrivateKMeans",
    "Round",
    "Trace",
    "assign",
    "best_share",
    "cost",
    "lloyd",
    "noises",
    "recentre",
    "rounds_for",
    "spread",
]
