"""TCP connections and bytes of each day between VMs by listening port. Agents count them where the tenant asks for it.

A day of a VM keeps a bit for each of its windows, and is locked while a report is stored: a window counts once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, LargeBinary, text
from sqlalchemy import ForeignKeyConstraint as ForeignKeys
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.orm import Mapped, Session, mapped_column

from sinemora.kit.db import Base, TenantOwned

WINDOW_S = 30
KEPT_DAYS = 30
_DAY_S = 86_400
_SEEN_BYTES = _DAY_S // WINDOW_S // 8
# Foreign keys are checked before a day is locked, so that nobody who deletes a VM waits for it in a circle.
_DAYS = f"""
INSERT INTO traffic_days (tenant_id, vm_id, day, seen)
SELECT v.tenant_id, v.id, i.day, decode(repeat('00', {_SEEN_BYTES}), 'hex')
FROM unnest(%b::int[], %b::date[]) AS i(vm_key, day) JOIN vms v ON v.key = i.vm_key
ORDER BY v.tenant_id, v.id, i.day
ON CONFLICT DO NOTHING
"""
_PAIRS = """
FROM unnest(%b::int[], %b::date[], %b::int[], %b::int[], %b::bool[], %b::bigint[], %b::bigint[], %b::bigint[],
            %b::int[], %b::timestamptz[], %b::timestamptz[])
     AS i(vm_key, day, peer_key, port, serves, connections, bytes_sent, bytes_received, windows, first_at, last_at)
JOIN vms v ON v.key = i.vm_key JOIN vms p ON p.key = i.peer_key AND p.tenant_id = v.tenant_id AND p.id <> v.id
"""
_CLIENT, _SERVER = "CASE WHEN i.serves THEN p.id ELSE v.id END", "CASE WHEN i.serves THEN v.id ELSE p.id END"
_REPORTED_BY = "CASE WHEN i.serves THEN 'server' ELSE 'client' END"
_EDGES = f"""
INSERT INTO traffic_edges (tenant_id, client_vm_id, server_vm_id, port, day, reported_by, first_at, last_at)
SELECT v.tenant_id, {_CLIENT}, {_SERVER}, i.port, i.day, {_REPORTED_BY}, i.first_at, i.first_at {_PAIRS}
ORDER BY 1, 5, 2, 3, 4, 6
ON CONFLICT DO NOTHING
"""
_LOCK = """
SELECT v.key, d.day, d.seen FROM unnest(%b::int[], %b::date[]) AS i(vm_key, day) JOIN vms v ON v.key = i.vm_key
JOIN traffic_days d ON d.tenant_id = v.tenant_id AND d.vm_id = v.id AND d.day = i.day
ORDER BY d.tenant_id, d.vm_id, d.day FOR UPDATE OF d
"""
_ADD_DAYS = """
UPDATE traffic_days d
SET seen = i.seen, other_connections = d.other_connections + i.connections,
    other_bytes_sent = d.other_bytes_sent + i.bytes_sent,
    other_bytes_received = d.other_bytes_received + i.bytes_received,
    connections_left_out = d.connections_left_out + i.left_out
FROM unnest(%b::int[], %b::date[], %b::bytea[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])
     AS i(vm_key, day, seen, connections, bytes_sent, bytes_received, left_out) JOIN vms v ON v.key = i.vm_key
WHERE d.tenant_id = v.tenant_id AND d.vm_id = v.id AND d.day = i.day
"""
# The rows are there: of an update with a join PostgreSQL reads all edges of a port.
_ADD_EDGES = f"""
INSERT INTO traffic_edges AS e (tenant_id, client_vm_id, server_vm_id, port, day, reported_by, connections, windows,
                                bytes_to_server, bytes_to_client, first_at, last_at)
SELECT v.tenant_id, {_CLIENT}, {_SERVER}, i.port, i.day, {_REPORTED_BY}, i.connections, i.windows,
       CASE WHEN i.serves THEN i.bytes_received ELSE i.bytes_sent END,
       CASE WHEN i.serves THEN i.bytes_sent ELSE i.bytes_received END, i.first_at, i.last_at {_PAIRS}
ON CONFLICT (tenant_id, day, client_vm_id, server_vm_id, port, reported_by) DO UPDATE
SET connections = e.connections + EXCLUDED.connections, windows = e.windows + EXCLUDED.windows,
    bytes_to_server = e.bytes_to_server + EXCLUDED.bytes_to_server,
    bytes_to_client = e.bytes_to_client + EXCLUDED.bytes_to_client,
    first_at = least(e.first_at, EXCLUDED.first_at), last_at = greatest(e.last_at, EXCLUDED.last_at)
