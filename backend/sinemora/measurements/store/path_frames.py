"""Reading of the windows of one pair of VMs."""

from sqlalchemy.orm import Session

from sinemora.measurements.codec.parquet import SKETCH, STATS
from sinemora.measurements.codec.stored import StoredPath
from sinemora.measurements.store import frames
from sinemora.measurements.store.aged import catalogue, reading
from sinemora.measurements.store.aged.catalogue import AgedObject
from sinemora.measurements.store.binary_rows import fetch, tenant_of
from sinemora.measurements.store.tiers import TierRange


def paths(
    session: Session, mesh_key: int, source_key: int, target_key: int, stretch: TierRange, *, sketches: bool
) -> list[StoredPath]:
    """Return the windows of one pair in a stretch, whichever of the two was client, by time."""
    # Rosters that have one of the two are read first: a join to all frames would cost more than the frames.
    rosters = fetch(
        session,
        "SELECT key, array_position(target_keys, %(target)s) - 1, array_position(target_keys, %(source)s) - 1"
        " FROM rosters WHERE tenant_key = %(tenant_key)s AND target_keys && ARRAY[%(source)s, %(target)s]::int[]",
        {"tenant_key": tenant_of(session), "source": source_key, "target": target_key},
    )
    places = {True: {row[0]: row[1] for row in rosters}, False: {row[0]: row[2] for row in rosters}}
    forward, back = ([key for key, at in places[way].items() if at is not None] for way in (True, False))
    sql = (
        "SELECT vm_key = %(source)s, extract(epoch FROM started_at)::bigint,"
        f" {frames.window_s(stretch.tier, stretch.tier)}, roster_key, stats, "
        + ("sketch" if sketches else "''::bytea")
        + f" FROM {stretch.tier} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at >= %(start)s AND started_at < %(end)s AND vm_key IN (%(source)s, %(target)s)"
        " AND (vm_key = %(source)s AND roster_key = ANY(%(forward)s::int[])"
        " OR vm_key = %(target)s AND roster_key = ANY(%(back)s::int[]))"
    )
    parameters = {
        "tenant_key": tenant_of(session),
        "mesh_key": mesh_key,
        "start": stretch.start,
        "end": stretch.end,
        "source": source_key,
        "target": target_key,
        "forward": forward,
        "back": back,
    }

    def find_objects() -> list[AgedObject]:
        return frames.aged_objects(session, mesh_key, stretch)

    rows = catalogue.consistently(find_objects, lambda: fetch(session, sql, parameters))
    if objects := find_objects():
        columns = (STATS, SKETCH) if sketches else (STATS,)
        aged = reading.rows_in(objects, stretch.start, stretch.end, sources=(source_key, target_key), columns=columns)
        rows += [
            (source == source_key, at, window_s, roster, stats, sketch)
            for source, at, window_s, roster, stats, sketch, _ in reading.records(aged)
            if places[source == source_key].get(roster) is not None
        ]
    rows.sort(key=lambda row: row[1])
    return [
        StoredPath(way, at, window_s, places[way][roster], stats, sketch)
        for way, at, window_s, roster, stats, sketch in rows
    ]
