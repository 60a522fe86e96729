"""Newest observations of ECN and order on a path, for advisors."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.measurements.on_demand import queries
from sinemora.measurements.on_demand.path_probes import PathProbes, count_probes
from sinemora.measurements.on_demand.reading import exchanges_of, joined


@dataclass(frozen=True)
class ProbedPath:
    """Observations of the direction from source to target by the newest measurement, and its start."""

    probes: PathProbes
    started_at: datetime


def newest_probes(
    session: Session, mesh_id: UUID, source_id: UUID, target_id: UUID, since: datetime
) -> ProbedPath | None:
    """Return the newest observations of a path that started after a time, measured from either end; else None."""
    row = queries.newest_probed(session, mesh_id, (source_id, target_id), since)
    if row is None:
        return None
    seen = joined([exchanges_of(row, window) for window in queries.windows_of(session, row.id)])
    if row.source_vm_id != source_id:
        seen = seen.turned()
    return ProbedPath(count_probes(seen.outbound_ecn, seen.outbound_reversed), row.starts_at)
