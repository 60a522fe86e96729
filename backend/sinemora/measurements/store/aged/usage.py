"""Aged objects of tenants and the newest runs of ageing, for operators and tenants."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class AgedTier:
    """Aged objects of one tier of a mesh: their number, rows, bytes and range; `restored` of them are copied back."""

    tenant_id: UUID
    tenant: str
    mesh_id: UUID
    mesh: str
    tier: str
    objects: int
    restored: int
    rows: int
    bytes: int
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class AgingRun:
    """Newest run of ageing of a tenant; `error` is null for one without."""

    tenant_id: UUID
    tenant: str
    started_at: datetime
    ended_at: datetime
    objects: int
    rows: int
    bytes: int
    error: str | None


def tiers(session: Session, tenant_ids: Sequence[UUID] | None = None) -> list[AgedTier]:
    """Return the aged tiers of meshes that the session sees, of some tenants, all by default."""
    rows = session.execute(
        text(
            "SELECT t.id, t.name, m.id, m.name, a.tier, count(*), count(*) FILTER (WHERE a.state = 'restored'),"
            " sum(a.rows)::bigint, sum(a.bytes)::bigint, min(a.started_at), max(a.ended_at)"
            " FROM aged_objects a JOIN tenants t ON t.key = a.tenant_key JOIN meshes m ON m.key = a.mesh_key"
            " WHERE a.state IN ('current', 'restored') AND (CAST(:ids AS uuid[]) IS NULL OR t.id = ANY(:ids))"
            " GROUP BY t.id, t.name, m.id, m.name, a.tier ORDER BY t.name, m.name, a.tier"
        ),
        {"ids": None if tenant_ids is None else list(tenant_ids)},
    )
    return [AgedTier(*row) for row in rows]


def runs(session: Session, tenant_ids: Sequence[UUID] | None = None) -> list[AgingRun]:
    """Return the newest run of each of these tenants, all by default."""
    rows = session.execute(
        text(
            "SELECT t.id, t.name, r.started_at, r.ended_at, r.objects, r.rows, r.bytes, r.error"
            " FROM aging_runs r JOIN tenants t ON t.key = r.tenant_key"
            " WHERE CAST(:ids AS uuid[]) IS NULL OR t.id = ANY(:ids) ORDER BY t.name"
        ),
        {"ids": None if tenant_ids is None else list(tenant_ids)},
    )
    return [AgingRun(*row) for row in rows]
