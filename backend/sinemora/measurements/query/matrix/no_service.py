"""Paths to IEEE 1588 responders that serve nothing, as their clients report: nothing is measured, nothing is lost."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.models import AgentEvent
from sinemora.fleet.inventory.queries import newest_events
from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.measurements.aggregate.matrix import NONE, Cells, Flags, Pairs
from sinemora.measurements.schemas import NoServiceRead

# Agents repeat the event each hour.
_LASTS = timedelta(hours=2)


def of_path(
    session: Session, mesh: MeshState, ends: tuple[Member, Member], newest: datetime | None
) -> NoServiceRead | None:
    """Return why a responder at one end serves nothing, as its client reported after the newest window."""
    for client, responder in (ends, ends[::-1]):
        if not responder.is_master:
            continue
        event = _newest(session, mesh, [client]).get((client.id, responder.key))
        if event is not None and (newest is None or event.at >= newest):
            reason, message = (str(event.detail.get(name, "")) for name in ("reason", "message"))
            return NoServiceRead(reason=reason, message=message, reported_at=event.at)
    return None


def of_cells(session: Session, mesh: MeshState, pairs: Pairs, cells: Cells) -> Flags | None:
    """Return the paths whose responder serves nothing since their newest window; None if no member is a responder."""
    if not any(member.is_master for member in mesh.members):
        return None
    flags = np.zeros(cells.at.shape, np.bool_)
    by_id = {member.id: at for at, member in enumerate(mesh.members)}
    by_key = {member.key: at for at, member in enumerate(mesh.members) if member.is_master}
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
