"""Search for the days of a table that a bucket lacks, or that have changed since they were exported."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy.orm import Session

from sinemora.access.tenants import quotas
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.config import settings
from sinemora.measurements.bucket_exports import queries
from sinemora.measurements.bucket_exports.models import BucketExport, ExportedDay, Schedule
from sinemora.measurements.bucket_exports.schedule import SETTLED_AFTER
from sinemora.measurements.store import frames
from sinemora.measurements.store.retention import kept_from_of
from sinemora.measurements.store.tiers import Tier, TierRange

_DAY = timedelta(days=1)
_LATE = timedelta(days=2)
"""Time after the retention of reported windows at which no report changes a day any more; an import may."""
_AT_ONCE = 40
_TIERS = {"1m": Tier.MINUTE, "15m": Tier.QUARTER, "1h": Tier.HOUR, "1d": Tier.DAY}


@dataclass(frozen=True, slots=True)
class TableOfMesh:
    """Table of an export of one mesh: `name` as `ExportTable` has it."""

    mesh: Mesh
    name: str

    @property
    def zones(self) -> bool:
        """Return whether its paths lead between zones."""
        return self.name.startswith("zones_")

    @property
    def tier(self) -> Tier:
        """Return the tier that has its rows."""
        return _TIERS[self.name.partition("_")[2]]


@dataclass(frozen=True, slots=True)
class Seen:
    """Identity of the rows of a day: equal ones mean equal rows."""

    rows: int
    targets: int
    merged_ms: int


@dataclass(frozen=True, slots=True)
class DueDay:
    """Day to be written: its rows, and the revision that the bucket has (0: none) with its objects."""

    of: TableOfMesh
    day: date
    seen: Seen
    revision: int
    parts: int
    writing_parts: int

    @property
    def part(self) -> TierRange:
        return _range(self.of.tier, self.day)


def due(session: Session, export: BucketExport, of: TableOfMesh, now: datetime) -> Iterator[DueDay]:
    """Yield the days that are to be written, oldest first.

    Days beyond the retention are left as they are: their rows are missing here, not in the bucket.
    """
    known = queries.days(session, export.id, of.mesh.id, of.name)
    candidates = _candidates(session, export, of, known, now)
    for first in range(0, len(candidates), _AT_ONCE):
        some = candidates[first : first + _AT_ONCE]
        parts = [_range(of.tier, day) for day in some]
        for day, version in zip(some, frames.versions(session, of.mesh.key, parts, zones=of.zones), strict=True):
            seen = Seen(version.rows, version.targets, round(version.merged_s * 1000))
            before = known.get(day)
            if before is None:
                if seen.rows or day < _settled_before(now):
                    yield DueDay(of, day, seen, 0, 0, 0)
            elif seen.rows and seen != Seen(before.seen_rows, before.seen_targets, before.seen_merged_ms):
                yield DueDay(of, day, seen, before.revision, before.parts, before.writing_parts)


def _candidates(
    session: Session, export: BucketExport, of: TableOfMesh, known: dict[date, ExportedDay], now: datetime
) -> list[date]:
    """Return the days that may have rows and are not known to be final."""
    table = of.tier.zone_table if of.zones else of.tier.table
    oldest = queries.first_start(session, table, of.mesh.key)
    if oldest is None:
        return []
    kept_from = kept_from_of(now)[of.tier]
    if of.tier is Tier.MINUTE:
        kept_from = max(kept_from, now - timedelta(days=quotas.limits(session).minute_days))
    first = max(oldest.date(), kept_from.date() + _DAY)
    last = now.date() if export.schedule == Schedule.hourly else (now - SETTLED_AFTER).date() - _DAY
    days = [first + timedelta(days=number) for number in range(max(0, (last - first).days + 1))]
    settled = _settled_before(now)
    imported = queries.imported(session, of.mesh.id)
    return [
        day
        for day in days
        if day >= settled
        or day not in known
        or known[day].writing_parts
        or any(begin <= day <= end for begin, end in imported)
    ]


def _settled_before(now: datetime) -> date:
    return (now - timedelta(days=settings().retention_raw_days) - _LATE).date()


def _range(tier: Tier, day: date) -> TierRange:
    start = datetime.combine(day, time(), UTC)
    return TierRange(tier, start, start + _DAY)