"""


class TrafficEdge(TenantOwned, Base):
    """TCP connections from one VM to a listening port of another on one day (UTC), as one of both agents counted them.

    A connection counts once, in the window in which it is first seen. Bytes are those of connections that last for some
    seconds: a lower bound. `windows`: number of windows of 30 s with such traffic; `first_at` is the start of the first
    of them and `last_at` the end of the last.
    """

    __tablename__ = "traffic_edges"
    __table_args__ = (
        ForeignKeys(["tenant_id", "client_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeys(["tenant_id", "server_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint("port BETWEEN 1 AND 65535", name="port"),
        CheckConstraint("reported_by IN ('client', 'server')", name="reported_by"),
    )

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    client_vm_id: Mapped[UUID] = mapped_column(primary_key=True, index=True)
    server_vm_id: Mapped[UUID] = mapped_column(primary_key=True, index=True)
    port: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    reported_by: Mapped[str] = mapped_column(TEXT, primary_key=True)
    connections: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    bytes_to_server: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    bytes_to_client: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    windows: Mapped[int] = mapped_column(server_default=text("0"))
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class TrafficDay(TenantOwned, Base):
    """Traffic of one VM on one day (UTC) with addresses that are no VM, and connections that its agent left out.

    `seen` has a bit for each window of 30 s, that of midnight lowest in the first byte. A window without any traffic
    has one, too.
    """

    __tablename__ = "traffic_days"
    __table_args__ = (
        ForeignKeys(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint(f"length(seen) = {_SEEN_BYTES}", name="seen"),
    )

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    seen: Mapped[bytes] = mapped_column(LargeBinary)
    other_connections: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    other_bytes_sent: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    other_bytes_received: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    connections_left_out: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """TCP connections of a VM with one peer and listening port in one window. Peer 0: all addresses that are no VM.

    `serves`: the port is one of this VM's own.
    """

    peer_key: int
    port: int
    serves: bool
    connections: int
    bytes_sent: int
    bytes_received: int


@dataclass(frozen=True, slots=True)
class ServiceWindowRow:
    """One window of one VM, as reported and stored."""

    window_s: ClassVar[int] = WINDOW_S

    vm_key: int
    started_at_s: int
    rows: list[ServiceRow]
    connections_left_out: int

    @property
    def day(self) -> date:
        """The day (UTC) of the window."""
        return datetime.fromtimestamp(self.started_at_s, UTC).date()

    @property
    def place(self) -> int:
        """Number of the window in its day."""
        return self.started_at_s % _DAY_S // WINDOW_S


def store(session: Session, windows: Sequence[ServiceWindowRow]) -> None:
    """Add windows to their days in a system session. What is there already, or of a VM that is gone, is left out."""
    if not windows:
        return
    by_day = {
        key: list(of_day)
        for key, of_day in groupby(
            sorted(windows, key=lambda one: (one.vm_key, one.started_at_s)), lambda one: (one.vm_key, one.day)
        )
    }
    keys = tuple(map(list, zip(*by_day, strict=True)))
    connection = session.connection()
    connection.exec_driver_sql(_DAYS, keys)
    if edges := _edges(windows):
        connection.exec_driver_sql(_EDGES, edges)
    seen_of = {(vm_key, day): bytearray(seen) for vm_key, day, seen in connection.exec_driver_sql(_LOCK, keys)}
    fresh: list[ServiceWindowRow] = []
    sums: list[tuple[int, date, bytes, int, int, int, int]] = []
    for key, seen in seen_of.items():
        added: list[ServiceWindowRow] = []
        for window in by_day[key]:
            byte, bit = divmod(window.place, 8)
            if not seen[byte] >> bit & 1:
                seen[byte] |= 1 << bit
                added.append(window)
        others = [row for window in added for row in window.rows if not row.peer_key]
        totals = (sum(getattr(row, name) for row in others) for name in ("connections", "bytes_sent", "bytes_received"))
        if added:
            sums.append((*key, bytes(seen), *totals, sum(window.connections_left_out for window in added)))
        fresh += added
    if sums:
        connection.exec_driver_sql(_ADD_DAYS, tuple(map(list, zip(*sums, strict=True))))
    if edges := _edges(fresh):
        connection.exec_driver_sql(_ADD_EDGES, edges)


def _edges(windows: Sequence[ServiceWindowRow]) -> tuple[list[object], ...]:
    """Return the columns of `_PAIRS`: rows of peers, added up by day, peer and port."""
    sums: dict[tuple[int, date, int, int, bool], list[int]] = {}
    for window in windows:
        for row in window.rows:
            if row.peer_key:
                key = (window.vm_key, window.day, row.peer_key, row.port, row.serves)
                one = sums.setdefault(key, [0, 0, 0, 0, window.started_at_s, 0])
                for at, value in enumerate((row.connections, row.bytes_sent, row.bytes_received, 1)):
                    one[at] += value
                one[4], one[5] = min(one[4], window.started_at_s), max(one[5], window.started_at_s + WINDOW_S)
    rows = (
        (*key, *one[:4], *(datetime.fromtimestamp(at_s, UTC) for at_s in one[4:])) for key, one in sorted(sums.items())
    )
    return tuple(map(list, zip(*rows, strict=True)))


def delete_old(session: Session, now: datetime) -> int:
    """Delete days that are no longer kept, of all tenants, in a system session. Return the number of edges."""
    oldest = {"oldest": now.date() - timedelta(days=KEPT_DAYS)}
    session.execute(text("DELETE FROM traffic_days WHERE day < :oldest"), oldest)
    deleted = session.execute(text("DELETE FROM traffic_edges WHERE day < :oldest"), oldest)
    return int(deleted.rowcount)  # type: ignore[attr-defined]
