"""Cost of a pair from its whole latency distribution.

Any risk of 1 / p of a single pair keeps the problem a flow: the mean, a quantile, or the mean of the tail (CVaR). The
published policy takes the maximum over paths, which a single outlier determines.
"""

import numpy as np

from sinemora.recommendations.placement.costs import CostTable
from sinemora.recommendations.placement.problem import Ints, Risk, Shares

TAIL = 0.05
"""Share of the distribution in CVaR."""


def pair_costs(shares: Shares, table: CostTable, risk: Risk) -> Ints:
    """Return cost points of each machine from shares of steps, shape (machines,). Costs rise with the step."""
    if risk is Risk.mean:
        return np.rint(shares @ table).astype(np.int64)
    reach = np.cumsum(shares, axis=1)
    if risk is Risk.p99:
        # Rounding must not push the quantile past the last step that has anything in it.
        quantiles: Ints = table[np.argmax(reach >= 0.99 - 1e-12, axis=1)].astype(np.int64)
        return quantiles
    below = np.clip(reach - (1.0 - TAIL), 0.0, None)
    tail = np.diff(below, axis=1, prepend=0.0)
    return np.rint(tail @ table / TAIL).astype(np.int64)
