"""Jain's index: its properties, tables measured elsewhere, and fairness within a mesh over HTTP."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.advisors.fairness.core.tables import groups_of_csv
from sinemora.measurements.aggregate.fairness import jain_index
from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.recommendations.asking import declared
from tests.recommendations.measured_mesh import measured

# A scaled subnormal number can vanish.
SHARES = st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=30)


def test_all_equal_is_one_and_one_of_n_is_a_nth():
    assert jain_index([3.0] * 7) == pytest.approx(1)
    assert jain_index([5.0, 0, 0, 0]) == pytest.approx(1 / 4)
    assert jain_index([1e200, 1e200]) == pytest.approx(1)
    assert jain_index([]) is None
    assert jain_index([0.0, 0.0]) is None
    with pytest.raises(ValueError, match="at least 0"):
        jain_index([-1.0])


@given(SHARES, st.floats(1e-3, 1e3), st.randoms())
def test_the_index_has_its_bounds_and_knows_neither_scale_nor_order(shares: list[float], factor: float, random: Any):
    index = jain_index(shares)
    if index is None:
        return
    assert 1 / len(shares) - 1e-9 <= index <= 1
    shuffled = [factor * share for share in shares]
    random.shuffle(shuffled)
    assert jain_index(shuffled) == pytest.approx(index)


# Jain's index of a sort of 2 to 20 GB over two transports: Z. Nabi, "Mission Control: Enabling Efficient and
# Heterogeneous Data Transfers in Data Intensive Computing", University of Cambridge, 2012, table 5.1.
TABLE = {
    "DCTCP": (0.799, 0.902, 0.801, 0.759, 0.896, 0.910, 0.924, 0.940, 0.958, 0.944),
    "TCP": (0.793, 0.904, 0.943, 0.964, 0.938, 0.945, 0.968, 0.965, 0.969, 0.955),
}


def test_the_table_of_the_source():
    rows = [f"{name},{2 * (at + 1)} GB,{index}" for name, row in TABLE.items() for at, index in enumerate(row)]
    found = groups_of_csv("\n".join(["group,window,index", *rows, ""]))
    assert {group.group: group.mean for group in found} == pytest.approx({"DCTCP": 0.8833, "TCP": 0.9344}, abs=5e-5)


METRICS = "/v1/advisors/fairness/metrics"


def index_of(owner: Member, mesh: MeshWorld, **query: Any) -> dict[str, Any]:
    return body_of(owner.get(f"/v1/meshes/{mesh.id}/fairness", params=query))


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Three agents: a-1 to b-1 has 100 µs, the paths of c-1 have 400 µs."""
    world = make_mesh(owner, 3)
    measured(world, {("a-1", "b-1"): 100.0, ("a-1", "c-1"): 400.0, ("b-1", "c-1"): 400.0})
    return world


def test_vms_share_by_their_round_trips_and_what_has_no_shares_has_no_index(owner: Member, mesh: MeshWorld):
    read = index_of(owner, mesh)
    # Medians over the two paths: 250 µs, 250 µs, 400 µs.
    shares = [1 / 400, 1 / 250, 1 / 250]
    assert read["index"] == pytest.approx(sum(shares) ** 2 / (3 * sum(x * x for x in shares)), abs=0.005)
    assert (read["members"][0]["name"], read["below"], read["left_out"]) == ("c-1", False, [])
    assert index_of(owner, mesh, alert_below=0.99)["below"] is True
    assert f'sinemora_fairness_index{{mesh="{mesh.name}",of="vms"}} 0.9' in owner.get(METRICS).text
    assert 'of="applications"' not in owner.get(METRICS).text
    ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(mesh.agents[1].vm_id)}
    source = {"mesh_id": str(mesh.id), "metric": "rate", "unit": "req/s", "kind": "push", "paths": [ends]}
    owner.created("/v1/metric-sources", source | {"name": "silent"})
    assert index_of(owner, mesh, of="metric_sources")["left_out"] == ["silent"]
    assert code_of(owner.get(f"/v1/meshes/{mesh.id}/fairness", params={"of": "flows"})) == (422, "path_missing")
    flows = index_of(owner, mesh, of="flows", source="a-1", target="b-1")
    assert (flows["index"], flows["members"]) == (None, [])


def test_applications_share_by_their_performance(owner: Member, mesh: MeshWorld):
    assert index_of(owner, mesh, of="applications")["index"] is None
    for name, ends in (("near", ("a-1", "b-1")), ("far", ("a-1", "c-1"))):
        declared(mesh, name, ends)
    read = index_of(owner, mesh, of="applications")
    far, near = (member["share"] for member in read["members"])
    assert far < near
    assert read["index"] == pytest.approx((far + near) ** 2 / (2 * (far**2 + near**2)))


def test_a_table_of_throughputs(owner: Member):
    csv = "group,window,throughput\nTCP,1,5\nTCP,1,5\nTCP,2,5\nTCP,2,0\n"
    (group,) = owner.post("/v1/advisors/fairness-imports", json={"csv": csv}).json()["groups"]
    assert group["mean"] == pytest.approx(0.75)
    assert [window["index"] for window in group["windows"]] == [1.0, 0.5]


@pytest.mark.parametrize(
    ("csv", "words"),
    [
        ("group,index\na,1\n", "line 1: the columns"),
        ("group,window,index\na,1,2\n", "line 2: index must be above 0 and at most 1"),
        ("group,window,index\na,1,0.5\na,1,0.6\n", "one index a window"),
        ("group,window,throughput\na,1,fast\n", "line 2: throughput must be a number"),
        ("group,window,throughput\na,1\n", "line 2: 2 cells for 3 columns"),
        ("group,window,throughput\n,1,2\n", "line 2: group is empty"),
        ("group,window,throughput\na,1,-2\n", "line 2: throughput must be at least 0, not -2"),
        ("group,window,throughput,throughput\na,1,2,3\n", "throughput occurs more than once"),
        ("group,window,throughput\n", "no rows below the header"),
    ],
)
def test_a_bad_table_names_the_line(owner: Member, csv: str, words: str):
    answer = owner.post("/v1/advisors/fairness-imports", json={"csv": csv})
    assert (answer.status_code, answer.json()["code"]) == (422, "table_invalid")
    assert words in answer.json()["detail"]
