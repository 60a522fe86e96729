"""Measurements of the affected paths of an incident: statistics before and during it, usual values, spikes."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.evidence.schemas import (
    EvidenceExchange,
    EvidenceRoundTrip,
    EvidenceSpike,
    EvidenceStatistics,
    EvidenceUsual,
)
from sinemora.fleet.meshes.plan import MeshState, is_client
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.baselines import Basis
from sinemora.measurements.aggregate.matrix import Cells, DistributionTable, Statistic
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, SENT
from sinemora.measurements.codec.unpacking import DIRECTIONS
from sinemora.measurements.query.matrix.baselines import baselines_of
from sinemora.measurements.query.matrix.compute import MeshWindows, read_windows
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.schemas import BASIS_NAMES, SOURCE_NAMES, By
from sinemora.measurements.store import spikes as spike_queries

Path = tuple[int, int]
"""Source and target by position in the mesh."""
_SPIKES_READ, _SPIKES_MAX = 500, 10
_MILLION = 1_000_000


def windows_of(session: Session, mesh: MeshState, paths: Sequence[Path], start: datetime, end: datetime) -> MeshWindows:
    """Return the windows of some paths in a range, merged. ProductError `range_invalid`, `range_too_large`."""
    clients = set()
    for source, target in paths:
        one, other = mesh.members[source].key, mesh.members[target].key
        clients.add(one if is_client(one, other) else other)
    return read_windows(session, mesh, start, end, quantiles_of=DIRECTIONS, vm_keys=clients)


def statistics_of(cells: Cells, path: Path) -> EvidenceStatistics | None:
    """Return the statistics of a path; None where nothing was reported."""
    at, round_at = int(cells.at[path]), int(cells.round_at[path])
    if at == matrix.NONE:
        return None
    columns = cells.one_way.columns[:, at]
    count, sent, lost = (int(columns[which]) for which in (COUNT, SENT, LOST))
    is_counted, has_clock = sent > 0 and lost >= 0, count > 0
    return EvidenceStatistics(
        count=count,
        sent=sent if sent >= 0 else None,
        lost=lost if lost >= 0 else None,
        loss_ppm=min(lost * _MILLION // sent, _MILLION) if is_counted else None,
        min_ns=_delay(cells.one_way, at, Statistic.MIN),
        p50_ns=_delay(cells.one_way, at, Statistic.P50),
        p99_ns=_delay(cells.one_way, at, Statistic.P99),
        max_ns=_delay(cells.one_way, at, Statistic.MAX),
        clock_error_ns=int(columns[CLOCK_ERROR]) if has_clock else None,
        asymmetry_source=SOURCE_NAMES[int(cells.sources[path])] if has_clock else None,
        round_trip=EvidenceRoundTrip(
            count=int(cells.round_trip.columns[COUNT, round_at]),
            p50_ns=_delay(cells.round_trip, round_at, Statistic.P50),
            p99_ns=_delay(cells.round_trip, round_at, Statistic.P99),
        ),
    )


def _delay(table: DistributionTable, at: int, statistic: Statistic) -> int | None:
    one = DistributionTable(table.columns[:, at : at + 1], table.quantiles[:, at : at + 1])
    return int(matrix.statistic_of(one, statistic)[0]) if matrix.has_statistic(one, statistic)[0] else None


def usual_of(session: Session, mesh: MeshState, paths: Sequence[Path], at: datetime) -> list[EvidenceUsual | None]:
    """Return the usual median of each path at a time; None where too little was stored before it."""
    wanted = np.zeros((len(mesh.members),) * 2, np.bool_)
    for path in paths:
        wanted[path] = True
    known = baselines_of(session, mesh, By.VM, at, wanted)
    return [
        None
        if known.basis[path] == Basis.NONE
        else EvidenceUsual(
            p50_ns=round(float(known.level_ns[path])),
            basis=BASIS_NAMES[Basis(int(known.basis[path]))],
            steps=int(known.steps[path]),
        )
        for path in paths
    ]


def spikes_of(
    session: Session, mesh: MeshState, paths: Sequence[Path], start: datetime, end: datetime
) -> list[EvidenceSpike]:
    """Return the largest spikes of some paths or their reverse in a range, with their exchanges, in order of time."""
    members = {member.key: member for member in mesh.members}
    pairs = {frozenset((mesh.members[source].key, mesh.members[target].key)) for source, target in paths}
    keys = sorted({key for pair in pairs for key in pair})
    found = [
        spike
        for spike in spike_queries.spikes(session, mesh.key, start, end, (keys, keys), 0, None, _SPIKES_READ)
        if frozenset((spike.source_key, spike.target_key)) in pairs
    ]
    largest = sorted(found, key=lambda spike: spike.median_ns - spike.max_ns)[:_SPIKES_MAX]
    result = []
    for spike in sorted(largest):
        whole = spike_queries.spike(session, mesh.key, spike.started_at_s, spike.source_key, spike.target_key)
        exchanges = [] if whole is None else frame.decode_evidence(whole.evidence).T.tolist()
        result.append(
            EvidenceSpike.from_row(
                spike,
                source=members[spike.source_key].id,
                target=members[spike.target_key].id,
                window_started_at=utc(spike.started_at_s),
                exchanges=[
                    EvidenceExchange(at_ns=at, outbound_ns=outbound, inbound_ns=inbound)
                    for at, outbound, inbound in exchanges
                ],
            )
        )
    return result
