"""Notify receivers of the end of an incident: each that was notified of its beginning, whatever happened in between."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.alerts.labels import labels_of
from sinemora.alerts.models import KEEPS_ALERTS, Incident, Receiver
from sinemora.alerts.notifications import delivery, dispatch, messages, queries
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.alerts.receivers import routing
from sinemora.alerts.receivers.routing import Destination
from sinemora.fleet.meshes.plan import MeshState


def notify(session: Session, row: Incident, mesh: MeshState, at: datetime, *, due_at: datetime | None = None) -> None:
    """Notify the receivers that know of the beginning of an incident, and not of its end, that it ended.

    The deliveries show who they are, not the routes: a silence, another severity, changed routes or names do not
    matter. Without `due_at` it is sent at once, and beginnings that still wait are withdrawn. With it the notice is
    sent then, in groups as beginnings are, also to receivers that are notified of the beginning until then.
    """
    queries.withdraw_ends(session, row.id)
    if due_at is None:
        queries.withdraw_beginnings(session, row.id)
    notified = queries.notified_open(session, row.id)
    if not notified:
        return
    by_name = _destinations(session, row, mesh)
    for receiver_id, tried_until in notified.items():
        receiver = session.get_one(Receiver, receiver_id)
        destination = by_name.get(receiver.name)
        if destination is not None and not destination.resolved:
            continue
        # Alerts that a receiver keeps end by themselves as soon as they may.
        groups_it = due_at is not None and destination is not None and receiver.kind not in KEEPS_ALERTS
        hold_s = destination.hold_s if groups_it and destination is not None else 0
        key = dispatch.group_of(row, mesh, "resolved") if hold_s else None
        later = max(one for one in (due_at, tried_until, at) if one is not None)
        dispatch.send(session, receiver_id, row.id, "resolved", later, key, hold_s)


def _destinations(session: Session, row: Incident, mesh: MeshState) -> dict[str, Destination]:
    """Return the present destinations of an incident by receiver, and any destination of the other receivers."""
    tree = receiver_queries.routing(session)
    if tree is None:
        return {}
    reached = routing.destinations(tree.tree["root"], labels_of(row, mesh))
    return routing.named(tree.tree["root"]) | {one.receiver: one for one in reached}


def notify_of_mesh(session: Session, mesh: MeshState, at: datetime) -> list[UUID]:
    """Notify receivers that all incidents of a mesh end, because it is deleted; return the ids of the deliveries.

    The deliveries keep their content, because they outlive their incidents.
    """
    kept = []
    for row in queries.unfinished_of_mesh(session, mesh.id):
        row.ended_at = row.ended_at or at
        notify(session, row, mesh, at)
        for notice in queries.waiting_ends(session, row.id):
            notice.content = messages.stored(delivery.notification(session, notice))
            notice.incident_id = None
            kept.append(notice.id)
        session.flush()
    return kept
