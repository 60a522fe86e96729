"""The leaf-spine network of the tail lab: traffic, classes, and what every policy does with it."""

import dataclasses

import numpy as np
import pytest

from sinemora.labs.tail_lab.core.fabric import (
    Fabric,
    FabricFlows,
    draw_fabric_flows,
    has_classes,
    homa_classes,
    simulate_fabric,
)
from sinemora.labs.tail_lab.core.policies import POLICIES_OF, TUNABLE, PacketPolicy, TailTopology
from sinemora.labs.tail_lab.core.study import StudyRequest, run
from sinemora.labs.tail_lab.core.summary import figures_of
from sinemora.labs.tail_lab.core.workloads import WORKLOADS

FABRIC = Fabric()
POLICIES = POLICIES_OF[TailTopology.LEAF_SPINE]


def drawn(key: str, count: int, seed: int = 1) -> FabricFlows:
    return draw_fabric_flows(WORKLOADS[key], FABRIC, 0.8, count, seed)


def alone(sizes: list[int]) -> FabricFlows:
    """Flows that never meet."""
    count = len(sizes)
    arrivals = np.arange(count, dtype=np.int64) * 10**12
    hosts = np.zeros(count, np.int64)
    return FabricFlows(FABRIC, arrivals, np.array(sizes, np.int64), hosts, hosts + 143, 1)


def test_traffic_goes_to_other_racks_evenly_at_the_load() -> None:
    flows = drawn("w4", 200_000)
    assert (flows.sources // 16 != flows.destinations // 16).all()
    for hosts in (flows.sources, flows.destinations):
        counts = np.bincount(hosts, minlength=144)
        assert counts.size == 144
        assert counts == pytest.approx(np.full(144, 200_000 / 144), rel=0.15)
    assert flows.load == pytest.approx(0.8, rel=0.05)
    again, other = drawn("w4", 200_000), drawn("w4", 200_000, seed=2)
    assert np.array_equal(flows.destinations, again.destinations)
    assert not np.array_equal(flows.destinations, other.destinations)


@pytest.mark.parametrize("policy", [PacketPolicy.PFABRIC, PacketPolicy.DCTCP, PacketPolicy.HOMA])
def test_a_flow_alone_takes_its_ideal_time_while_it_needs_no_answer(policy: PacketPolicy) -> None:
    # 1,500 B: 1.2 µs at 10 Gbit/s, twice, 0.3 µs at 40 Gbit/s, twice, 0.22 µs of propagation.
    sizes = [1_460, 1, 700, 1_461, 2_000, 2_920, 7_000, 7 * 1_460]
    flows = alone(sizes)
    simulated = simulate_fabric(flows, policy)
    assert simulated.fct_s == pytest.approx(flows.ideal_s, rel=1e-12)
    assert simulated.fct_s[0] == pytest.approx(3.22e-6)
    assert simulated.dropped == simulated.duplicates == simulated.marked == 0


def test_every_policy_sends_everything_and_none_beats_the_empty_network() -> None:
    for key in ("w1", "w4"):
        flows = drawn(key, 600)
        packets = int((-(-flows.sizes // FABRIC.packet_bytes)).sum())
        for policy in POLICIES:
            simulated = simulate_fabric(flows, policy, 1.5)
            assert simulated.packets == packets, policy
            assert (simulated.fct_s >= flows.ideal_s * (1 - 1e-12)).all(), policy
            assert (simulate_fabric(flows, policy, 1.5).fct_s == simulated.fct_s).all(), policy
            assert sum(simulated.class_shares) == pytest.approx(1)
            assert len(simulated.class_shares) == (8 if has_classes(policy) else 1), policy


@pytest.mark.parametrize("key", list(WORKLOADS))
def test_homa_splits_its_classes_by_the_bytes_that_need_no_grant(key: str) -> None:
    flows = drawn(key, 20_000)
    scheduled, cutoffs = homa_classes(flows)
    assert scheduled + len(cutoffs) + 1 == 8
    assert cutoffs == sorted(cutoffs)
    first = np.minimum(flows.sizes, 7 * 1_460)
    share = float(first.sum() / flows.sizes.sum())
    assert len(cutoffs) + 1 == min(max(round(8 * share), 1), 7)
    carried = np.bincount(np.searchsorted(cutoffs, flows.sizes), first, len(cutoffs) + 1) / first.sum()
    # One size is in one class, so that classes of many equal sizes carry more.
    most_of_one_size = max(first[flows.sizes == size].sum() for size in cutoffs) / first.sum() if cutoffs else 0
    assert carried == pytest.approx(np.full(len(carried), 1 / len(carried)), abs=most_of_one_size + 0.01)


def test_traffic_that_does_not_fit_the_network_is_refused() -> None:
    flows = drawn("w4", 100)
    for changed in (
        dataclasses.replace(flows, destinations=flows.sources),
        dataclasses.replace(flows, destinations=flows.destinations + 144),
        dataclasses.replace(flows, fabric=dataclasses.replace(FABRIC, spines=0)),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            simulate_fabric(changed, PacketPolicy.DCTCP)


def test_small_flows_of_dctcp_gain_what_the_source_says() -> None:
    # Table 2.1, W4: 35 % blind, 41.67 % aware. Priorities spare small flows the queues of DCTCP.
    flows = drawn("w4", 8_000)
    dctcp = figures_of(flows, simulate_fabric(flows, PacketPolicy.DCTCP)).small_p99
    for policy, percent in ((PacketPolicy.DCTCP_D_TAIL_BLIND, 35), (PacketPolicy.DCTCP_D_TAIL_AWARE, 41.67)):
        small = figures_of(flows, simulate_fabric(flows, policy, 1.5)).small_p99
        assert 100 * (1 - small / dctcp) >= percent, policy


def test_a_study_searches_and_compares_on_other_flows() -> None:
    notes: list[tuple[float, str]] = []
    request = StudyRequest(
        WORKLOADS["w4"], flows=1_000, evaluations=5, fabric=FABRIC,
        policies=(PacketPolicy.HOMA_D_TAIL_AWARE, PacketPolicy.PFABRIC_D_TAIL_BLIND),
    )  # fmt: skip
    study = run(request, lambda share, note: notes.append((share, note)))
    outcomes = {outcome.policy: outcome for outcome in study.outcomes}
    assert list(outcomes) == [
        PacketPolicy.PFABRIC_LAS, PacketPolicy.HOMA,
        PacketPolicy.HOMA_D_TAIL_AWARE, PacketPolicy.PFABRIC_D_TAIL_BLIND,
    ]  # fmt: skip
    assert [outcome.alpha is not None for outcome in study.outcomes] == [p in TUNABLE for p in outcomes]
    assert [len(search.evaluations) for search in study.searches] == [5, 5]
    assert {row.printed.protocol for row in study.beside_source} == {"Homa", "pFabric"}
    shares = [share for share, _ in notes]
    assert shares == sorted(shares)
    assert request.simulations == 2 + 2 * 5 + 4
    assert request.transmissions == request.packets * 16 * 8
