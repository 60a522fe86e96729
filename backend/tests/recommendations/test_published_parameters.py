"""Parameters of the published policy reach its network; tasks know their times; racks are labels, hosts or clusters."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.api_clients import MeshWorld
from tests.recommendations.asking import NEAR, asked, declared, declared_near, moved, with_tasks
from tests.recommendations.measured_mesh import measured
from tests.statements import execute

HOUR = timedelta(hours=1)


def aged(column: str, by: timedelta) -> None:
    """Let all tasks have run, or waited, for longer."""
    execute(f"UPDATE tasks SET {column} = {column} - :by", {"by": by})


def arcs(mesh: MeshWorld, worker: Any, **parameters: float) -> list[dict[str, Any]]:
    answer = asked(mesh, worker, policy="nomora", explain=True, nomora=parameters)["result"]
    assert answer["nomora"] == {"p_m": 105, "p_r": 110, "gamma": 1001, "omega": 0, "beta": 0} | parameters
    return list(answer["network"])


def tasks(mesh: MeshWorld, application: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = mesh.owner.get(f"/v1/applications/{application['id']}").json()["tasks"]
    return {task["name"]: task for task in found}


def test_the_discount_is_beta_times_the_running_time(mesh: MeshWorld, worker):
    declared(mesh)
    aged("placed_at", timedelta(seconds=20))
    measured(mesh, NEAR)
    free, discounted = (
        {arc["head"]: arc["cost"] for arc in arcs(mesh, worker, beta=beta) if arc["tail"].startswith("T")}
        for beta in (0, 2)
    )
    lower = {head: free[head] - cost for head, cost in discounted.items() if head in free and cost < free[head]}
    assert lower
    assert all(40 <= saved <= 100 for saved in lower.values()), lower  # 20 s and the seconds of the test


def test_waiting_costs_gamma_and_omega(mesh: MeshWorld, worker):
    declared(mesh)
    with_tasks(mesh, "waits", [{"name": "server", "vm": "a-1", "root": True}, {"name": "new"}])
    aged("waiting_since", timedelta(seconds=100))
    measured(mesh, NEAR)
    plain = {arc["cost"] for arc in arcs(mesh, worker, gamma=5000) if arc["head"].startswith("U")}
    longer = {arc["cost"] for arc in arcs(mesh, worker, gamma=5000, omega=3) if arc["head"].startswith("U")}
    assert plain == {5000}
    assert 5300 <= max(longer) <= 5600


def racks(mesh: MeshWorld, worker: Any) -> tuple[str, int]:
    """Return what racks are, and how many the network has."""
    answer = asked(mesh, worker, policy="nomora", explain=True)["result"]
    return answer["racks_from"], len({arc["head"] for arc in answer["network"] if arc["head"].startswith("R")})


def test_racks_are_labels_or_hosts_where_vms_have_them(mesh: MeshWorld, worker):
    declared_near(mesh)
    assert racks(mesh, worker)[0] == "round_trips"
    for agent in mesh.agents:
        assert mesh.owner.patch(f"/v1/vms/{agent.vm_id}/capacity", json={"host": "one"}).status_code == 200
    assert racks(mesh, worker) == ("hosts", 1)
    assert asked(mesh, worker)["result"]["racks_from"] is None
    # A host counts less than a label. The label is one rack in each zone; a VM without it is its own.
    for agent in mesh.agents[:-1]:
        assert mesh.owner.patch(f"/v1/vms/{agent.vm_id}", json={"labels": {"rack": "r1"}}).status_code == 200
    zones = {agent.name.split("-")[0] for agent in mesh.agents[:-1]}
    assert racks(mesh, worker) == ("labels", len(zones) + 1)


def test_tasks_know_since_when_they_run_or_wait(mesh: MeshWorld):
    began = datetime.now(UTC)
    application = declared(mesh)
    first = tasks(mesh, application)["cache-1"]
    assert began - timedelta(seconds=5) < datetime.fromisoformat(first["placed_at"]) < datetime.now(UTC) + HOUR
    assert first["waiting_since"] is None
    mesh.owner.patch(f"/v1/applications/{application['id']}", json={"move_cost": 0.5})
    assert tasks(mesh, application)["cache-1"]["placed_at"] == first["placed_at"]
    moved(mesh, application, {"cache-1": "c-2"})
    again = tasks(mesh, application)["cache-1"]
    assert again["placed_at"] > first["placed_at"]
    vm = next(agent for agent in mesh.agents if agent.name == "c-2").vm_id
    assert mesh.owner.delete(f"/v1/vms/{vm}", headers={"If-Match": "*"}).status_code == 204
    waits = tasks(mesh, application)["cache-1"]
    assert (waits["vm"], waits["placed_at"]) == (None, None)
    assert waits["waiting_since"] >= again["placed_at"]
