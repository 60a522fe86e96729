"""A mesh of the tests has the rows that agents leave who enrol through the API."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from sinemora.kit.db import tenant_session
from tests import callers, furnished
from tests.callers import Member, MeshWorld

# By the order of their creation; what is drawn or counts up has a stand-in of the same kind.
TABLES = {
    "zones": "provider, region, name, physical_id, version",
    "vms": "name, zone_id, labels, probe_address, event_port, general_port, responder, ptp_domain, version",
    "agents": "vm_id, enrolled_with, revoked_at, agent_version, description, last_report_at, report_every_s, health,"
    " length(credential_prefix) AS prefix, length(credential_digest) AS digest",
    "mesh_vms": "mesh_id, vm_id",
    "enrolment_tokens": "mesh_id, max_uses, uses",
}


def stored(world: MeshWorld) -> dict[str, Any]:
    """Return the rows of the tenant; an id is the name of what it identifies."""
    with tenant_session(world.owner.tenant_id) as session:
        named = session.execute(text("SELECT id, name FROM vms UNION ALL SELECT id, name FROM zones"))
        known = {row.id: row.name for row in named}
        known |= {world.id: "mesh"} | dict.fromkeys(session.scalars(text("SELECT id FROM enrolment_tokens")), "token")
        rows: dict[str, Any] = {}
        for table, columns in TABLES.items():
            order = "vm_id" if table == "mesh_vms" else "created_at, name" if table == "zones" else "created_at"
            found = session.execute(text(f"SELECT {columns} FROM {table} ORDER BY {order}")).mappings()
            rows[table] = [
                {key: known.get(value) if isinstance(value, UUID) else value for key, value in row.items()}
                for row in found
            ]
        rows["mesh_vms"].sort(key=lambda row: str(row["vm_id"]))
        entries = session.execute(
            text("SELECT action, actor_kind, subject_name FROM audit_entries WHERE action = 'agent.enrolled'")
        )
        rows["audit"] = sorted(tuple(entry) for entry in entries)
    return rows


def test_rows_are_those_of_agents_that_enrolled(owner: Member, other_owner: Member) -> None:
    enrolled, quick = callers.make_mesh(owner, 7), furnished.make_mesh(other_owner, 7, "demo")
    assert stored(quick) == stored(enrolled)
    for world in (enrolled, quick):
        keys = [agent.vm_key for agent in world.agents]
        assert keys == sorted(keys)
        assert [agent.get("/v1/agents/self/plan").json()["vm_key"] for agent in world.agents] == keys
    rosters = [world.owner.get(f"/v1/meshes/{world.id}/roster").json() for world in (enrolled, quick)]
    assert [vm["name"] for vm in rosters[0]["vms"]] == [vm["name"] for vm in rosters[1]["vms"]]


def test_a_second_mesh_shares_the_zones_of_the_first(owner: Member) -> None:
    for name in ("demo", "second"):
        furnished.make_mesh(owner, 2, name)
    assert [zone["name"] for zone in owner.get("/v1/zones").json()["items"]] == ["a", "b"]
