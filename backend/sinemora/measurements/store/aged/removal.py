"""Removal of aged objects: beyond the retention, of deleted meshes and tenants, and what interrupted runs left.

An object is marked first and deleted after the commit, so that no reader finds a catalogue that leads to nothing.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.object_storage import installation_storage
from sinemora.measurements.store.aged import catalogue
from sinemora.measurements.store.aged.catalogue import AGED_TABLES
from sinemora.measurements.store.aged.writing import tenant_prefix
from sinemora.measurements.store.retention import kept_from_of
from sinemora.measurements.store.tiers import Tier

_ABANDONED = timedelta(hours=2)
"""Age of an object that is still being written: the time limit of tasks has passed twice."""


def mark_expired(session: Session, now: datetime, minute_days: dict[int, int]) -> int:
    """Mark objects beyond the retention unless a pin keeps them, and those of deleted meshes. Return their number.

    `minute_days` are the days of tenants (by key) that keep minutes for a shorter time. In a system session.
    """
    marked = 0
    for table in AGED_TABLES.values():
        kept_from = kept_from_of(now)[table.tier]
        marked += _mark(session, table.name, kept_from, table.tier.step_s)
        if table.tier is Tier.MINUTE:
            for tenant_key, days in minute_days.items():
                marked += _mark(session, table.name, now - timedelta(days=days), table.tier.step_s, tenant_key)
    gone = session.execute(
        text(
            "UPDATE aged_objects a SET state = 'removing' WHERE state <> 'removing'"
            " AND NOT EXISTS (SELECT FROM meshes m WHERE m.key = a.mesh_key)"
        )
    )
    return marked + int(gone.rowcount)  # type: ignore[attr-defined]


def _mark(session: Session, table: str, before: datetime, step_s: int, tenant_key: int | None = None) -> int:
    result = session.execute(
        text(
            "UPDATE aged_objects a SET state = 'removing' WHERE tier = :tier AND ended_at <= :before"
            " AND state IN ('current', 'restored')"
            + ("" if tenant_key is None else " AND tenant_key = :tenant_key")
            + " AND NOT EXISTS (SELECT FROM pins p JOIN meshes m ON m.id = p.mesh_id WHERE m.key = a.mesh_key"
            " AND a.ended_at > p.started_at - make_interval(secs => :step_s) AND a.started_at < p.ended_at)"
        ),
        {"tier": table, "before": before, "step_s": step_s, "tenant_key": tenant_key},
    )
    return int(result.rowcount)  # type: ignore[attr-defined]


def sweep(now: datetime) -> int:
    """Delete the objects that are marked, and those of runs that ended before they were current. Return their number.

    StorageError.
    """
    with system_session() as session:
        objects = catalogue.find(
            session,
            "state = 'removing' OR state = 'writing' AND created_at < :abandoned",
            abandoned=now - _ABANDONED,
        )
    for one in objects:
        installation_storage().delete(one.object_key)
        with system_session() as session:
            session.execute(
                text("DELETE FROM aged_objects WHERE id = :id AND state IN ('removing', 'writing')"), {"id": one.id}
            )
    return len(objects)


def remove_tenant(tenant_id: UUID) -> int:
    """Delete every object of a tenant, known to the catalogue or not. Return their number. StorageError.

    Nothing happens where no storage is set and the catalogue has no object of the tenant.
    """
    with system_session() as session:
        known = catalogue.find(
            session, "tenant_key = (SELECT key FROM tenants WHERE id = :tenant_id)", tenant_id=tenant_id
        )
    if not known and not settings().storage_bucket:
        return 0
    storage = installation_storage()
    keys = {one.object_key for one in known} | {one.key for one in storage.list(tenant_prefix(tenant_id) + "/")}
    for key in sorted(keys):
        storage.delete(key)
    return len(keys)
