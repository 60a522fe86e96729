"""Figures of the tail lab's leaf-spine network next to those of its source.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
section 2.4. It minimises p99 or the tail mean by a search of α; here the mean may rise by 3 %, as α near 0 shortens the
slowest flows and makes all others many times longer. α is found on flows of one seed; the gains are measured on others.
"""

import time
from collections.abc import Callable, Iterable

from lab.benchmarks.figures import comment, report
from sinemora.labs.tail_lab.core.fabric import Fabric, draw_fabric_flows, simulate_fabric
from sinemora.labs.tail_lab.core.policies import NATURAL, POLICIES_OF, PacketPolicy, TailTopology
from sinemora.labs.tail_lab.core.study import Study, StudyRequest, run
from sinemora.labs.tail_lab.core.summary import TailFigure, gain_percent
from sinemora.labs.tail_lab.core.workloads import WORKLOADS

EVALUATIONS = 12
"""Fewer than the 25 of the source, so that all searches take minutes; most of its gain comes within 20."""
MEAN_LOSS_MAX = 3.0
FLOWS = {"w1": 30_000, "w2": 30_000, "w3": 30_000, "w4": 8_000, "w5": 2_000}
SMALL = {"w1": (20, 76), "w2": (59.26, 74.07), "w3": (42.19, 68.75), "w4": (35, 41.67), "w5": (41, 43.33)}
"""Table 2.1: p99 of the smallest flows on DCTCP, blind and aware."""
_BLIND, _AWARE = PacketPolicy.DCTCP_D_TAIL_BLIND, PacketPolicy.DCTCP_D_TAIL_AWARE


def main(seed: int) -> None:
    """Print all figures."""
    speed(seed)
    comment("Fifteen searches follow, of up to a minute each.")
    dctcp(seed)
    pfabric(seed)
    homa(seed)


def speed(seed: int) -> None:
    """Report the transmissions per second of the slowest policy, and of all, best of three."""
    flows = draw_fabric_flows(WORKLOADS["w5"], Fabric(), 0.8, 300, seed)
    found = rates(POLICIES_OF[TailTopology.LEAF_SPINE], lambda policy: simulate_fabric(flows, policy, 1.5).hops)
    report("leaf_spine_hops_per_s", min(found.values()), **{name: round(rate / 1e6, 1) for name, rate in found.items()})


def rates(policies: Iterable[PacketPolicy], simulated: Callable[[PacketPolicy], int]) -> dict[str, float]:
    """Return what policies simulate in a second of processor time, best of three, by their names."""
    found = {}
    for policy in policies:
        took = []
        for _ in range(3):
            started = time.process_time()
            count = simulated(policy)
            took.append(time.process_time() - started)
        found[policy.value] = count / min(took)
    return found


def _study(key: str, policy: PacketPolicy, objective: TailFigure, seed: int) -> Study:
    request = StudyRequest(
        WORKLOADS[key], flows=FLOWS[key], seed=seed, policies=(policy,), objective=objective,
        mean_loss_max=MEAN_LOSS_MAX, evaluations=EVALUATIONS, fabric=Fabric(),
    )  # fmt: skip
    return run(request)


def _gains(study: Study, policy: PacketPolicy) -> dict[str, float]:
    """Return α and the gains in all figures, percent."""
    baseline, outcome = study.outcome(NATURAL[policy]), study.outcome(policy)
    if baseline is None or outcome is None or outcome.alpha is None:
        raise LookupError(policy)
    figures, others = outcome.summary.figures, baseline.summary.figures
    gains = {of.value: round(gain_percent(others.of(of), figures.of(of)), 1) for of in TailFigure}
    return {"alpha": round(outcome.alpha, 4), **gains}


def dctcp(seed: int) -> None:
    """Report p99 of all flows, the best workload, and of the smallest flows, the worst, blind and aware."""
    for place, (name, policy, best) in enumerate((("blind", _BLIND, 50.14), ("aware", _AWARE, 72.0))):
        found = {key: _gains(_study(key, policy, TailFigure.P99, seed), policy) for key in WORKLOADS}
        for key, gains in found.items():
            gains["source_small_p99"] = SMALL[key][place]
        p99 = max(gains["p99"] for gains in found.values())
        report(f"leaf_spine_dctcp_{name}_p99_gain_percent", p99, source=best, **found)
        small = min(gains["small_p99"] for gains in found.values())
        report(
            f"leaf_spine_dctcp_{name}_small_p99_gain_percent", small, source=min(row[place] for row in SMALL.values())
        )


def pfabric(seed: int) -> None:
    """Report the figures of W5, the best workload of the source."""
    aware, blind = PacketPolicy.PFABRIC_D_TAIL_AWARE, PacketPolicy.PFABRIC_D_TAIL_BLIND
    for name, policy, objective, source in (
        ("aware_p99", aware, TailFigure.P99, 29.66),
        ("aware_tail_mean", aware, TailFigure.TAIL_MEAN, 37),
        ("blind_tail_mean", blind, TailFigure.TAIL_MEAN, 20),
    ):
        gains = _gains(_study("w5", policy, objective, seed), policy)
        report(f"leaf_spine_pfabric_{name}_gain_percent", gains[objective.value], source=source, **gains)


def homa(seed: int) -> None:
    """Report p99 of W3 and W4, the workloads for which the source prints a gain."""
    for key, source, source_alpha, source_mean in (("w3", 15.3, 0.0014, 10.71), ("w4", 28.39, 0.03, 22.11)):
        policy = PacketPolicy.HOMA_D_TAIL_AWARE
        gains = _gains(_study(key, policy, TailFigure.P99, seed), policy)
        report(
            f"leaf_spine_homa_{key}_p99_gain_percent", gains["p99"], source=source, source_alpha=source_alpha,
            source_mean=source_mean, **gains,
        )  # fmt: skip
