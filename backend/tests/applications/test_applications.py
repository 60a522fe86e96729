"""Applications through HTTP: declaring them, changing them, and how they do."""

from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from sinemora.applications.curves.core.library import published
from tests.api_clients import Member, MeshWorld, body_of, code_of, place_of
from tests.applications.predicted import predicted
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple

pytestmark = pytest.mark.agents(4)

CURVE = predicted()
PATH = "/v1/applications"


def star(name: str = "cache", **more) -> dict:
    tasks = [{"vm": "a-1", "root": True}, {"vm": "b-1"}, {"vm": "c-1"}]
    return {"name": name, "mesh": "demo", "curve": "memcached-server", "tasks": tasks, **more}


def graph(**more) -> dict:
    tasks = [{"name": "web", "vm": "a-1"}, {"name": "db", "vm": "b-1"}, {"name": "queue"}]
    edges = [{"source": "web", "target": "db", "weight": 3}, {"source": "web", "target": "queue"}]
    return {"name": "shop", "mesh": "demo", "curve": "dns", "tasks": tasks, "edges": edges, **more}


def test_name_mesh_curve_and_vms_are_enough(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star())
    assert application == mesh.owner.get(f"{PATH}/{application['id']}").json()
    assert (application["shape"], application["mesh"]["name"], application["curve"]["id"]) == (
        "star",
        "demo",
        "memcached-server",
    )
    assert [(task["name"], task["vm"]["name"], task["root"]) for task in application["tasks"]] == [
        ("a-1", "a-1", True),
        ("b-1", "b-1", False),
        ("c-1", "c-1", False),
    ]
    assert [one["name"] for one in mesh.owner.get(PATH).json()["items"]] == ["cache"]
    assert mesh.owner.get(PATH, params={"mesh_id": str(uuid4())}).json()["code"] == "mesh_unknown"


def test_a_task_is_called_after_its_vm_even_if_given_by_id(mesh: MeshWorld):
    tasks = [{"vm": str(mesh.agents[0].vm_id), "root": True}, {"vm": str(mesh.agents[1].vm_id)}]
    assert [task["name"] for task in mesh.owner.created(PATH, star(tasks=tasks))["tasks"]] == ["a-1", "b-1"]


def test_a_graph_has_edges_and_tasks_that_wait(mesh: MeshWorld):
    application = mesh.owner.created(PATH, graph(zones=["a", "b"], objective=0.9, moves_max=2, per_zone_max=2))
    assert (application["shape"], [task["vm"] is None for task in application["tasks"]]) == (
        "graph",
        [False, False, True],
    )
    assert sorted((edge["source"], edge["target"], edge["weight"]) for edge in application["edges"]) == [
        ("web", "db", 3),
        ("web", "queue", 1),
    ]
    assert [zone["name"] for zone in application["zones"]] == ["a", "b"]
    assert (
        application["objective"],
        application["moves_max"],
        application["per_zone_max"],
        application["per_vm_max"],
    ) == (0.9, 2, 2, None)


