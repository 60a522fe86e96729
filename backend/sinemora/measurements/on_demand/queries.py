"""SQL of measurements on demand."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.models import OnDemandMeasurement
from sinemora.measurements.on_demand.models import OnDemandWindow
from sinemora.measurements.on_demand.schemas import OnDemandWindowCreate


def by_key(session: Session, key: int) -> OnDemandMeasurement | None:
    """Return the tenant's measurement of this number."""
    return session.scalars(select(OnDemandMeasurement).where(OnDemandMeasurement.key == key)).one_or_none()


def add_window(session: Session, measurement_id: UUID, started_at: datetime, body: OnDemandWindowCreate) -> bool:
    """Store a second of a measurement. Return False if it was stored before."""
    exchanges = body.model_dump(mode="json", exclude={"key", "started_at_s", "ports"})
    row = insert(OnDemandWindow).values(
        tenant_id=session.info["tenant_id"],
        measurement_id=measurement_id,
        started_at=started_at,
        ports=body.ports,
        exchanges=exchanges,
    )
    stored = session.execute(row.on_conflict_do_nothing().returning(OnDemandWindow.started_at))
    return stored.first() is not None


def windows_of(session: Session, measurement_id: UUID) -> list[OnDemandWindow]:
    """Return the seconds of a measurement, oldest first."""
    of_one = select(OnDemandWindow).where(OnDemandWindow.measurement_id == measurement_id)
    return list(session.scalars(of_one.order_by(OnDemandWindow.started_at)))


def newest_probed(
    session: Session, mesh_id: UUID, ends: Collection[UUID], since: datetime
) -> OnDemandMeasurement | None:
    """Return the newest measurement of a pair with data that observed ECN or order and started after a time."""
    has_data = exists().where(OnDemandWindow.measurement_id == OnDemandMeasurement.id)
    return session.scalars(
        select(OnDemandMeasurement)
        .where(
            OnDemandMeasurement.mesh_id == mesh_id,
            OnDemandMeasurement.source_vm_id.in_(ends),
            OnDemandMeasurement.target_vm_id.in_(ends),
            OnDemandMeasurement.starts_at >= since,
            OnDemandMeasurement.ecn | OnDemandMeasurement.reordering,
            has_data,
        )
        .order_by(OnDemandMeasurement.starts_at.desc(), OnDemandMeasurement.key.desc())
        .limit(1)
    ).one_or_none()


def sweeps_of(session: Session, mesh_id: UUID, source: UUID, target: UUID, most: int) -> list[OnDemandMeasurement]:
    """Return the newest measurements over several source ports of one VM towards another, the newest first."""
    return list(
        session.scalars(
            select(OnDemandMeasurement)
            .where(
                OnDemandMeasurement.mesh_id == mesh_id,
                OnDemandMeasurement.client_vm_id == source,
                OnDemandMeasurement.source_ports > 1,
                (OnDemandMeasurement.source_vm_id == target) | (OnDemandMeasurement.target_vm_id == target),
            )
            .order_by(OnDemandMeasurement.starts_at.desc(), OnDemandMeasurement.key.desc())
            .limit(most)
        )
    )


def seconds_of(session: Session, measurement_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the number of stored seconds of measurements; none is no entry."""
    rows = session.execute(
        select(OnDemandWindow.measurement_id, func.count())
        .where(OnDemandWindow.measurement_id.in_(measurement_ids))
        .group_by(OnDemandWindow.measurement_id)
    )
    return {id: count for id, count in rows}


def delete_old(session: Session, before: datetime, keep: int) -> None:
    """Delete the measurements that started before a time, and the oldest beyond `keep`."""
    newest = select(OnDemandMeasurement.id).order_by(OnDemandMeasurement.starts_at.desc()).limit(keep)
    session.execute(
        delete(OnDemandMeasurement).where(
            (OnDemandMeasurement.starts_at < before) | OnDemandMeasurement.id.not_in(newest)
        ),
        execution_options={"synchronize_session": False},
    )
