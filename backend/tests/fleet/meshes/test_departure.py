"""VMs that stop for a while, retire, or are gone: planned work and autoscaling groups."""

from datetime import UTC, datetime, timedelta

import pytest

from sinemora.fleet.meshes import departure
from tests.api_clients import AgentCaller, Member, MeshWorld
from tests.statements import execute
from tests.waits import until

STOPPING = {"events": [{"kind": "stopping", "at": "2026-11-28T12:00:00Z", "detail": {}}]}


def status_of(owner: Member, name: str) -> str | None:
    vms = {vm["name"]: vm for vm in owner.get("/v1/vms", params={"limit": 100}).json()["items"]}
    return vms[name]["agent"]["status"] if name in vms and vms[name]["agent"] else None


def members(owner: Member, mesh: MeshWorld) -> list[str]:
    return [vm["name"] for vm in owner.get(f"/v1/meshes/{mesh.id}/roster").json()["vms"]]


def aged(agent: AgentCaller, **ages_s: float) -> None:
    """Set times of an agent to so many seconds ago."""
    for column, age_s in ages_s.items():
        at = datetime.now(UTC) - timedelta(seconds=age_s)
        execute(f"UPDATE agents SET {column} = :at WHERE id = :id", {"at": at, "id": agent.agent_id})


def test_a_stopped_agent_is_stopped_until_it_starts_and_silent_after_half_an_hour(owner: Member, agent: AgentCaller):
    aged(agent, last_report_at=120)
    assert status_of(owner, agent.name) == "silent"
    assert agent.post("/v1/agents/self/events", json=STOPPING).status_code == 204
    assert status_of(owner, agent.name) == "stopped"
    assert agent.patch("/v1/agents/self", json={"transfer": {}}).status_code == 200  # of another program of the VM
    assert status_of(owner, agent.name) == "stopped"
    assert agent.patch("/v1/agents/self", json={"description": {"system": "Linux"}}).status_code == 200
    assert status_of(owner, agent.name) == "silent"  # started, and no report since
    assert agent.post("/v1/agents/self/events", json=STOPPING).status_code == 204
    aged(agent, stopped_at=1_801, started_at=1_900)
    assert status_of(owner, agent.name) == "silent"


@pytest.mark.parametrize("short_lived", [False, True])
def test_a_retired_agent_leaves_its_meshes(owner: Member, make_mesh, short_lived: bool):
    mesh = make_mesh(owner, 3, **({"remove_gone_after_s": 300} if short_lived else {}))
    agent, *others = mesh.agents
    assert agent.delete("/v1/agents/self").status_code == 204
    assert members(owner, mesh) == [one.name for one in others]
    names = [vm["name"] for vm in owner.get("/v1/vms", params={"limit": 100}).json()["items"]]
    assert (agent.name in names) == (not short_lived)
    assert agent.delete("/v1/agents/self").json()["code"] in ("agent_revoked", "agent_credential_unknown")


def test_gone_vms_leave_a_mesh_whose_vms_are_short_lived(owner: Member, make_mesh):
    now = datetime.now(UTC)
    mesh = make_mesh(owner, 5, remove_gone_after_s=300)
    stopped, silent, lately, elsewhere, _ = mesh.agents
    other = owner.created("/v1/meshes", {"name": "lasting"})["id"]
    assert owner.put(f"/v1/meshes/{other}/vms/{elsewhere.vm_id}").status_code == 204
    aged(stopped, stopped_at=301, last_report_at=302, created_at=9_000)
    for agent in (silent, elsewhere):
        aged(agent, last_report_at=301, created_at=9_000)
    aged(lately, last_report_at=290, created_at=9_000)
    everyone = members(owner, mesh)
    # Nobody could report until a minute ago, or that is not known: only those that stopped in order are gone.
    # A VM whose presence is being noted is left to the next time.
    until(lambda: departure.remove_gone(now, now - timedelta(minutes=1)) == 1, "the removal of the one that stopped")
    assert departure.remove_gone(now, None) == 0
    assert members(owner, mesh) == [name for name in everyone if name != stopped.name]
    assert departure.remove_gone(now, now - timedelta(hours=1)) == 2
    assert departure.remove_gone(now, now - timedelta(hours=1)) == 0
    assert members(owner, mesh) == [
        name for name in everyone if name not in (stopped.name, silent.name, elsewhere.name)
    ]
    names = [vm["name"] for vm in owner.get("/v1/vms", params={"limit": 100}).json()["items"]]
    assert elsewhere.name in names
    assert silent.name not in names
    deleted = [one for one in owner.get("/v1/audit-entries").json()["items"] if one["action"] == "vm.deleted"]
    assert {one["detail"]["reason"] for one in deleted} == {"gone"}