@pytest.mark.parametrize(
    ("body", "status", "code", "pointer", "words"),
    [
        (star(mesh="dmeo"), 404, "mesh_unknown", "#/mesh", "mesh"),
        (star(curve="memcached"), 404, "curve_unknown", "#/curve", "key of a published curve"),
        (star(curve_number=3), 404, "curve_version_unknown", "#/curve", "key"),
        (star(zones=["a", "z"]), 404, "zone_unknown", "#/zones/1", "unknown zone: z"),
        (star(apart_from=["shop"]), 404, "application_unknown", "#/apart_from/0", "unknown application: shop"),
        (
            star(tasks=[{"vm": "a-1", "root": True}, {"vm": "d-9"}]),
            404,
            "vm_unknown",
            "#/tasks/1/vm",
            "unknown vm: d-9",
        ),
        (star(tasks=[{"vm": "a-1"}, {"vm": "b-1"}]), 422, "request_invalid", "#", "mark one task as root"),
        (graph(edges=[{"source": "web", "target": "web"}]), 422, "request_invalid", "#", "to itself"),
        (graph(edges=[{"source": "web", "target": "dB"}]), 422, "request_invalid", "#", "names dB"),
    ],
)
def test_what_is_wrong_is_named(mesh: MeshWorld, body, status, code, pointer, words):
    answer = mesh.owner.post(PATH, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert words in error["message"]
    assert mesh.owner.get(PATH).json()["items"] == []


def test_vms_must_be_in_the_mesh(mesh: MeshWorld):
    zone = mesh.owner.get("/v1/zones").json()["items"][0]["id"]
    mesh.owner.created("/v1/vms", {"name": "outside", "zone_id": zone})
    answer = mesh.owner.post(PATH, json=star(tasks=[{"vm": "a-1", "root": True}, {"vm": "outside"}]))
    assert place_of(answer) == (409, "vm_not_in_mesh", "#/tasks/1/vm")


def test_changes_keep_what_they_do_not_say(mesh: MeshWorld):
    path = f"{PATH}/{mesh.owner.created(PATH, star(objective=0.8))['id']}"
    seen = mesh.owner.get(path).headers["ETag"]
    changed = mesh.owner.patch(path, json={"tasks": [{"vm": "b-1", "root": True}, {"vm": "a-1"}]}).json()
    assert ([task["name"] for task in changed["tasks"]], changed["objective"]) == (["b-1", "a-1"], 0.8)
    stale = mesh.owner.patch(path, json={"objective": 0.7}, headers={"If-Match": seen})
    assert (stale.status_code, stale.json()["code"]) == (412, "version_changed")
    assert mesh.owner.patch(path, json={"objective": None, "zones": ["a"]}).json()["objective"] is None
    bad = mesh.owner.patch(path, json={"tasks": [{"vm": "b-1"}, {"vm": "a-1"}]})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (422, "#/tasks")
    assert [zone["name"] for zone in mesh.owner.get(path).json()["zones"]] == ["a"]
    into_graph = {"tasks": graph()["tasks"], "edges": graph()["edges"]}
    assert mesh.owner.patch(path, json=into_graph).json()["shape"] == "graph"
    assert mesh.owner.delete(path).status_code == 204
    assert mesh.owner.get(path).json()["code"] == "application_unknown"


def test_tasks_keep_their_ids_while_their_names_stay(mesh: MeshWorld):
    application = mesh.owner.created(PATH, graph())
    path = f"{PATH}/{application['id']}"
    ids = {task["name"]: task["id"] for task in application["tasks"]}
    tasks = [{"name": name, "vm": "c-1", "slots": 2, "root": name == "db"} for name in reversed(ids)]
    changed = mesh.owner.patch(path, json={"tasks": [*tasks, {"name": "new", "vm": "b-1"}], "edges": []}).json()
    names = [task["name"] for task in changed["tasks"]]
    assert names == [*reversed(ids), "new"]
    assert {task["name"]: task["id"] for task in changed["tasks"] if task["name"] in ids} == ids
    assert {task["vm"]["name"] for task in changed["tasks"]} == {"c-1", "b-1"}
    assert changed["tasks"][0]["slots"] == 2
    # The role of the root changes to another task, and one task goes, in one request.
    again = [{"name": "new", "vm": "b-1", "root": True}, {"name": "db", "vm": "c-1"}]
    last = mesh.owner.patch(path, json={"tasks": again}).json()
    assert [(task["name"], task["root"]) for task in last["tasks"]] == [("new", True), ("db", False)]
    assert last["tasks"][1]["id"] == ids["db"]
    twice = [{"name": "b-1", "vm": "a-1", "root": True}, {"vm": last["tasks"][0]["vm"]["id"]}]
    assert mesh.owner.patch(path, json={"tasks": twice}).status_code in (409, 422)


def test_a_version_of_an_own_curve_is_pinned(mesh: MeshWorld):
    rows = [{"latency_us": us, "performance": 1 / (1 + us / 300)} for us in range(0, 500, 50)]
    curve = mesh.owner.created("/v1/curves", {"name": "mine", "rows": rows})
    application = mesh.owner.created(PATH, star(curve="mine"))
    mesh.owner.post(f"/v1/curves/{curve['id']}/versions", json={"rows": rows})
    attached = mesh.owner.get(f"{PATH}/{application['id']}").json()["curve"]
    assert (attached["id"], attached["origin"], attached["number"], attached["newest"]) == (curve["id"], "own", 1, 2)
    newer = mesh.owner.patch(f"{PATH}/{application['id']}", json={"curve": "mine"}).json()["curve"]
    assert newer["number"] == 2
    assert code_of(mesh.owner.delete(f"/v1/curves/{curve['id']}")) == (409, "curve_in_use")


def test_a_mesh_with_applications_stays_and_the_task_of_a_deleted_vm_waits(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star())
    assert code_of(mesh.owner.delete(f"/v1/meshes/{mesh.id}")) == (409, "mesh_in_use")
    assert mesh.owner.delete(f"/v1/vms/{application['tasks'][1]['vm']['id']}").status_code == 204
    left = mesh.owner.get(f"{PATH}/{application['id']}").json()["tasks"]
    assert [(task["name"], task["vm"] is None) for task in left] == [("a-1", False), ("b-1", True), ("c-1", False)]


def test_performance_follows_the_newest_round_trips(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star(objective=0.9))
    path = f"{PATH}/{application['id']}/performance"
    before = mesh.owner.get(path).json()
    assert (before["performance"], before["measured"], before["links"]) == (None, 0, 2)
    assert before["below_objective"] is None
    assert {link["state"] for link in before["detail"]} == {"no_data"}
    keys = {agent.name: agent.vm_key for agent in mesh.agents}
    # 200 µs to b-1, nobody yet to c-1: 100 µs each way.
    sent(mesh.agents[0], report_of(mesh.key, {keys["b-1"]: simple(100_000)}))
    result = mesh.owner.get(path).json()
    assert (result["measured"], result["below_objective"]) == (1, True)
    assert result["performance"] == pytest.approx(float(CURVE(200)), abs=0.01)
    to_b = next(link for link in result["detail"] if link["target"] == "b-1")
    assert (to_b["state"], to_b["round_trip_ns"]) == ("measured", pytest.approx(200_000, rel=0.01))
    deviation = mesh.owner.get(path, params={"statistic": "sd"})
    assert (deviation.status_code, deviation.json()["errors"][0]["pointer"]) == (422, "#/query/statistic")


def test_the_sensitivity_gives_the_performance_of_every_code_of_a_matrix(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star(reference_us=50))
    table = mesh.owner.get(f"{PATH}/{application['id']}/sensitivity").json()
    trips, performance = np.array(table["round_trip_ns"]), np.array(table["performance"])
    assert (table["name"], table["reference_us"], trips.size) == (application["name"], 50, 2048)
    assert (np.diff(trips) > 0).all()
    assert (np.diff(performance) <= 0).all()
    assert (performance[trips <= 50_000] == 1).all()
    near = int(np.abs(trips - 250_000).argmin())
    assert performance[near] == pytest.approx(float(published("memcached-server").curve(200)), abs=0.01)


def test_a_path_lists_the_applications_with_links_over_it_costliest_first(mesh: MeshWorld):
    a, b, c = (agent.vm_id for agent in mesh.agents[:3])
    between = [{"vm": "a-1", "root": True}, {"vm": "b-1"}]
    path = f"/v1/meshes/{mesh.id}/paths/{b}/{a}/applications"
    assert mesh.owner.get(path).json()["items"] == []
    mesh.owner.created(PATH, star("cache", objective=0.9))
    mesh.owner.created(PATH, star("pair", tasks=between))
    # The tasks of `fan` are on both VMs, but do not talk to each other.
    mesh.owner.created(PATH, star("fan", tasks=[{"vm": "c-1", "root": True}, {"vm": "a-1"}, {"vm": "b-1"}]))
    unknown = mesh.owner.get(path).json()["items"]
    assert sorted((one["name"], one["cost"]) for one in unknown) == [("cache", None), ("pair", None)]
    keys = {agent.name: agent.vm_key for agent in mesh.agents}
    sent(mesh.agents[0], report_of(mesh.key, {keys["b-1"]: simple(100_000), keys["c-1"]: simple(1_000)}))
    pair, cache = mesh.owner.get(path).json()["items"]
    assert (pair["name"], pair["path_links"], pair["links"], pair["below_objective"]) == ("pair", 1, 1, None)
    assert (cache["name"], cache["path_links"], cache["links"], cache["below_objective"]) == ("cache", 1, 2, True)
    assert pair["cost"] == pytest.approx(1 - float(CURVE(200)), abs=0.01) == pytest.approx(2 * cache["cost"])
    other = mesh.owner.get(f"/v1/meshes/{mesh.id}/paths/{a}/{c}/applications").json()["items"]
    assert sorted(one["name"] for one in other) == ["cache", "fan"]


def test_capacity_is_one_task_until_said_otherwise(mesh: MeshWorld):
    mesh.owner.created(PATH, star())
    path = f"/v1/vms/{mesh.agents[0].vm_id}/capacity"
    assert mesh.owner.get(path).json() == {
        "vm": {"id": str(mesh.agents[0].vm_id), "key": mesh.agents[0].vm_key, "name": "a-1"},
        "slots": 1,
        "slots_taken": 1,
        "cpu_millicores": None,
        "memory_mib": None,
        "price_per_hour": None,
        "host": None,
        "version": 0,
    }
    capacity = {"slots": 4, "cpu_millicores": 8000, "price_per_hour": "0.4210", "host": "rack-7"}
    changed = mesh.owner.patch(path, json=capacity).json()
    assert (changed["slots"], float(changed["price_per_hour"]), changed["host"]) == (4, 0.421, "rack-7")
    assert mesh.owner.patch(path, json={"price_per_hour": None}).json()["price_per_hour"] is None
    assert mesh.owner.get(path).json()["slots"] == 4
    assert mesh.owner.patch(path, json={"slots": -1}).status_code == 422


def test_yaml_goes_out_and_comes_back(mesh: MeshWorld):
    mesh.owner.created(PATH, graph(zones=["a"], moves_max=3))
    mesh.owner.created(PATH, star(apart_from=["shop"], objective=0.9))
    text = mesh.owner.get(f"{PATH}/manifest").text
    assert "apart_from:\n  - shop" in text

    def bring(document: str) -> dict:
        return body_of(
            mesh.owner.post(f"{PATH}/manifest", content=document, headers={"Content-Type": "application/yaml"})
        )

    assert bring(text) == {"created": [], "changed": [], "unchanged": ["cache", "shop"]}
    assert bring(text.replace("objective: 0.9", "objective: 0.8"))["changed"] == ["cache"]
    for one in mesh.owner.get(PATH).json()["items"]:
        mesh.owner.delete(f"{PATH}/{one['id']}")
    shop_first = (
        "applications:\n"
        + text[text.index("- name: shop") :]
        + text[text.index("- name: cache") : text.index("- name: shop")]
    )
    assert bring(shop_first)["created"] == ["shop", "cache"]
    assert mesh.owner.get(f"{PATH}/manifest").text == text


def test_the_manifest_of_the_documentation_is_taken(owner: Member, make_mesh):
    make_mesh(owner, 5)
    page = (Path(__file__).parents[3] / "docs" / "recommendations.md").read_text()
    document = page.split("```yaml\n")[1].split("```")[0]
    answer = owner.post(f"{PATH}/manifest", content=document, headers={"Content-Type": "application/yaml"})
    assert answer.json() == {"created": ["cache", "shop"], "changed": [], "unchanged": []}, answer.text


@pytest.mark.parametrize(
    ("document", "code", "pointer", "words"),
    [
        ("a: [", "manifest_invalid", None, "line 2"),
        ("tasks: []", "manifest_invalid", None, "it has one key"),
        ("applications:\n- name: x\n", "manifest_invalid", "#/applications/0/mesh", "Required"),
        (
            "applications:\n- {name: x, mesh: nowhere, curve: dns, tasks: [{vm: a-1, root: true}, {vm: b-1}]}\n",
            "mesh_unknown",
            "#/applications/0/mesh",
            "name or id of a mesh",
        ),
    ],
)
def test_a_manifest_is_taken_whole_or_not_at_all(mesh: MeshWorld, document, code, pointer, words):
    answer = mesh.owner.post(f"{PATH}/manifest", content=document, headers={"Content-Type": "application/yaml"})
    assert (answer.status_code, answer.json()["code"]) == (404 if code.endswith("_unknown") else 422, code), answer.text
    errors = answer.json().get("errors") or [{"pointer": None, "message": answer.json()["detail"]}]
    assert pointer in [error["pointer"] for error in errors]
    assert any(words in error["message"] for error in errors)
    assert mesh.owner.get(PATH).json()["items"] == []


def test_paths_and_zone_pairs_name_the_application_they_cost_most(mesh: MeshWorld):
    ids = {agent.name: agent.vm_id for agent in mesh.agents}
    keys = {agent.name: agent.vm_key for agent in mesh.agents}
    zones = {zone["name"]: zone["id"] for zone in mesh.owner.get("/v1/zones").json()["items"]}
    selections = [
        f"path:{ids['b-1']}:{ids['a-1']}",  # measured, both applications
        f"path:{ids['a-1']}:{ids['c-1']}",  # measured, one application
        f"path:{ids['b-1']}:{ids['c-1']}",  # tasks on both ends, but no link
        f"zones:{zones['a']}:{zones['b']}",
    ]
    path = f"/v1/meshes/{mesh.id}/path-costs"
    assert [item["worst"] for item in mesh.owner.get(path, params={"selections": selections}).json()["items"]] == [
        None
    ] * 4
    mesh.owner.created(PATH, star("cache"))
    pair = mesh.owner.created(PATH, star("pair", tasks=[{"vm": "a-1", "root": True}, {"vm": "b-1"}]))
    unknown = mesh.owner.get(path, params={"selections": selections[:1]}).json()["items"][0]
    assert (unknown["applications"], unknown["worst"]["cost"]) == (2, None)
    sent(mesh.agents[0], report_of(mesh.key, {keys["b-1"]: simple(100_000), keys["c-1"]: simple(1_000)}))
    answer = mesh.owner.get(path, params={"selections": selections}).json()
    assert [item["selection"] for item in answer["items"]] == selections
    both, one, none, between = answer["items"]
    lost = 1 - float(CURVE(200))
    assert (both["applications"], both["worst"]["id"]) == (2, pair["id"])
    assert both["worst"]["cost"] == pytest.approx(lost, abs=0.01)
    assert (one["applications"], one["worst"]["name"]) == (1, "cache")
    assert one["worst"]["cost"] == pytest.approx(0, abs=0.01)
    assert (none["applications"], none["worst"]) == (0, None)
    assert (between["applications"], between["worst"]) == (2, both["worst"])
    assert code_of(mesh.owner.get(path, params={"selections": f"path:{uuid4()}:{ids['a-1']}"})) == (404, "path_unknown")
    assert code_of(mesh.owner.get(path, params={"selections": "nonsense"})) == (422, "selection_invalid")
