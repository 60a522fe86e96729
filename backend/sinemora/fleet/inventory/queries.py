"""SQL of the inventory."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CursorResult, Row, Select, delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import Tenant
from sinemora.fleet.inventory.models import Agent, AgentEvent, Vm, Zone


@dataclass(frozen=True)
class ReportNote:
    """State of an agent at its report. `window_s` is the longest window, `health` the JSON form of `Health`."""

    agent_id: UUID
    at: datetime
    health: dict[str, Any] | None
    agent_version: str
    window_s: int


def zone_named(session: Session, provider: str, region: str, name: str) -> Zone | None:
    return session.scalars(
        select(Zone).where(Zone.provider == provider, Zone.region == region, Zone.name == name)
    ).one_or_none()


def zones_of(session: Session, zone_ids: Collection[UUID]) -> dict[UUID, Zone]:
    return {zone.id: zone for zone in session.scalars(select(Zone).where(Zone.id.in_(zone_ids)))}


def ensure_zone(session: Session, provider: str, region: str, name: str, physical_id: str | None = None) -> Zone:
    """Return the tenant's zone of this name, created if missing; safe when many agents enrol at once.

    A `physical_id` identifies the zone: accounts of one customer may give one zone several names, and two zones the
    same name. A second zone of a name gets its physical id appended.
    """
    if physical_id is not None:
        at_that_place = select(Zone).where(
            Zone.provider == provider, Zone.region == region, Zone.physical_id == physical_id
        )
        known = session.scalars(at_that_place.order_by(Zone.created_at, Zone.id).limit(1)).first()
        if known is not None:
            return known
    zone = _zone_of_name(session, provider, region, name, physical_id)
    if physical_id is not None and zone.physical_id is None:
        zone.physical_id = physical_id
    elif physical_id not in (None, zone.physical_id):
        zone = _zone_of_name(session, provider, region, f"{name} ({physical_id})"[:100], physical_id)
    return zone


def _zone_of_name(session: Session, provider: str, region: str, name: str, physical_id: str | None) -> Zone:
    session.execute(
        insert(Zone)
        .values(
            id=uuid4(),
            tenant_id=session.info["tenant_id"],
            provider=provider,
            region=region,
            name=name,
            physical_id=physical_id,
            version=1,
        )
        .on_conflict_do_nothing()
    )
    return session.scalars(
        select(Zone).where(Zone.provider == provider, Zone.region == region, Zone.name == name)
    ).one()


def ensure_vm(session: Session, name: str, zone: Zone, event_port: int, general_port: int) -> Vm:
    """Return the tenant's VM of this name, created if missing, locked until the transaction ends."""
    session.execute(
        insert(Vm)
        .values(
            id=uuid4(),
            tenant_id=session.info["tenant_id"],
            zone_id=zone.id,
            name=name,
            event_port=event_port,
            general_port=general_port,
            version=1,
        )
        .on_conflict_do_nothing()
    )
    return session.scalars(select(Vm).where(Vm.name == name).with_for_update(of=Vm)).one()


def zone_in_use(session: Session, zone_id: UUID) -> bool:
    """Return whether a VM is in the zone."""
    return session.scalars(select(Vm.id).where(Vm.zone_id == zone_id).limit(1)).first() is not None


def vms_where(zone_id: UUID | None, name: str | None) -> Select[Vm]:
    """Return the query of VMs, optionally of one zone, optionally with `name` as a part of theirs."""
    statement = select(Vm)
    if zone_id is not None:
        statement = statement.where(Vm.zone_id == zone_id)
    if name:
        statement = statement.where(Vm.name.icontains(name, autoescape=True))
    return statement


def active_agent(session: Session, vm_id: UUID) -> Agent | None:
    """Return the VM's agent that is not revoked."""
    return session.scalars(select(Agent).where(Agent.vm_id == vm_id, Agent.revoked_at.is_(None))).one_or_none()


