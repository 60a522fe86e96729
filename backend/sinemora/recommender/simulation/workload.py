"""Jobs of a cluster: sizes with the statistics of the Google trace of 2011, curves in the source's shares."""

import numpy as np

from sinemora.recommender.curves.library import published
from sinemora.recommender.curves.table import CurveTable, tabulate
from sinemora.recommender.placement.problem import Ints

CURVES = ("memcached-server", "strads-lasso", "tensorflow-mnist")
SHARES = (0.5, 0.25, 0.25)
# Sizes of the jobs of more than one task that run when the trace starts: 1,616 jobs, 130,622 tasks, root included.
_QUANTILES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.9994, 1.0)
_SIZES = (2.0, 5.0, 30.0, 123.0, 300.0, 1_178.0, 4_600.0, 20_010.0)
TRACE_JOBS = 1_616


def curves() -> CurveTable:
    """The source's three applications: Memcached, STRADS, TensorFlow."""
    return tabulate([published(key).curve for key in CURVES])


def sizes(jobs: int, rng: np.random.Generator) -> Ints:
    """Tasks of each job, root included: at least 2, median 5, one in a hundred above 1,178."""
    drawn = np.exp(np.interp((rng.permutation(jobs) + rng.random(jobs)) / jobs, _QUANTILES, np.log(_SIZES)))
    return np.rint(drawn).astype(np.int64)


def kinds(jobs: int, rng: np.random.Generator) -> Ints:
    """Curve of each job, half of them Memcached."""
    return rng.choice(len(CURVES), jobs, p=SHARES)
