"""Spikes: list, evidence (the exchanges around one) and export."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import NotFound, existing
from sinemora.kit.http.paging import PageQuery, Slice, decode_cursor, encode_cursor
from sinemora.measurements.codec import frame
from sinemora.measurements.query.axis import end_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import SpikesRequest
from sinemora.measurements.query.responses import SpikeEvidence, SpikeRead
from sinemora.measurements.query.scan import QueryResponse, Range, range_of
from sinemora.measurements.query.tables import Column, ResultTable
from sinemora.measurements.store import spikes
from sinemora.measurements.store.spikes import StoredSpike

DEFAULT_SPAN = timedelta(days=1)
_ID = re.compile(r"(\d{1,12})-(\d{1,10})-(\d{1,10})")
_INT_MAX = (1 << 31) - 1
_ROWS = 1_000


def page(session: Session, mesh_id: UUID, request: SpikesRequest, paging: PageQuery) -> Slice[SpikeRead]:
    """Return a page of spikes of a range, newest first. ProductError `mesh_unknown`, `vm_unknown`, `zone_unknown` …"""
    mesh = mesh_state(session, mesh_id)
    after = None if paging.cursor is None else decode_cursor(paging.cursor, (int, int, int))
    rows = _find(session, mesh, request, _range(request), after, paging.limit + 1)
    page_rows = rows[: paging.limit]
    cursor = encode_cursor(page_rows[-1][:3]) if len(rows) > paging.limit else None
    members = {member.key: member for member in mesh.members}
    return Slice([SpikeRead(**_read(row, members)) for row in page_rows], cursor)


def evidence(session: Session, mesh_id: UUID, spike_id: str) -> SpikeEvidence:
    """Return a spike with the exchanges around it. ProductError `mesh_unknown`, `spike_unknown`."""
    mesh = mesh_state(session, mesh_id)
    parts = _ID.fullmatch(spike_id)
    key = tuple(map(int, parts.groups())) if parts else None
    members = {member.key: member for member in mesh.members}
    if key is None or max(key[1:]) > _INT_MAX or not {key[1], key[2]} <= members.keys():
        raise NotFound("spike")
    row = existing(spikes.spike(session, mesh.key, *key), "spike")
    at, outbound, inbound = frame.decode_evidence(row.evidence).tolist()
    return SpikeEvidence(**_read(row, members), at_ns=at, outbound_ns=outbound, inbound_ns=inbound)


def export(session: Session, mesh: MeshState, request: SpikesRequest, budget: ReadBudget) -> QueryResponse:
    """Return all spikes of a range as a streamed table."""
    time_range, tenant_id = _range(request), session.info["tenant_id"]
    _ends(mesh, request)
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
        with tenant_session(tenant_id) as reader:
            while rows := _find(reader, mesh, request, time_range, after, _ROWS):
                reads = [_read(spike, members) for spike in rows]
                yield [
                    [spike["started_at"] for spike in reads],
                    [spike["source"].name for spike in reads],
                    [spike["target"].name for spike in reads],
                    *([spike[name] for spike in reads] for name in ("window_s", "max_ns", "median_ns", "rise_ns")),
                ]
                after = list(rows[-1][:3])

    return QueryResponse(None, lambda: ResultTable("spikes", columns, batches()))


def _range(request: SpikesRequest) -> Range:
    if request.from_ is None:
        hour = range_of(request)
        return Range(hour.end - DEFAULT_SPAN, hour.end)
    return range_of(request)


def _find(
    session: Session, mesh: MeshState, request: SpikesRequest, time_range: Range, after: list[Any] | None, limit: int
) -> list[StoredSpike]:
    position = None if after is None else (after[0], after[1], after[2])
    ends = _ends(mesh, request)
    return spikes.spikes(
        session, mesh.key, time_range.start, time_range.end, ends, request.rise_ns_min, position, limit
    )


def _ends(mesh: MeshState, request: SpikesRequest) -> tuple[list[int], list[int]]:
    return (
        _keys(mesh, request.source_vm_id, request.source_zone_id),
        _keys(mesh, request.target_vm_id, request.target_zone_id),
    )


def _keys(mesh: MeshState, vm_id: UUID | None, zone_id: UUID | None) -> list[int]:
    """Return the keys of the members that match the VM and the zone. ProductError `vm_unknown`, `zone_unknown`."""
    if vm_id is not None and all(member.id != vm_id for member in mesh.members):
        raise NotFound("vm")
    if zone_id is not None and all(member.zone_id != zone_id for member in mesh.members):
        raise NotFound("zone")
    return [member.key for member in mesh.members if vm_id in (None, member.id) and zone_id in (None, member.zone_id)]


def _read(spike: StoredSpike, members: dict[int, Member]) -> dict[str, Any]:
    started_at: datetime = utc(spike.started_at_s)
    return {
        "id": f"{spike.started_at_s}-{spike.source_key}-{spike.target_key}",
        "source": end_of(members[spike.source_key]),
        "target": end_of(members[spike.target_key]),
        "started_at": started_at,
        "window_s": spike.window_s,
        "max_ns": spike.max_ns,
        "median_ns": spike.median_ns,
        "rise_ns": spike.max_ns - spike.median_ns,
    }
