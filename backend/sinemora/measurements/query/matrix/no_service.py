"""Paths that cannot be measured, by the addresses of their ends or as their clients report: nothing is lost there."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.inventory.models import AgentEvent
from sinemora.fleet.inventory.queries import newest_events
from sinemora.fleet.meshes.plan import Member, MeshState, unmeasurable, unmeasurable_pairs
from sinemora.measurements.aggregate.matrix import NONE, Cells, Flags, Pairs
from sinemora.measurements.schemas import NoServiceRead

# Agents repeat the event each hour.
_LASTS = timedelta(hours=2)


def of_path(
    session: Session, mesh: MeshState, ends: tuple[Member, Member], newest: datetime | None
) -> NoServiceRead | None:
    """Return why a path cannot be measured, by its addresses or as its client reported after the newest window."""
    if why := unmeasurable(*ends):
        return NoServiceRead(reason=why[0], message=why[1], reported_at=datetime.now(UTC))
    for client, responder in (ends, ends[::-1]):
        event = _newest(session, mesh, [client]).get((client.id, responder.key))
        if event is not None and (newest is None or event.at >= newest):
            reason, message = (str(event.detail.get(name, "")) for name in ("reason", "message"))
            return NoServiceRead(reason=reason, message=message, reported_at=event.at)
    return None


def of_cells(session: Session, mesh: MeshState, pairs: Pairs, cells: Cells) -> Flags | None:
    """Return the planned paths that cannot be measured since their newest window; None if all have current windows."""
    empty = mesh.planned & ((cells.at == NONE) | cells.stale)
    if not empty.any():
        return None
    flags: Flags = empty & unmeasurable_pairs(mesh.members)
    by_id = {member.id: at for at, member in enumerate(mesh.members)}
    by_key = {member.key: at for at, member in enumerate(mesh.members)}
    for (client, responder), event in _newest(session, mesh, mesh.members).items():
        row, column = by_id[client], by_key.get(responder)
        if column is None:
            continue
        window = cells.round_at[row, column]
        if window == NONE or event.at.timestamp() >= pairs.ended_at_s[window]:
            flags[row, column] = flags[column, row] = True
    return flags


def _newest(session: Session, mesh: MeshState, clients: Iterable[Member]) -> dict[tuple[UUID, int], AgentEvent]:
    """Return the newest event of each client, by its id and the key of the responder."""
    ids = [client.id for client in clients if not client.is_master]
    found: dict[tuple[UUID, int], AgentEvent] = {}
    since = datetime.now(UTC) - _LASTS
    for vm_id, event in newest_events(session, "no_service", ids, {"mesh_key": mesh.key}, since):
        responder = event.detail.get("peer_key")
        if isinstance(responder, int):
            found.setdefault((vm_id, responder), event)
    return found
