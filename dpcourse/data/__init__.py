"""Data for the course: one real public table, and generators of any size that say they are generators.

>>> table = rand_health()
>>> len(table), table.dtype.names[:4]
(20190, ('person', 'year', 'site', 'age'))
"""

from dpcourse.data.generate import Clusters, baby_names, clusters, survey, visits
from dpcourse.data.rand_health import COLUMNS, rand_health

__all__ = ["COLUMNS", "Clusters", "baby_names", "clusters", "rand_health", "survey", "visits"]