def agents_by_credential(session: Session, digests: Collection[bytes]) -> list[Row[Any]]:
    """Return agents with these credentials, revoked or not, and their tenants and VMs. For a system session."""
    statement = (
        select(
            Agent.credential_digest,
            Agent.revoked_at,
            Agent.tenant_id,
            Tenant.key.label("tenant_key"),
            Agent.id.label("agent_id"),
            Agent.vm_id,
            Vm.key.label("vm_key"),
        )
        .join(Tenant, Tenant.id == Agent.tenant_id)
        .join(Vm, Vm.id == Agent.vm_id)
        .where(Agent.credential_digest.in_(digests))
    )
    return list(session.execute(statement))


def note_reports(session: Session, notes: Sequence[ReportNote]) -> None:
    """Store the last report, health and version of agents of any tenants, in one statement.

    Rows are locked in the order of their ids, so that two batches cannot deadlock.
    """
    newest = {note.agent_id: note for note in sorted(notes, key=lambda note: note.at)}
    rows = [newest[agent_id] for agent_id in sorted(newest)]
    if not rows:
        return
    session.execute(
        text(
            """
            WITH note AS (
                SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:ats AS timestamptz[]), CAST(:healths AS jsonb[]),
                                     CAST(:versions AS text[]), CAST(:windows AS int[]))
                              AS n(id, at, health, version, window_s)
            ), locked AS (
                SELECT id FROM agents WHERE id IN (SELECT id FROM note) ORDER BY id FOR NO KEY UPDATE
            )
            UPDATE agents SET
                -- One in the future came before the clock was stepped back.
                last_report_at = CASE WHEN agents.last_report_at > now() + interval '1 min' THEN note.at
                                 ELSE greatest(agents.last_report_at, note.at) END,
                health = coalesce(note.health, agents.health),
                agent_version = note.version,
                report_every_s = note.window_s
            FROM note JOIN locked USING (id) WHERE agents.id = note.id
            """
        ),
        {
            "ids": [row.agent_id for row in rows],
            "ats": [row.at for row in rows],
            "healths": [None if row.health is None else json.dumps(row.health) for row in rows],
            "versions": [row.agent_version for row in rows],
            "windows": [row.window_s for row in rows],
        },
    )


def add_events(session: Session, agent_id: UUID, events: Sequence[dict[str, Any]]) -> None:
    """Store events of an agent: rows of `kind`, `at`, `detail`."""
    tenant_id = session.info["tenant_id"]
    session.execute(insert(AgentEvent), [{"tenant_id": tenant_id, "agent_id": agent_id, **event} for event in events])


def newest_events(
    session: Session, kind: str, vm_ids: Collection[UUID], detail: dict[str, Any], since: datetime
) -> list[tuple[UUID, AgentEvent]]:
    """Return the events of a kind of the VMs' agents whose detail contains `detail`, not before `since`, newest first.

    Each comes with its VM.
    """
    rows = session.execute(
        select(Agent.vm_id, AgentEvent)
        .join(Agent, (Agent.tenant_id == AgentEvent.tenant_id) & (Agent.id == AgentEvent.agent_id))
        .where(
            Agent.vm_id.in_(vm_ids), AgentEvent.kind == kind, AgentEvent.at >= since, AgentEvent.detail.contains(detail)
        )
        .order_by(AgentEvent.at.desc())
    )
    return [(vm_id, event) for vm_id, event in rows]


def delete_events_before(session: Session, before: datetime) -> int:
    """Delete events received before then. Return their number."""
    result = session.execute(delete(AgentEvent).where(AgentEvent.received_at < before))
    assert isinstance(result, CursorResult)
    return result.rowcount


def lock_meshes(session: Session, *, vm_id: UUID | None = None, zone_id: UUID | None = None) -> None:
    """Lock the meshes of a VM, or of the VMs of a zone, before a change that raises their revisions.

    Meshes come before VMs in the order of locks (docs/architecture.md), and among each other by id.
    """
    session.execute(
        text(
            "SELECT FROM meshes WHERE tenant_id = :tenant_id AND id IN (SELECT m.mesh_id FROM mesh_vms m"
            " JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id"
            " WHERE m.tenant_id = :tenant_id AND (v.id = :vm_id OR v.zone_id = :zone_id))"
            " ORDER BY id FOR NO KEY UPDATE"
        ),
        {"tenant_id": session.info["tenant_id"], "vm_id": vm_id, "zone_id": zone_id},
    )
