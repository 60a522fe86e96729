"""SQL of the TCP connections of VMs: retransmissions and timeouts by peer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sinemora.measurements.store.binary_rows import fetch, tenant_of

_STORE = """
INSERT INTO vm_connections (tenant_key, vm_key, started_at, peer_key, connections, segments_sent,
                            segments_retransmitted, timeouts, timeouts_in_band, stalled_ms, rto_us)
SELECT tenant_key, vm_key, to_timestamp(started_at_s), peer_key, connections, segments_sent,
       segments_retransmitted, timeouts, timeouts_in_band, stalled_ms, rto_us
FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::int[], %b::bigint[], %b::bigint[],
            %b::int[], %b::int[], %b::bigint[], %b::int[])
     AS i(tenant_key, vm_key, started_at_s, peer_key, connections, segments_sent, segments_retransmitted,
          timeouts, timeouts_in_band, stalled_ms, rto_us)
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """TCP connections of one VM to one peer in one window, ready to be stored. Peer 0: all that are no peer."""

    tenant_key: int
    vm_key: int
    started_at_s: int
    peer_key: int
    connections: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_us: int


@dataclass(frozen=True, slots=True)
class ConnectionSum:
    """Windows of one VM and one peer, added up; `connections_max`: most connections of a window.

    `rto_us` is the smallest timeout of those that waited for one, None without.
    """

    vm_key: int
    peer_key: int
    windows: int
    connections_max: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_us: int | None


def store(session: Session, rows: Sequence[ConnectionRow]) -> None:
    """Store windows in a system session; those already there stay."""
    if not rows:
        return
    # Always in the same order, so that two batches never wait for each other in a circle.
    ordered = sorted(rows, key=lambda row: (row.tenant_key, row.vm_key, row.started_at_s, row.peer_key))
    columns = tuple([getattr(row, name) for row in ordered] for name in ConnectionRow.__dataclass_fields__)
    session.connection().exec_driver_sql(_STORE, columns)


def sums(session: Session, vm_keys: Sequence[int], start: datetime, end: datetime) -> list[ConnectionSum]:
    """Return the windows of some VMs that start in [start, end), added up by VM and peer, most timeouts first."""
    rows = fetch(
        session,
        "SELECT vm_key, peer_key, count(*)::bigint, max(connections), sum(segments_sent)::bigint,"
        " sum(segments_retransmitted)::bigint, sum(timeouts)::bigint, sum(timeouts_in_band)::bigint,"
        " sum(stalled_ms)::bigint, min(nullif(rto_us, 0))"
        " FROM vm_connections WHERE tenant_key = %(tenant_key)s AND vm_key = ANY(%(vm_keys)s)"
        " AND started_at >= %(start)s AND started_at < %(end)s"
        " GROUP BY vm_key, peer_key ORDER BY sum(timeouts) DESC, vm_key, peer_key",
        {"tenant_key": tenant_of(session), "vm_keys": list(vm_keys), "start": start, "end": end},
    )
    return [ConnectionSum(*row) for row in rows]
