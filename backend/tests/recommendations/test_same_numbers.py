"""One state of the network has one number, whoever shows it: matrix, performance page, recommendation."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.api_clients import MeshWorld
from tests.applications.predicted import predicted
from tests.recommendations.asking import asked
from tests.recommendations.measured_mesh import measured
from tests.seeds import seeds

CURVES = ("memcached-server", "dns", "strads-lasso", "tpc-c", "apache")
VMS = ("a-1", "b-1", "c-1", "a-2", "b-2", "c-2")


@pytest.mark.parametrize("seed", seeds(range(8)))
def test_any_state_has_one_set_of_numbers(mesh: MeshWorld, worker, seed: int):
    """Random round trips, curves, shapes and statistics: every number of the recommendation is one of the matrix."""
    rng = np.random.default_rng(seed)
    trips_us = {pair: float(10 ** rng.uniform(0.7, 3.7)) for pair in combinations(VMS, 2)}
    vms = rng.permutation(VMS)[:3].tolist()
    is_graph, curve_key = bool(rng.random() < 0.5), str(rng.choice(CURVES))
    statistic, objective = str(rng.choice(["p50", "p90", "p99"])), str(rng.choice(["loss", "fair"]))
    body: dict[str, Any] = {
        "name": "app",
        "mesh": mesh.name,
        "curve": curve_key,
        "tasks": [{"name": f"t{place}", "vm": vm, "root": not is_graph and place == 0} for place, vm in enumerate(vms)],
    }
    links = [(0, 1, 1.0), (0, 2, 1.0)]
    if is_graph:
        links = [(0, 1, 2.0), (1, 2, 1.0)]
        body["edges"] = [{"source": f"t{a}", "target": f"t{b}", "weight": weight} for a, b, weight in links]
    application = mesh.owner.created("/v1/applications", body)
    measured(mesh, trips_us, noise_us=0)
    query = {"metric": "round_trip", "statistic": statistic}
    matrix = mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params=query).json()
    place = {axis["name"]: at for at, axis in enumerate(matrix["axis"])}
    for (a, b), us in trips_us.items():  # as exact as they were reported
        assert matrix["values"][place[a]][place[b]] == pytest.approx(1000 * us, abs=2)
    curve = predicted(curve_key)

    def performance(at: list[str]) -> float:
        """Return the performance that the matrix gives by the curve, link by link."""
        total = 0.0
        for a, b, weight in links:
            ns = matrix["values"][place[at[a]]][place[at[b]]] if at[a] != at[b] else 0
            total += weight * float(curve(ns / 1000))
        return total / sum(weight for *_, weight in links)

    page = mesh.owner.get(f"/v1/applications/{application['id']}/performance", params={"statistic": statistic}).json()
    shown = [matrix["values"][place[vms[a]]][place[vms[b]]] for a, b, _ in links]
    assert [link["round_trip_ns"] for link in page["detail"]] == shown
    assert page["performance"] == pytest.approx(performance(vms), rel=1e-13)
    recommendation = asked(mesh, worker, statistic=statistic, objective=objective)
    if recommendation["steps"]:
        target = {step["task"]["name"]: step["target"]["name"] for step in recommendation["steps"]}
        after = [target.get(f"t{number}", vm) for number, vm in enumerate(vms)]
        total = recommendation["result"]["total"]
        assert total["before"]["mean"] == pytest.approx(page["performance"], rel=1e-13)
        assert total["after"]["mean"] == pytest.approx(performance(after), rel=1e-13)
        assert performance(after) > performance(vms)
        leaves = [step for step in recommendation["steps"] if not is_graph and step["task"]["name"] != "t0"]
        for step in leaves:
            to_root = matrix["values"][place[after[0]]][place[step["target"]["name"]]]
            assert step["round_trip_after_ns"] == to_root
