"""Transfer planner: bounds, fairness of the simulator, presets, shapes of traffic, HTTP."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.advisors.transfers.core.network import tree
from sinemora.advisors.transfers.core.plan import Transfers, bound, connection_rate, plan, shuffle
from sinemora.advisors.transfers.core.shape import ShapeKind, shape_of
from sinemora.advisors.transfers.core.simulate import fair_rates, finish_s
from tests.api_clients import Member, MeshWorld
from tests.measurements.reports import add_traffic, sent, traffic_of, window_starts
from tests.recommendations.measured_mesh import measured
from tests.seeds import examples


def transfers(*rows: tuple[int, int, float], limit: float = np.inf) -> Transfers:
    sources, targets, size = (np.array(column) for column in zip(*rows, strict=True))
    return Transfers(sources, targets, size.astype(float), np.full(len(rows), limit))


@st.composite
def works(draw: Any) -> tuple[Any, Transfers]:
    hosts, racks = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    capacity = draw(st.lists(st.floats(1, 100), min_size=hosts, max_size=hosts))
    network = tree([f"h{at}" for at in range(hosts)], min(racks, hosts), capacity, draw(st.floats(1, 10)))
    pairs = st.tuples(st.integers(0, hosts - 1), st.integers(0, hosts - 1), st.floats(0.1, 1e4))
    rows = draw(st.lists(pairs.filter(lambda row: row[0] != row[1]), min_size=1, max_size=20))
    return network, transfers(*rows)


@settings(max_examples=examples(200))
@given(works(), st.randoms())
def test_rates_are_weighted_max_min_fair(work: tuple[Any, Transfers], random: Any):
    network, wanted = work
    links = network.links(wanted.sources, wanted.targets)
    weights = np.array([random.uniform(0.5, 8) for _ in range(len(wanted))])
    rates = fair_rates(links, network.capacities, weights, wanted.connection_rate)
    load = np.zeros(network.capacities.size)
    for row, rate in zip(links, rates, strict=True):
        load[row[row >= 0]] += rate
    assert (load <= network.capacities * (1 + 1e-6)).all()
    # Each transfer has a full link on which no other gets more for its weight: the definition of max-min fairness.
    for at, row in enumerate(links):
        used = row[row >= 0]
        level = rates / weights
        bottlenecks = [
            link
            for link in used
            if load[link] >= network.capacities[link] * (1 - 1e-6)
            and level[at] >= max(level[other] for other in range(len(wanted)) if link in links[other]) * (1 - 1e-6)
        ]
        assert bottlenecks


@settings(max_examples=examples(100))
@given(works())
def test_nothing_is_done_before_the_bound_and_rates_of_the_plan_fit(work: tuple[Any, Transfers]):
    network, wanted = work
    bound_s, _ = bound(network, wanted)
    planned = plan(network, wanted)
    assert finish_s(network, wanted, planned.connections).max() >= bound_s * (1 - 1e-9)
    load = np.zeros(network.capacities.size)
    for row, rate in zip(network.links(wanted.sources, wanted.targets), planned.rates, strict=True):
        load[row[row >= 0]] += rate
    assert (load <= network.capacities * (1 + 1e-9)).all()
    assert sorted(planned.order.tolist()) == list(range(len(wanted)))


def test_weights_finish_together_where_fair_sharing_does_not():
    # a sends 900 to c, b sends 100 to c and 800 to d: fair sharing leaves c's link idle at the end.
    network = tree(["a", "b", "c", "d"], 1, 100.0)
    work = transfers((0, 2, 900), (1, 2, 100), (1, 3, 800))
    planned = plan(network, work)
    assert planned.bound_s == pytest.approx(10)
    assert finish_s(network, work, planned.connections).max() == pytest.approx(10, rel=0.02)


def test_equal_volumes_get_equal_shares():
    planned = plan(tree([str(at) for at in range(10)], 1, 1e9 / 8, 4.0), shuffle(1e9, np.ones(10)))
    assert (set(planned.connections.tolist()), np.ptp(planned.rates)) == ({1}, 0)


@pytest.mark.parametrize("racks", [1, 2, 4])
def test_the_sort_grows_linearly_and_stays_near_the_bound(racks: int):
    sizes = np.array([2.0, 8, 14, 20])
    skewed = np.exp(0.8 * np.random.default_rng(3).standard_normal(40))
    ends = []
    for size in sizes:
        network, sort = tree([str(at) for at in range(40)], racks, 1e9 / 8, 4.0), shuffle(1e9 * size, skewed)
        bound_s, _ = bound(network, sort)
        planned_s = finish_s(network, sort, plan(network, sort).connections).max()
        fair_s = finish_s(network, sort, np.ones(len(sort))).max()
        assert bound_s <= planned_s * (1 + 1e-9)
        assert planned_s <= 1.05 * bound_s
        assert planned_s <= fair_s * 1.001
        ends.append(planned_s)
    assert np.corrcoef(sizes, ends)[0, 1] ** 2 >= 0.99


def test_a_slow_connection_gets_more_of_them():
    assert connection_rate(0.01, 0.0, 1e6) == pytest.approx(1e8)
    assert connection_rate(0.01, 0.015, 1e9) == pytest.approx(1448 / (0.01 * 0.1))
    work = transfers((0, 1, 1000), limit=10.0)
    planned = plan(tree(["a", "b"], 1, 100.0), work)
    assert planned.connections.tolist() == [10]
    network = tree(["a", "b"], 1, 100.0)
    assert finish_s(network, work, [1]).max() == pytest.approx(100)
    assert finish_s(network, work, planned.connections).max() == pytest.approx(10)


def test_shapes_of_traffic():
    rng = np.random.default_rng(2)
    sort = np.where(np.arange(100) % 25 < 7, 1e9, 2e6) * rng.uniform(0.7, 1.3, 100)
    kmeans = 3e8 * rng.uniform(0.5, 1.5, 100)
    assert shape_of(sort.tolist()).shape is ShapeKind.BURST
    assert shape_of(kmeans.tolist()).shape is ShapeKind.STEADY
    assert shape_of([0.0] * 50).shape is ShapeKind.UNCLEAR
    assert shape_of([1e9] * 5).shape is ShapeKind.UNCLEAR


PLANS = "/v1/advisors/transfer-plans"


def test_a_list_is_planned(owner: Member):
    rows = [("a", "c", 9e9), ("b", "c", 1e9), ("b", "d", 8e9)]
    body = {"transfers": [{"source": s, "target": t, "size_bytes": n} for s, t, n in rows], "capacity_gbit": 8}
    read = owner.post(PLANS, json=body).json()
    assert (read["bound_s"], read["bottleneck"]) == (pytest.approx(10), "into c")
    assert read["finish_s"] <= read["fair_finish_s"]
    assert [row["order"] for row in read["transfers"]] == [1, 2, 3]
    assert read["transfers"][0] | {"finish_s": 0, "fair_finish_s": 0, "connections": 0} == {
        "source": "a",
        "target": "c",
        "size_bytes": 9e9,
        "rate_mbit": pytest.approx(7200),
        "connections": 0,
        "connection_limit_mbit": None,
        "order": 1,
        "finish_s": 0,
        "fair_finish_s": 0,
    }
    slow = owner.post(PLANS, json=body | {"capacities_gbit": {"c": 4}}).json()
    assert slow["bound_s"] == pytest.approx(20)


def test_measured_round_trips_limit_connections(owner: Member, make_mesh):
    mesh: MeshWorld = make_mesh(owner, 3)
    measured(mesh, {("a-1", "b-1"): 4_000.0})
    rows = [{"source": "a-1", "target": "b-1", "size_bytes": 1e9}]
    body = {"transfers": rows, "mesh": mesh.name, "window_mib": 1, "topology": "zones", "oversubscription": 1}
    read = owner.post(PLANS, json=body).json()
    (row,) = read["transfers"]
    assert row["connection_limit_mbit"] == pytest.approx(8e-6 * 2**20 / 0.004, rel=0.05)
    assert (row["connections"], read["unmeasured"]) == (pytest.approx(5, abs=1), 0)
    assert read["finish_s"] < read["fair_finish_s"] / 3
    unknown = owner.post(PLANS, json=body | {"transfers": [rows[0] | {"target": "nobody"}]})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "vm_not_in_mesh")


def test_a_zone_that_sets_the_bound_is_named(owner: Member, make_mesh):
    mesh: MeshWorld = make_mesh(owner, 4)
    rows = [{"source": "a-1", "target": "b-1", "size_bytes": 1e9}]
    body = {"transfers": rows, "mesh": mesh.name, "topology": "zones", "oversubscription": 100}
    assert owner.post(PLANS, json=body).json()["bottleneck"] == "up from zone a"


def test_token_buckets_limit_hosts(owner: Member, make_mesh):
    mesh: MeshWorld = make_mesh(owner, 3)
    vm_id = mesh.agents[0].vm_id
    bucket = {"rate_mbit": 100, "burst_kb": 1000, "direction": "sent"}
    assert owner.put(f"/v1/vms/{vm_id}/token-bucket", json=bucket).status_code in (200, 201)
    rows = [
        {"source": "a-1", "target": "b-1", "size_bytes": 1e9},
        {"source": "b-1", "target": "a-1", "size_bytes": 1e9},
    ]
    body = {"transfers": rows, "mesh": mesh.name, "capacity_gbit": 1}
    assert owner.post(PLANS, json=body).json()["bound_s"] == pytest.approx(8)
    read = owner.post(PLANS, json=body | {"measured_capacities": True}).json()
    assert (read["bound_s"], read["bottleneck"]) == (pytest.approx(80), "out of a-1")
    assert read["capacities"] == [
        {"host": "a-1", "direction": "sent", "gbit": pytest.approx(0.1), "source": "token_bucket"}
    ]
    # A measured capacity never raises the entered one.
    slow = owner.post(PLANS, json=body | {"measured_capacities": True, "capacity_gbit": 0.05}).json()
    assert slow["bound_s"] == pytest.approx(160)


def test_shapes_follow_the_counters_of_agents(owner: Member, make_mesh):
    mesh: MeshWorld = make_mesh(owner, 3)
    starts = window_starts(range(40, 0, -1))
    sort, kmeans = traffic_of({}), traffic_of({})
    for at, start in enumerate(starts):
        add_traffic(sort, start, 50_000_000 if at % 20 < 6 else 10_000, 0)
        add_traffic(kmeans, start, 30_000_000, 0)
    sent(mesh.agents[0], sort)
    sent(mesh.agents[1], kmeans)
    path = f"/v1/meshes/{mesh.id}/traffic-shapes"
    found = {one["vm"]["name"]: one for one in owner.get(path).json()}
    assert {name: (one["shape"], one["windows"]) for name, one in found.items()} == {
        mesh.agents[0].name: ("burst", 40),
        mesh.agents[1].name: ("steady", 40),
    }
    assert found[mesh.agents[0].name]["idle_share"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"transfers": [{"source": "a", "target": "b", "size_bytes": 1}], "measured_capacities": True},
        {"sort": {}, "transfers": [{"source": "a", "target": "b", "size_bytes": 1}]},
        {"transfers": [{"source": "a", "target": "a", "size_bytes": 1}]},
        {"sort": {}, "topology": "zones"},
        {"sort": {"workers": 3}, "capacities_gbit": {"worker-4": 1}},
        {"transfers": [{"source": "a", "target": "b", "size_bytes": 1}], "capacities_gbit": {"A": 1}},
    ],
)
def test_bad_questions_are_refused(owner: Member, body: dict[str, Any]):
    answer = owner.post(PLANS, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")


def test_presets_and_shapes_over_http(owner: Member):
    body = {"sort": {"workers": 8, "size_gb": 2, "skew": 0.8}, "topology": "four_rack", "capacity_gbit": 1}
    read = owner.post(PLANS, json=body).json()
    assert (len(read["transfers"]), read["gain_percent"] >= 0) == (56, True)
    shape = owner.post("/v1/advisors/traffic-shapes", json={"sent_bytes": [5.0] * 30}).json()
    assert shape == {"shape": "steady", "idle_share": 0.0, "peak_to_mean": 1.0}
