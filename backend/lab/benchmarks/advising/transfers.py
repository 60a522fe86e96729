"""Figures of the transfer planner: a sort on a star, two racks and four racks, planned and under fair sharing.

Partitions of a sort are unequal when its keys are: reducers get log-normal volumes. With equal partitions the plan and
fair sharing are the same.
"""

import numpy as np

from lab.benchmarks.figures import report
from sinemora.advisors.transfers.core.plan import Transfers, bound, plan
from sinemora.advisors.transfers.core.presets import RACKS, WORKERS, preset_network, shuffle
from sinemora.advisors.transfers.core.simulate import finish_s

SPREAD = 0.8
"""Standard deviation of the logarithm of a reducer's volume."""
SIZES_GB = (2, 10, 20)


def outcome(kind: str, transfers: Transfers) -> tuple[float, float, float]:
    """Return bound, finish of the plan and finish under fair sharing, s."""
    network = preset_network(kind)
    bound_s, _ = bound(network, transfers)
    planned = plan(network, transfers)
    fair = finish_s(network, transfers, np.ones(len(transfers)))
    return bound_s, float(finish_s(network, transfers, planned.connections).max()), float(fair.max())


def main(seed: int) -> None:
    """Print the figures."""
    rng = np.random.default_rng(seed)
    worst, early = 0.0, 0
    gaps: dict[str, float] = {}
    for kind in RACKS:
        gains = []
        for size_gb in SIZES_GB:
            for reducers in (np.ones(WORKERS), np.exp(SPREAD * rng.standard_normal(WORKERS))):
                bound_s, planned_s, fair_s = outcome(kind, shuffle(1e9 * size_gb, reducers))
                early += planned_s < bound_s * (1 - 1e-9)
                gap = 100 * (planned_s / bound_s - 1)
                gaps[kind] = max(gap, gaps.get(kind, 0.0))
                worst = max(worst, gap)
                if reducers.std() > 0:
                    gains.append(100 * (1 - planned_s / fair_s))
        report(f"transfer_gain_over_fair_percent_{kind}", float(np.mean(gains)), spread=SPREAD)
    report("transfer_bound_gap_percent", worst, by_network=gaps, below_bound=early)
