"""Owners and meshes, stored as sign-in and enrolment store them, each in one transaction.

Most tests begin with an owner and a mesh. A sign-in through the API takes four transactions, and enrolment asks the
database some thirty times for each agent. `tests/fleet/meshes/test_sample_tenant.py` compares these rows with those
that they leave.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from fastapi.testclient import TestClient
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from sinemora.access.signin.sessions import Browser, open_session
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import CSRF_COOKIE, DEVICE_COOKIE, SESSION_COOKIE, cookie_name
from sinemora.access.tenants.models import Membership, Method, Role, Tenant, User
from sinemora.fleet.inventory.agents import CREDENTIAL_PREFIX
from sinemora.fleet.inventory.models import Agent, Vm, Zone
from sinemora.fleet.meshes.enrolment import create_token
from sinemora.fleet.meshes.models import MeshVm
from sinemora.fleet.meshes.schemas import EnrolmentTokenCreate
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.security import csrf_token, digest, hash_password, shown_prefix
from tests.api_clients import PASSWORD, AgentCaller, Member, MeshWorld, address_of, enrolment, name_of, zone_of

_BROWSER = Browser("127.0.0.1", "testclient")


def make_owner(http: TestClient) -> Member:
    """Store a tenant with an owner who has signed in."""
    name = uuid4().hex[:8]
    email = f"{name}@sinemora.example"
    with system_session() as session:
        tenant, user = Tenant(name=f"Tenant {name}"), User(email=email, password_hash=hash_password(PASSWORD))
        session.add_all([tenant, user])
        session.flush()
        membership = Membership(tenant_id=tenant.id, user_id=user.id, role=Role.owner)
        session.add(membership)
        opened = open_session(session, user, membership, _BROWSER, Method.password, second_factor=False, known=True)
        csrf = csrf_token(opened.secret)
        cookies = {SESSION_COOKIE: opened.secret, CSRF_COOKIE: csrf, DEVICE_COOKIE: opened.device or ""}
        return Member(
            http,
            headers={"X-CSRF-Token": csrf},
            cookies={cookie_name(cookie): value for cookie, value in cookies.items()},
            tenant_id=tenant.id,
            tenant_key=tenant.key,
            user_id=user.id,
            email=email,
        )


def make_mesh(owner: Member, agents: int = 3, name: str = "demo", **settings: Any) -> MeshWorld:
    """Create a mesh through the API and store its agents: the names, zones and addresses of `api_clients.make_mesh`."""
    mesh = owner.created("/v1/meshes", {"name": name, **settings})
    with tenant_session(owner.tenant_id) as session:
        enrolled = _enrolled(session, owner, UUID(mesh["id"]), name, agents)
    return MeshWorld(owner, UUID(mesh["id"]), mesh["key"], name, enrolled)


def _enrolled(session: Session, owner: Member, mesh_id: UUID, name: str, agents: int) -> list[AgentCaller]:
    token, _ = create_token(session, None, EnrolmentTokenCreate(mesh_id=mesh_id, max_uses=max(agents, 1)))
    token.uses = agents
    zones = _zones(session, [zone_of(n) for n in range(min(agents, 3))])
    sent = [enrolment("", name_of(name, n), zone_of(n), address_of(n)) for n in range(agents)]
    vms = _vms(session, sent, zones) if sent else []
    credentials = [CREDENTIAL_PREFIX + secrets.token_urlsafe(32) for _ in vms]
    rows = [
        Agent(
            vm_id=vm_id,
            enrolled_with=token.id,
            credential_prefix=shown_prefix(credential),
            credential_digest=digest(credential),
            agent_version=body["agent_version"],
            description=body["description"],
            created_at=at,
        )
        for (vm_id, _), credential, body, at in zip(vms, credentials, sent, _times(agents), strict=True)
    ]
    session.add_all(rows)
    session.flush()
    for agent, body in zip(rows, sent, strict=True):
        audit.record(session, None, "agent.enrolled", agent.id, body["hostname"], token_id=str(token.id))
    session.add_all([MeshVm(mesh_id=mesh_id, vm_id=vm_id) for vm_id, _ in vms])
    return [
        AgentCaller(
            owner.http,
            headers={"Authorization": f"Bearer {credential}"},
            agent_id=agent.id,
            vm_id=vm_id,
            vm_key=vm_key,
            name=body["hostname"],
        )
        for agent, (vm_id, vm_key), body, credential in zip(rows, vms, sent, credentials, strict=True)
    ]


def _times(count: int) -> list[datetime]:
    """Return times of creation one after the other, as lists by time show them."""
    now = datetime.now(UTC)
    return [now + timedelta(microseconds=n) for n in range(count)]


def _vms(session: Session, sent: list[dict[str, Any]], zones: dict[str, Zone]) -> list[tuple[UUID, int]]:
    """Store the VMs that enrol with these bodies; return their ids and keys."""
    rows = [
        {
            "id": uuid4(),
            "tenant_id": session.info["tenant_id"],
            "zone_id": zones[body["zone"]["name"]].id,
            "name": body["hostname"],
            "probe_address": body["probe_address"],
            "event_port": body["event_port"],
            "general_port": body["general_port"],
            "created_at": at,
            "version": 2,  # enrolment stores a VM, then its address
        }
        for body, at in zip(sent, _times(len(sent)), strict=True)
    ]
    keys = {row.id: row.key for row in session.execute(insert(Vm).values(rows).returning(Vm.id, Vm.key))}
    return [(row["id"], keys[row["id"]]) for row in rows]


def _zones(session: Session, names: list[str]) -> dict[str, Zone]:
    """Return the tenant's zones of these names, created where missing."""
    found = session.scalars(select(Zone).where(Zone.provider == "test", Zone.region == "r1", Zone.name.in_(names)))
    zones = {zone.name: zone for zone in found}
    missing = [Zone(provider="test", region="r1", name=name, version=1) for name in names if name not in zones]
    session.add_all(missing)
    session.flush()
    return zones | {zone.name: zone for zone in missing}
