"""One state of the network has one number, whoever shows it: matrix, performance page, recommendation."""

import pytest

from sinemora.curves.core.library import published
from tests.callers import MeshWorld
from tests.recommendations.asking import asked, declared
from tests.recommendations.measured_mesh import measured

# 250.0 µs lies below the middle of its bin, 250.9 µs. 137.3 and 411.1 µs are no middles either.
STEADY = {("a-1", "b-1"): 250.0, ("a-1", "c-1"): 411.1, ("a-1", "b-2"): 137.3, ("a-1", "c-2"): 40.2}


@pytest.mark.parametrize("statistic", ["p50", "p90", "p99"])
def test_matrix_performance_page_and_recommendation_agree(mesh: MeshWorld, worker, statistic: str):
    application = declared(mesh)
    measured(mesh, STEADY, noise_us=0)
    query = {"metric": "round_trip", "statistic": statistic}
    matrix = mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params=query).json()
    place = {axis["name"]: at for at, axis in enumerate(matrix["axis"])}
    trips = {pair: matrix["values"][place[pair[0]]][place[pair[1]]] for pair in STEADY}
    assert trips == {pair: round(1000 * us) for pair, us in STEADY.items()}

    page = mesh.owner.get(f"/v1/applications/{application['id']}/performance", params={"statistic": statistic}).json()
    assert [link["round_trip_ns"] for link in page["detail"]] == [trips["a-1", "b-1"], trips["a-1", "c-1"]]

    recommendation = asked(mesh, worker, statistic=statistic)
    assert len(recommendation["steps"]) == 2
    total = recommendation["answer"]["total"]
    assert total["before"]["mean"] == pytest.approx(page["performance"], rel=1e-13)
    curve = published("memcached-server").curve
    after = sum(float(curve(trips["a-1", vm] / 1000)) for vm in ("b-2", "c-2")) / 2
    assert total["after"]["mean"] == pytest.approx(after, rel=1e-13)
    for step in recommendation["steps"]:
        assert step["round_trip_before_ns"] == trips["a-1", step["source"]["name"]]
        assert step["round_trip_after_ns"] == trips["a-1", step["target"]["name"]]
