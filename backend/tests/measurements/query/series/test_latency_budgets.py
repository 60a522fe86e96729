"""Latency budgets over the API, against budgets computed from the delays that were sent."""

from statistics import median_low
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from tests.measurements.matrices import span
from tests.measurements.query.test_queries import Truth
from tests.measurements.reports import sent_together, window_start
from tests.measurements.worlds import simple

WINDOWS = 4


@pytest.fixture
def truth(owner, make_mesh) -> Truth:
    """Six VMs in three zones, a, b and c by the first letter of their names."""
    return Truth(make_mesh(owner, 6), window_start(1, 60) - 120, WINDOWS)


def expected(paths: list[list[int]]) -> tuple[int, int, int]:
    """Return the lower medians over paths of the smallest delay, the p50 and the p99 (smallest of enough rank)."""

    def rank(values: list[int], share: float) -> int:
        return sorted(values)[max(1, int(np.ceil(share * len(values)))) - 1]

    return (
        median_low(min(path) for path in paths),
        median_low(rank(path, 0.5) for path in paths),
        median_low(rank(path, 0.99) for path in paths),
    )


def check(item: dict[str, Any], paths: list[list[int]]) -> None:
    """Compare an item with its truth, percentiles within the resolution of sketches."""
    low, p50, p99 = expected(paths)
    assert (item["paths"], item["count"]) == (len(paths), sum(map(len, paths)))
    assert item["base"]["delay_ns"] == low
    for parts, value in ((item["p50"], p50), (item["p99"], p99)):
        assert parts["delay_ns"] == pytest.approx(value, rel=1 / 128)
        assert parts["low_ns"] <= value <= parts["high_ns"]
        assert sum(share["delay_ns"] for share in parts["shares"]) == parts["delay_ns"]
        assert parts["shares"][-1]["cause"] == "queueing"
        assert parts["shares"][-1]["low_ns"] <= value - low <= parts["shares"][-1]["high_ns"]


def test_budgets_of_a_path_a_vm_a_zone_pair_and_the_mesh(truth):
    agents = truth.mesh.agents
    one, two = agents[0], agents[1]
    roster = truth.mesh.owner.get(f"/v1/meshes/{truth.mesh.id}/roster").json()
    zone = {vm["id"]: vm["zone_id"] for vm in roster["vms"]}
    keys = {agent.vm_key: zone[str(agent.vm_id)] for agent in agents}
    here, there = keys[one.vm_key], next(id for id in keys.values() if id != keys[one.vm_key])
    of_vm = [f"path:{one.vm_id}:{two.vm_id}", f"from:{one.vm_id}", f"to:{one.vm_id}"]
    read = truth.ask("latency-budgets", selections=[*of_vm, f"zones:{here}:{there}", "mesh"])
    path, outgoing, incoming, between, mesh = read["items"]
    delays = {
        of: [delay for _, raw, direction in windows for delay in raw.delays_ns[direction]]
        for of, windows in truth.values.items()
    }
    errors_ns = {of: max(raw.clock_error_ns for _, raw, _ in windows) for of, windows in truth.values.items()}
    check(path, [delays[one.vm_key, two.vm_key]])
    check(outgoing, [delays[of] for of in delays if of[0] == one.vm_key])
    check(incoming, [delays[of] for of in delays if of[1] == one.vm_key])
    check(between, [delays[of] for of in delays if (keys[of[0]], keys[of[1]]) == (here, there)])
    check(mesh, list(delays.values()))
    assert mesh["clock_error_ns"] == median_low(errors_ns.values())
    assert (path["title"], outgoing["title"]) == (f"{one.name} → {two.name}", f"from {one.name}")
    assert path["clock_error_ns"] == errors_ns[one.vm_key, two.vm_key]
    assert path["base"]["high_ns"] - path["base"]["low_ns"] == 2 * path["clock_error_ns"]


