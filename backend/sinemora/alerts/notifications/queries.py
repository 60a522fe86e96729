"""SQL of notifications."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import case, delete, exists, func, select, text
from sqlalchemy.orm import Session

from sinemora.alerts.models import Delivery, DeliveryState, Incident, IncidentState

BEGINNINGS = ("opened", "returned")
OPEN = (*BEGINNINGS, "repeated")
"""Notices after which a receiver knows that the incident is open."""
_IS_TRIED = Delivery.tried_until.is_not(None) | (Delivery.attempts > 0)
# An end that was tried and withdrawn, since the incident had returned, was perhaps never accepted.
_TELLS = Delivery.about.in_(OPEN) | ((Delivery.about == "resolved") & (Delivery.state != DeliveryState.failed))
_IS_UNTRIED = (Delivery.state == DeliveryState.waiting, ~_IS_TRIED)
_IS_HELD = (Delivery.held, Delivery.state == DeliveryState.waiting)


def found_late_with(session: Session, incident: Incident) -> int:
    """Return the number of other incidents of its mesh that were found late at the same time."""
    return (
        session.scalar(
            select(func.count())
            .select_from(Incident)
            .where(
                Incident.mesh_id == incident.mesh_id,
                Incident.found_late_at == incident.found_late_at,
                Incident.id != incident.id,
            )
        )
        or 0
    )


def due_deliveries(session: Session, at: datetime, of_tenant: int, limit: int) -> list[tuple[UUID, UUID, UUID]]:
    """Return (tenant, receiver, delivery) of due deliveries, the first of each tenant first. Needs a system session.

    `of_tenant`: most of one tenant.
    """
    place = func.row_number().over(partition_by=Delivery.tenant_id, order_by=(Delivery.due_at, Delivery.id))
    due = (
        select(Delivery.tenant_id, Delivery.receiver_id, Delivery.id, Delivery.due_at, place.label("place"))
        .where(Delivery.state == "waiting", Delivery.due_at <= at)
        .subquery()
    )
    query = select(due.c.tenant_id, due.c.receiver_id, due.c.id).where(due.c.place <= of_tenant)
    return [(row[0], row[1], row[2]) for row in session.execute(query.order_by(due.c.place, due.c.due_at).limit(limit))]


def waiting_longest(session: Session) -> tuple[datetime | None, float]:
    """Return when the notification was due that waits longest, and how long ago, s; None and 0 when none is due."""
    row = session.execute(
        text(
            "SELECT min(due_at), coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8"
            " FROM deliveries WHERE state = 'waiting' AND due_at <= clock_timestamp()"
        )
    ).one()
    return row[0], row[1]


def locked_delivery(session: Session, delivery_id: UUID) -> Delivery | None:
    """Lock and return a delivery; None if another process sends it."""
    return session.scalars(
        select(Delivery).where(Delivery.id == delivery_id).with_for_update(skip_locked=True)
    ).one_or_none()


def locked_deliveries(session: Session, ids: Sequence[UUID]) -> Sequence[Delivery]:
    """Lock and return deliveries that still exist."""
    query = select(Delivery).where(Delivery.id.in_(ids)).order_by(Delivery.id).with_for_update()
    return session.scalars(query, execution_options={"populate_existing": True}).all()


def next_due(session: Session, delivery_id: UUID, at: datetime) -> UUID | None:
    """Return the due delivery that has waited longest and is not under way, of the receiver of this one if any."""
    receiver_id = select(Delivery.receiver_id).where(Delivery.id == delivery_id).scalar_subquery()
    due = select(Delivery.id).where(Delivery.state == DeliveryState.waiting, Delivery.due_at <= at)
    due = due.where(func.coalesce(Delivery.tried_until <= at, True))
    return session.scalar(due.order_by((Delivery.receiver_id == receiver_id).desc(), Delivery.due_at).limit(1))


def lock_claims(session: Session) -> None:
    """Wait for other processes that claim notices of the tenant, until the transaction ends."""
    name = f"deliveries {session.info['tenant_key']}"
    session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})


def receivers_under_way(session: Session, at: datetime, until: datetime) -> set[UUID]:
    """Return the receivers to which a notification is under way, at most `until`: later, the clock was stepped."""
    ends = Delivery.tried_until
    query = select(Delivery.receiver_id).where(Delivery.state == DeliveryState.waiting, ends > at, ends <= until)
    return set(session.scalars(query))


def newest_of_group(session: Session, row: Delivery, at: datetime) -> Delivery | None:
    """Return the newest notification of the group of a notice, which may still be waiting.

    One that was sent in the future does not count: the clock was stepped back.
    """
    query = select(Delivery).where(
        Delivery.receiver_id == row.receiver_id,
        Delivery.group_key == row.group_key,
        Delivery.hold_s > 0,
        Delivery.id != row.id,
        (Delivery.state == DeliveryState.waiting) | (Delivery.due_at <= at),
    )
    return session.scalars(query.order_by(Delivery.due_at.desc()).limit(1)).one_or_none()


def held_with(session: Session, row: Delivery, at: datetime) -> list[Delivery]:
    """Return the due held notices of the group of one, itself included, oldest first."""
    query = select(Delivery).where(
        Delivery.receiver_id == row.receiver_id, Delivery.group_key == row.group_key, Delivery.due_at <= at, *_IS_HELD
    )
    return list(session.scalars(query.order_by(Delivery.created_at, Delivery.id).with_for_update()))


def waiting_behind(session: Session, row: Delivery) -> int:
    """Return the number of notices that are held for the next notification of the group of one."""
    query = select(func.count()).where(
        Delivery.receiver_id == row.receiver_id,
        Delivery.group_key == row.group_key,
        Delivery.due_at > row.due_at,
        *_IS_HELD,
    )
    return session.scalar(query) or 0


def held_beginnings(session: Session, incident_id: UUID) -> list[Delivery]:
    """Return the held notices that an incident began or returned."""
    query = select(Delivery).where(Delivery.incident_id == incident_id, Delivery.about.in_(BEGINNINGS), *_IS_HELD)
    return list(session.scalars(query.with_for_update(skip_locked=True)))


def notified_open(session: Session, incident_id: UUID) -> dict[UUID, datetime | None]:
    """Return the receivers that were notified, or will be, of the beginning of an incident and not of its end.

    Each with the end of its newest attempt, which is in the future while one is under way. An attempt counts whatever
    came of it: a receiver that did not answer may have accepted the notice.
    """
    of_it = (Delivery.incident_id == incident_id, _TELLS)
    waits = Delivery.state == DeliveryState.waiting
    tried_at = case((_IS_TRIED, func.coalesce(Delivery.tried_until, Delivery.sent_at, Delivery.created_at)))
    query = select(Delivery.receiver_id, Delivery.about, Delivery.tried_until).where(*of_it, _IS_TRIED | waits)
    # Notices that wait are the newest, in their order.
    rows = session.execute(query.order_by(tried_at.nulls_last(), Delivery.created_at, Delivery.id)).all()
    newest = {row.receiver_id: row for row in rows}
    return {receiver_id: row.tried_until for receiver_id, row in newest.items() if row.about != "resolved"}


def is_notified(session: Session, row: Delivery) -> bool:
    """Return whether the newest notice that a receiver got of an incident says that it is open."""
    tried_at = func.coalesce(Delivery.tried_until, Delivery.sent_at, Delivery.created_at)
    query = select(Delivery.about).where(
        Delivery.incident_id == row.incident_id,
        Delivery.receiver_id == row.receiver_id,
        _TELLS,
        Delivery.id != row.id,
        _IS_TRIED,
    )
    return session.scalars(query.order_by(tried_at.desc(), Delivery.created_at.desc()).limit(1)).first() in OPEN


def withdraw_beginnings(session: Session, incident_id: UUID) -> None:
    """Delete the notices that an incident began, returned or continues which were never tried."""
    of_it = (Delivery.incident_id == incident_id, Delivery.about.in_(OPEN), *_IS_UNTRIED)
    session.execute(delete(Delivery).where(*of_it))


def withdraw_ends(session: Session, incident_id: UUID) -> None:
    """Delete the notices of an incident's end that were never tried."""
    of_it = (Delivery.incident_id == incident_id, Delivery.about == "resolved", *_IS_UNTRIED)
    session.execute(delete(Delivery).where(*of_it))


def waiting_ends(session: Session, incident_id: UUID) -> Sequence[Delivery]:
    """Return the notices of an incident's end that wait, tried or not."""
    of_it = (Delivery.incident_id == incident_id, Delivery.about == "resolved")
    return session.scalars(select(Delivery).where(*of_it, Delivery.state == DeliveryState.waiting)).all()


def unfinished_of_mesh(session: Session, mesh_id: UUID) -> Sequence[Incident]:
    """Return the incidents of a mesh that continue, or of which notices wait."""
    waits = exists().where(Delivery.incident_id == Incident.id, Delivery.state == DeliveryState.waiting)
    continues = (Incident.state != IncidentState.resolved) | Incident.ended_at.is_(None)
    return session.scalars(select(Incident).where(Incident.mesh_id == mesh_id, continues | waits)).all()


def withdraw_first(session: Session, incident_id: UUID, receiver_id: UUID) -> None:
    """Delete the notice that an incident began or returned, of one receiver, if it still waits as the first."""
    of_both = (Delivery.incident_id == incident_id, Delivery.receiver_id == receiver_id)
    session.execute(delete(Delivery).where(*of_both, Delivery.about.in_(BEGINNINGS), Delivery.hold_s == 0, *_IS_HELD))
