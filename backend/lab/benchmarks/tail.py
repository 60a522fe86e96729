"""Figures of the tail lab and of the order of jobs, one JSON object each. `SEED=` selects others, `ONLY=` groups.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
chapter 2. α is found by search on flows of one seed; the gains are measured on others.
"""

import math
import os
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import sinemora_native

from lab.benchmarks import leaf_spine
from lab.benchmarks.figures import comment, finish, report, selected
from lab.benchmarks.leaf_spine import rates
from lab.benchmarks.queueing import served, simulated
from sinemora.labs.tail_lab.core.link import Chosen, Flows, Link, draw_flows, simulate
from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, POLICIES_OF, PacketPolicy, TailTopology
from sinemora.labs.tail_lab.core.search import AlphaEvaluation
from sinemora.labs.tail_lab.core.study import Study, StudyRequest, run
from sinemora.labs.tail_lab.core.summary import TailFigure, gain_percent
from sinemora.labs.tail_lab.core.workloads import WORKLOADS

LINK = Link()
EVALUATIONS = 25
MEAN_LOSS_MAX = 3.0
# (age in ns, bytes, α) -> age / bytes^α, by the equations of the source.
VECTORS = {
    (1e6, 1e5, 1.0): 10.0,
    (1e6, 1e5, 0.1): 316_227.7660168379,
    (1e6, 1e5, 2.0): 1e-4,
    (1e6, 1e5, 0.0): 1e6,
    (0.0, 0.0, 1.0): 1.0,
}
# Without the rule of first packets: what is known of sizes, α, and the policy whose order it is.
LIMITS = [
    ("sent", 0.0, PacketPolicy.FCFS),
    ("remaining", 0.0, PacketPolicy.FCFS),
    ("sent", ALPHA_MAX, PacketPolicy.LAS),
    ("remaining", ALPHA_MAX, PacketPolicy.SRPT),
]


def order_mismatches(seed: int) -> int:
    """Return wrong priorities, and flows that end at another time than under the policy of the limit."""
    wrong = 0
    for (age_ns, size, alpha), priority in VECTORS.items():
        wrong += abs(sinemora_native.log2_priority(age_ns, size, alpha) - math.log2(priority)) > 1e-9
    for workload in WORKLOADS.values():
        flows = draw_flows(workload, LINK, 0.8, 5_000, seed)
        for order, alpha, policy in LIMITS:
            limit = simulate(flows, Chosen(policy)).fct_s
            wrong += int((_finished(flows, order, alpha) != limit).sum())
    return wrong


def _finished(flows: Flows, order: str, alpha: float) -> npt.NDArray[np.float64]:
    chosen = SimpleNamespace(order=order, alpha=alpha, first_packet_rule=False, boundaries=[])
    finish_ps, *_ = sinemora_native.simulate_link(
        flows.arrivals_ps, flows.sizes, LINK.byte_ps, LINK.packet_bytes, chosen, False, None
    )
    return (finish_ps - flows.arrivals_ps) / 1e12


def gain(study: Study, policy: PacketPolicy, against: PacketPolicy, figure: TailFigure) -> float:
    """Return the gain of a policy on the flows that the search has not seen, percent."""
    baseline, outcome = study.outcome(against), study.outcome(policy)
    if baseline is None or outcome is None:
        raise LookupError(policy)
    return gain_percent(baseline.summary.figures.of(figure), outcome.summary.figures.of(figure))


def _found(best: AlphaEvaluation) -> dict[str, float]:
    return {"alpha": round(best.alpha, 3), "gain_of_search": round(best.gain, 1)}


def blind_gain(seed: int) -> None:
    """Report the tail mean of W5 against LAS, where the mean may rise by 3 % at most."""
    request = StudyRequest(
        WORKLOADS["w5"], flows=30_000, seed=seed, policies=(PacketPolicy.D_TAIL_BLIND,), objective=TailFigure.TAIL_MEAN,
        mean_loss_max=MEAN_LOSS_MAX, evaluations=EVALUATIONS,
    )  # fmt: skip
    study = run(request, lambda share, note: None)
    of = PacketPolicy.D_TAIL_BLIND, PacketPolicy.LAS
    report(
        "tail_w5_blind_tail_mean_gain_percent", gain(study, *of, TailFigure.TAIL_MEAN),
        **_found(study.searches[0].best), mean_gain=round(gain(study, *of, TailFigure.MEAN), 1), source=20,
    )  # fmt: skip


def sharing_gain(seed: int) -> None:
    """Report p99 against processor sharing on W4 and W5, the worse of both."""
    gains, detail = [], {}
    for key, flows in (("w4", 100_000), ("w5", 30_000)):
        request = StudyRequest(
            WORKLOADS[key], flows=flows, seed=seed, policies=(PacketPolicy.D_TAIL_AWARE, PacketPolicy.SRPT),
            objective=TailFigure.P99, against=PacketPolicy.PS, mean_loss_max=MEAN_LOSS_MAX, evaluations=EVALUATIONS,
        )  # fmt: skip
        study = run(request)
        gains.append(gain(study, PacketPolicy.D_TAIL_AWARE, PacketPolicy.PS, TailFigure.P99))
        srpt = gain(study, PacketPolicy.SRPT, PacketPolicy.PS, TailFigure.P99)
        detail[key] = {"gain": round(gains[-1], 1), "srpt": round(srpt, 1), **_found(study.searches[0].best)}
    report("tail_sharing_p99_gain_percent", min(gains), evaluations=EVALUATIONS, **detail)


def speed(seed: int) -> None:
    """Report the packets per second of the slower of both modes, and of all policies, best of three."""
    flows = draw_flows(WORKLOADS["w5"], LINK, 0.8, 10_000, seed)
    found = rates(POLICIES_OF[TailTopology.SINGLE_LINK], lambda policy: simulate(flows, Chosen(policy, 1.5)).packets)
    slower = min(found[PacketPolicy.D_TAIL_BLIND.value], found[PacketPolicy.D_TAIL_AWARE.value])
    report("tail_packets_per_s", slower, **{name: round(rate / 1e6, 1) for name, rate in found.items()})


def packets(seed: int) -> None:
    """Print the figures of packets at a link."""
    report("tail_order_mismatches", order_mismatches(seed), flows=5_000 * len(WORKLOADS) * len(LIMITS))
    speed(seed)
    comment("Two searches follow, of a minute or two each.")
    blind_gain(seed)
    sharing_gain(seed)


def queue(seed: int) -> None:
    """Print the figures of jobs at a worker."""
    simulated.main(seed)
    served.main(seed)


GROUPS = {"packets": packets, "leaf_spine": leaf_spine.main, "queue": queue}


if __name__ == "__main__":
    for name in selected(GROUPS):
        GROUPS[name](int(os.environ.get("SEED") or "1"))
    finish()