def test_round_trips_have_no_clock_error_and_twice_the_reference(truth):
    one, two = truth.mesh.agents[:2]
    selections = [f"path:{one.vm_id}:{two.vm_id}", f"path:{two.vm_id}:{one.vm_id}", f"from:{one.vm_id}"]
    there, back, outgoing = truth.ask("latency-budgets", selections=selections, metric="round_trip")["items"]
    rounds_ns = {
        of: [delay for _, raw, _ in windows for delay in raw.delays_ns[2]]
        for of, windows in truth.values.items()
        if windows[0][2] == 0
    }
    for item in (there, back):
        check(item, [rounds_ns[one.vm_key, two.vm_key]])
        assert item["clock_error_ns"] is None
        assert item["base"]["low_ns"] == item["base"]["high_ns"]
    check(outgoing, [rounds for pair, rounds in rounds_ns.items() if one.vm_key in pair])
    one_way, both = (
        truth.ask("latency-budgets", selections=["mesh"], metric=metric)["reference"]
        for metric in ("one_way_delay", "round_trip")
    )
    assert [(part["component"], 2 * part["low_ns"], 2 * part["high_ns"]) for part in one_way] == [
        (part["component"], part["low_ns"], part["high_ns"]) for part in both
    ]


def test_verdict_on_the_base_delay_is_that_of_what_propagation_leaves(owner, make_mesh):
    mesh = make_mesh(owner, 2)
    one, two = mesh.agents
    start = window_start(1, 60) - 120
    sent_together(mesh.key, [(one, {two.vm_key: simple(400_000, 500, clock_error_ns=100)}, start)])
    query = span(start, start + 60)

    def verdict(source: UUID, target: UUID, **more: Any) -> str:
        (item,) = mesh.read("latency-budgets", **query, selections=f"path:{source}:{target}", **more)["items"]
        return str(item["base_verdict"])

    assert verdict(one.vm_id, two.vm_id) == "above"
    assert verdict(one.vm_id, two.vm_id, distance_km=10) == "above"  # 49 of 400 µs: the fibre takes detours
    assert verdict(one.vm_id, two.vm_id, distance_km=60) == "within"  # 294 of 400 µs
    assert verdict(two.vm_id, one.vm_id) == "below"  # 0.5 µs


def test_published_delays_are_of_the_same_provider_and_class(owner, make_mesh):
    mesh = make_mesh(owner, 2)
    for name in ("us-west1-a", "us-west1-b"):
        zone = owner.created("/v1/zones", {"provider": "gcp", "region": "us-west1", "name": name})
        vm = owner.created("/v1/vms", {"name": f"in {name}", "zone_id": zone["id"]})
        assert owner.put(f"/v1/meshes/{mesh.id}/vms/{vm['id']}").status_code == 204
    roster = mesh.read("roster")
    one, two = (zone["id"] for zone in roster["zones"] if zone["name"].startswith("us-west1"))
    selections = [f"zones:{one}:{one}", f"zones:{one}:{two}", "mesh"]
    same, between, whole = mesh.read("latency-budgets", selections=selections)["items"]
    assert (same["provider"], same["path_class"], len(same["published"])) == ("gcp", "same_zone", 9)
    (trace,) = between["published"]
    assert (between["path_class"], trace["name"], trace["p50_ns"]) == ("between_zones", "GCE-USW2-1", 180_660)
    assert (whole["provider"], whole["path_class"], whole["published"]) == (None, None, [])
    (rounds,) = mesh.read("latency-budgets", selections=selections[1], metric="round_trip")["items"]
    assert rounds["published"][0]["p99_ns"] == 2 * 526_840


def test_nothing_measured_has_no_figures(owner, make_mesh):
    mesh = make_mesh(owner, 2)
    answer = mesh.read("latency-budgets")
    (item,) = answer["items"]
    assert (item["paths"], item["count"], item["base"], item["p50"], item["base_verdict"]) == (0, 0, None, None, None)
    assert {part["component"] for part in answer["reference"]} == {"nic", "kernel", "hypervisor", "switches"}
    text = owner.get(f"/v1/meshes/{mesh.id}/latency-budgets", params={"format": "csv"}).text
    assert text == "selection,title,figure,cause,delay_ns,low_ns,high_ns\n"


def test_a_file_has_a_row_per_share(truth):
    one, two = truth.mesh.agents[:2]
    query = {**span(truth.start, truth.start + 60), "selections": f"path:{one.vm_id}:{two.vm_id}"}
    text = truth.mesh.owner.get(
        f"/v1/meshes/{truth.mesh.id}/latency-budgets", params={**query, "format": "csv", "distance_km": 1}
    ).text
    assert [line.split(",")[2:4] for line in text.splitlines()[1:]] == [
        [figure, cause]
        for figure, causes in (
            ("base", ("propagation", "processing")),
            ("p50", ("propagation", "processing", "queueing")),
            ("p99", ("propagation", "processing", "queueing")),
        )
        for cause in causes
    ]
