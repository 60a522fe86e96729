"""The leaf-spine network of the tail lab: traffic, classes, and what every policy does with it."""

import numpy as np
import pytest

from sinemora.labs.tail_lab.core.fabric import Fabric, FabricFlows, draw_fabric_flows, homa_classes, simulate_fabric
from sinemora.labs.tail_lab.core.policies import TUNABLE, PacketPolicy
from sinemora.labs.tail_lab.core.study import StudyRequest, run
from sinemora.labs.tail_lab.core.summary import figures_of
from sinemora.labs.tail_lab.core.workloads import WORKLOADS

FABRIC = Fabric()


def drawn(key: str, count: int, seed: int = 1) -> FabricFlows:
    return draw_fabric_flows(WORKLOADS[key], FABRIC, 0.8, count, seed)


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


def test_small_flows_of_dctcp_gain_what_the_source_says() -> None:
    # Table 2.1, W4: 35 % blind, 41.67 % aware. Priorities spare small flows the queues of DCTCP.
    flows = drawn("w4", 2_000)
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
