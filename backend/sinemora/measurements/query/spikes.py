"""Use cases of spikes: the list of them, and the exchanges around one."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit.db import tenant_session
from sinemora.kit.errors import NotFound
from sinemora.kit.paging import PageQuery, Slice, decode_cursor, encode_cursor
from sinemora.measurements.codec import frame
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.matrix import end_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import SpikesRequest
from sinemora.measurements.query.responses import SpikeEvidence, SpikeRead
from sinemora.measurements.query.scan import QueryResponse, Range, range_of
from sinemora.measurements.query.tables import Column, ResultTable
from sinemora.measurements.store import spikes
from sinemora.measurements.store.spikes import StoredSpike
from sinemora.meshes.plan import Member, MeshState
from sinemora.meshes.service import mesh_state

DEFAULT_SPAN = timedelta(days=1)
_ID = re.compile(r"(\d{1,12})-(\d{1,10})-(\d{1,10})")
_INT_MAX = (1 << 31) - 1
_ROWS = 1_000


def page(session: Session, mesh_id: UUID, asked: SpikesRequest, paging: PageQuery) -> Slice[SpikeRead]:
    """Return a page of spikes of a range, newest first. ProductError `mesh_unknown`, `vm_unknown`, `zone_unknown` …"""
    mesh = mesh_state(session, mesh_id)
    after = None if paging.cursor is None else decode_cursor(paging.cursor, (int, int, int))
    found = _find(session, mesh, asked, _range(asked), after, paging.limit + 1)
    shown = found[: paging.limit]
    cursor = encode_cursor(shown[-1][:3]) if len(found) > paging.limit else None
    members = {member.key: member for member in mesh.members}
    return Slice([SpikeRead(**_read(one, members)) for one in shown], cursor)


def evidence(session: Session, mesh_id: UUID, spike_id: str) -> SpikeEvidence:
    """Return one spike with the exchanges around it. ProductError `mesh_unknown`, `spike_unknown`."""
    mesh = mesh_state(session, mesh_id)
    parts = _ID.fullmatch(spike_id)
    key = tuple(map(int, parts.groups())) if parts else None
    members = {member.key: member for member in mesh.members}
    if key is None or max(key[1:]) > _INT_MAX or not {key[1], key[2]} <= members.keys():
        raise NotFound("spike")
    found = spikes.spike(session, mesh.key, *key)
    if found is None:
        raise NotFound("spike")
    at, forth, back = frame.decode_evidence(found.evidence).tolist()
    return SpikeEvidence(**_read(found, members), at_ns=at, outbound_ns=forth, inbound_ns=back)


def export(session: Session, mesh: MeshState, asked: SpikesRequest, budget: Budget) -> QueryResponse:
    """Return all spikes of a range as a table, read as it is written."""
    wanted, tenant_id = _range(asked), session.info["tenant_id"]
    _ends(mesh, asked)
    members = {member.key: member for member in mesh.members}
    columns = [
        Column("started_at", "time"),
        Column("source", "text"),
        Column("target", "text"),
        Column("window_s", "int"),
        Column("max_ns", "int"),
        Column("median_ns", "int"),
        Column("rise_ns", "int"),
    ]

    def batches() -> Iterator[list[list[Any]]]:
        after = None
        with tenant_session(tenant_id) as own:
            while rows := _find(own, mesh, asked, wanted, after, _ROWS):
                reads = [_read(one, members) for one in rows]
                yield [
                    [one["started_at"] for one in reads],
                    [one["source"].name for one in reads],
                    [one["target"].name for one in reads],
                    *([one[name] for one in reads] for name in ("window_s", "max_ns", "median_ns", "rise_ns")),
                ]
                after = list(rows[-1][:3])

    return QueryResponse(None, lambda: ResultTable("spikes", columns, batches()))


def _range(asked: SpikesRequest) -> Range:
    if asked.from_ is None:
        wanted = range_of(asked)
        return Range(wanted.end - DEFAULT_SPAN, wanted.end)
    return range_of(asked)


def _find(
    session: Session, mesh: MeshState, asked: SpikesRequest, wanted: Range, after: list[Any] | None, limit: int
) -> list[StoredSpike]:
    position = None if after is None else (after[0], after[1], after[2])
    ends = _ends(mesh, asked)
    return spikes.spikes(session, mesh.key, wanted.start, wanted.end, ends, asked.rise_ns_min, position, limit)


def _ends(mesh: MeshState, asked: SpikesRequest) -> tuple[list[int], list[int]]:
    return (
        _keys(mesh, asked.source_vm_id, asked.source_zone_id),
        _keys(mesh, asked.target_vm_id, asked.target_zone_id),
    )


def _keys(mesh: MeshState, vm_id: UUID | None, zone_id: UUID | None) -> list[int]:
    """Keys of the members that are this VM and in this zone. ProductError `vm_unknown`, `zone_unknown`."""
    if vm_id is not None and all(member.id != vm_id for member in mesh.members):
        raise NotFound("vm")
    if zone_id is not None and all(member.zone_id != zone_id for member in mesh.members):
        raise NotFound("zone")
    return [member.key for member in mesh.members if vm_id in (None, member.id) and zone_id in (None, member.zone_id)]


def _read(one: StoredSpike, members: dict[int, Member]) -> dict[str, Any]:
    started_at: datetime = utc(one.started_at_s)
    return {
        "id": f"{one.started_at_s}-{one.source_key}-{one.target_key}",
        "source": end_of(members[one.source_key]),
        "target": end_of(members[one.target_key]),
        "started_at": started_at,
        "window_s": one.window_s,
        "max_ns": one.max_ns,
        "median_ns": one.median_ns,
        "rise_ns": one.max_ns - one.median_ns,
    }
