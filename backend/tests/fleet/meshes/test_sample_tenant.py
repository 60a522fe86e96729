"""Owners and meshes of the tests have the rows of those who sign in, and of agents that enrol, through the API."""

from typing import Any
from uuid import UUID

from fastapi.testclient import TestClient

from sinemora.access.tenants.service import create_owner
from tests import api_clients, sample_tenant
from tests.api_clients import Member, MeshWorld
from tests.statements import rows, scalars

# By the order of their creation; what is drawn or counts up has a stand-in of the same kind.
TABLES = {
    "zones": "provider, region, name, physical_id, version",
    "vms": "name, zone_id, labels, probe_address, event_port, general_port, responder, ptp_domain, version",
    "agents": "vm_id, enrolled_with, revoked_at, agent_version, description, last_report_at, report_every_s, health,"
    " length(credential_prefix) AS prefix, length(credential_digest) AS digest",
    "mesh_vms": "mesh_id, vm_id",
    "enrolment_tokens": "mesh_id, max_uses, uses",
}


# Of an owner who has signed in.
SIGNED_IN = {
    "users": "name, length(email) AS email, length(password_hash) AS hash, password_changed_at IS NULL AS never"
    " FROM users WHERE id = :user",
    "tenants": "deletion_at, deletion_by, second_factor_required FROM tenants WHERE id = :tenant",
    "memberships": "role, mesh_ids, opened_at IS NULL AS never FROM memberships WHERE tenant_id = :tenant",
    "sessions": "method, second_factor, address, user_agent, length(secret_digest) AS digest,"
    " date_trunc('minute', expires_at - last_used_at) AS life, authenticated_at = last_used_at AS new"
    " FROM sessions WHERE user_id = :user",
    "audit": "action, actor_kind, address, detail FROM audit_entries WHERE tenant_id = :tenant",
}


def signed_in(owner: Member) -> dict[str, Any]:
    """Return the rows of an owner, the names of the cookies, and what the API says of the session."""
    parameters = {"user": owner.user_id, "tenant": owner.tenant_id}
    found: dict[str, Any] = {name: rows(f"SELECT {columns}", parameters) for name, columns in SIGNED_IN.items()}
    told = owner.get("/v1/auth/session").json()
    assert (told["user"]["id"], told["tenant"]["id"]) == (str(owner.user_id), str(owner.tenant_id))
    assert (told["tenant"]["key"], told["csrf_token"]) == (owner.tenant_key, owner.headers["X-CSRF-Token"])
    names = {name: len(value) for name, value in owner.cookies.items()}
    return found | {"cookies": names, "role": told["role"], "fields": sorted(told)}


def test_an_owner_has_the_rows_of_one_who_signed_in(owner: Member, http: TestClient) -> None:
    create_owner("Tenant of others", "abcdefgh@sinemora.example", api_clients.PASSWORD)
    assert signed_in(owner) == signed_in(api_clients.sign_in(http, "abcdefgh@sinemora.example"))
    assert owner.created("/v1/zones", {"provider": "test", "region": "r1", "name": "a"})


def stored(world: MeshWorld) -> dict[str, Any]:
    """Return the rows of the tenant; an id is the name of what it identifies."""
    tenant = world.owner.tenant_id
    known = dict(rows("SELECT id, name FROM vms UNION ALL SELECT id, name FROM zones", tenant=tenant))
    known |= {world.id: "mesh"} | dict.fromkeys(scalars("SELECT id FROM enrolment_tokens", tenant=tenant), "token")
    found: dict[str, Any] = {}
    for table, columns in TABLES.items():
        order = "vm_id" if table == "mesh_vms" else "created_at, name" if table == "zones" else "created_at"
        found[table] = [
            {key: known.get(value) if isinstance(value, UUID) else value for key, value in row._mapping.items()}
            for row in rows(f"SELECT {columns} FROM {table} ORDER BY {order}", tenant=tenant)
        ]
    found["mesh_vms"].sort(key=lambda row: str(row["vm_id"]))
    enrolled = "SELECT action, actor_kind, subject_name FROM audit_entries WHERE action = 'agent.enrolled'"
    found["audit"] = sorted(map(tuple, rows(enrolled, tenant=tenant)))
    return found


def test_rows_are_those_of_agents_that_enrolled(owner: Member, other_owner: Member) -> None:
    enrolled, quick = api_clients.make_mesh(owner, 7), sample_tenant.make_mesh(other_owner, 7, "demo")
    assert stored(quick) == stored(enrolled)
    for world in (enrolled, quick):
        keys = [agent.vm_key for agent in world.agents]
        assert keys == sorted(keys)
        assert [agent.get("/v1/agents/self/plan").json()["vm_key"] for agent in world.agents] == keys
    rosters = [world.owner.get(f"/v1/meshes/{world.id}/roster").json() for world in (enrolled, quick)]
    assert [vm["name"] for vm in rosters[0]["vms"]] == [vm["name"] for vm in rosters[1]["vms"]]


def test_a_second_mesh_shares_the_zones_of_the_first(owner: Member) -> None:
    for name in ("demo", "second"):
        sample_tenant.make_mesh(owner, 2, name)
    assert [zone["name"] for zone in owner.get("/v1/zones").json()["items"]] == ["a", "b"]
