"""Admission of reports: decides which windows are stored, and converts them to rows.

Spools hold reports for days, so meshes and VMs of a report may have changed or been deleted since:

- A window of a deleted mesh, or one older than the retention, is skipped. The other windows of the report are stored.
  A report without any window left is refused.
- A peer that is no VM of the tenant any more is left out of its frame. VMs that only left the mesh stay in: readers
  select by the roster and do not show them.
- A window that ends in the future shows a wrong clock: the whole report is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from sinemora.fleet.inventory.agents import AgentIdentity, ReportNote
from sinemora.kit.errors import ProductError
from sinemora.measurements import metrics
from sinemora.measurements.aggregate import corrections
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import INBOUND, OUTBOUND, Frame
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest.key_cache import TenantKeys
from sinemora.measurements.ingest.report import (
    Report,
    ReportedConnections,
    ReportedHost,
    ReportedSpike,
    ReportedTraffic,
    ReportedWindow,
)
from sinemora.measurements.live.events import WindowSeen
from sinemora.measurements.store.connections import ConnectionRow
from sinemora.measurements.store.corrections import ClockRow
from sinemora.measurements.store.host_waits import HostRow
from sinemora.measurements.store.inserts import FrameRow, SpikeRow
from sinemora.measurements.store.traffic import TrafficRow
from sinemora.measurements.store.traffic_edges import KEPT_DAYS, ServiceWindowRow

FUTURE_TOLERANCE_S = 10
_DAY_S = 86_400


@dataclass(slots=True)
class AdmittedReport:
    """Rows of a report, ready to be stored, and a note on its agent. `skipped` counts the windows without rows."""

    agent: AgentIdentity
    keys: TenantKeys
    note: ReportNote
    frames: list[FrameRow]
    spikes: list[SpikeRow]
    clocks: list[ClockRow]
    seen: list[WindowSeen]
    traffic: list[TrafficRow]
    connections: list[ConnectionRow]
    services: list[ServiceWindowRow]
    host: list[HostRow]
    skipped: int = 0

    @property
    def paths(self) -> int:
        """Number of windows of paths: two for each peer."""
        return 2 * sum(int(row.targets.size) for row in self.frames)

    @property
    def size_bytes(self) -> int:
        """Size of the rows in memory, roughly."""
        frames = sum(len(row.stats) + len(row.sketch) for row in self.frames)
        return (
            frames
            + 100 * (len(self.traffic) + len(self.connections) + sum(len(one.rows) for one in self.services))
            + 500 * len(self.host)
            + 1024
        )


_Results = list[AdmittedReport | ProductError | None]


def admit(reports: Sequence[Report], raw_days: int, *, keys_decide: bool = False) -> _Results:
    """Convert the windows of reports to rows. The result of a report without any window left is a refusal.

    The result is None for a report that names meshes or VMs that its keys lack, as they may be newer. With
    `keys_decide` they are gone.

    ProductError `window_in_future`, `mesh_unknown`, `window_too_old`.
    """
    results: _Results = []
    drafts: list[_Draft] = []
    for report in reports:
        try:
            _check_time(report)
            keys = report.keys
            living = [
                None if window.columns.are_among(keys.vm_keys) else keys.known(window.targets)
                for window in report.windows
            ]
            if not keys_decide and not (
                all(window.mesh_key in keys.meshes for window in report.windows)
                and all(flags is None for flags in living)
            ):
                results.append(None)
                continue
            admitted = _without_windows(report, raw_days)
            drafts += _drafts(admitted, report, living, raw_days)
            results.append(admitted)
        except ProductError as refusal:
            results.append(refusal)
    for draft in drafts:
        _add(draft, _encoded(draft))
    return results


def _check_time(report: Report) -> None:
    """Refuse windows that end in the future. ProductError `window_in_future`."""
    windows: tuple[ReportedWindow | ReportedTraffic | ReportedConnections | ServiceWindowRow | ReportedHost, ...]
    windows = (*report.windows, *report.traffic, *report.connections, *report.services, *report.host)
    for window in windows:
        ahead_s = window.started_at_s + window.window_s - report.at_s
        if ahead_s > FUTURE_TOLERANCE_S:
            raise ProductError(
                "window_in_future",
                422,
                f"The window from {_iso(window.started_at_s)} ends {ahead_s:.0f} s after the time of this server,"
                f" {_iso(report.at_s)}. The agent must take its windows from server_time_ns of its plan:"
                " let it fetch its plan, or check the clocks of both machines.",
                skew_s=round(ahead_s, 3),
                server_time=_iso(report.at_s),
            )


def _without_windows(report: Report, raw_days: int) -> AdmittedReport:
    """Return the rows of a report without those of its windows of meshes."""
    window_s = max((window.window_s for window in report.windows), default=10)
    at = datetime.fromtimestamp(report.at_s, UTC)
    note = ReportNote(report.agent.agent_id, at, report.health, report.agent_version, window_s)
    traffic, connections = _traffic(report, raw_days), _connections(report, raw_days)
    return AdmittedReport(
        report.agent,
        report.keys,
        note,
        [],
        [],
        [],
        [],
        traffic,
        connections,
        _services(report),
        _host(report, raw_days),
    )


def _connections(report: Report, raw_days: int) -> list[ConnectionRow]:
    """Convert windows of connections to rows, without those that are too old to be kept."""
    oldest_s = report.at_s - raw_days * _DAY_S
    return [
        ConnectionRow(
            report.agent.tenant_key,
            report.agent.vm_key,
            window.started_at_s,
            peer.vm_key,
            peer.connections,
            peer.segments_sent,
            peer.segments_retransmitted,
            peer.timeouts,
            peer.timeouts_in_band,
            peer.stalled_ms,
            peer.rto_us,
        )
        for window in report.connections
        if window.started_at_s >= oldest_s
        for peer in window.peers
    ]


def _services(report: Report) -> list[ServiceWindowRow]:
    """Return windows of services, without those too old to be kept; none for a tenant that does not ask for them."""
    oldest_s = report.at_s - KEPT_DAYS * _DAY_S
    return [one for one in report.services if report.keys.service_traffic and one.started_at_s >= oldest_s]


def _host(report: Report, raw_days: int) -> list[HostRow]:
    """Convert windows of waits to rows, without those that are too old to be kept."""
    oldest_s = report.at_s - raw_days * _DAY_S
    return [
        HostRow(report.agent.tenant_key, report.agent.vm_key, one.started_at_s, one.window_s, one.values)
        for one in report.host
        if one.started_at_s >= oldest_s
    ]


def _traffic(report: Report, raw_days: int) -> list[TrafficRow]:
    """Convert windows of traffic to rows, without those that are too old to be kept."""
    oldest_s = report.at_s - raw_days * _DAY_S
    return [
        TrafficRow(
            report.agent.tenant_key,
            report.agent.vm_key,
            one.started_at_s,
            one.window_s,
            one.elapsed_ns // 1_000_000,
            one.interface,
            one.bytes_sent,
            one.packets_sent,
            one.bytes_received,
            one.packets_received,
        )
        for one in report.traffic
        if one.started_at_s >= oldest_s
    ]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A window to be stored, and which of its targets are VMs of the tenant (None for all)."""

    admitted: AdmittedReport
    report: Report
    window: ReportedWindow
    living: npt.NDArray[np.bool_] | None
    targets: Ints


def _drafts(
    admitted: AdmittedReport, report: Report, living_targets: list[npt.NDArray[np.bool_] | None], raw_days: int
) -> list[_Draft]:
    drafts = []
    refusals: list[ProductError] = []
    for window, living in zip(report.windows, living_targets, strict=True):
        mesh = report.keys.meshes.get(window.mesh_key)
        if mesh is None:
            refusals.append(
                ProductError(
                    "mesh_unknown",
                    404,
                    f"This tenant has no mesh with key {window.mesh_key}. It may have been deleted:"
                    " let the agent fetch its plan.",
                    mesh_key=window.mesh_key,
                )
            )
        elif window.started_at_s < report.at_s - raw_days * _DAY_S:
            refusals.append(
                ProductError(
                    "window_too_old",
                    422,
                    f"The window from {_iso(window.started_at_s)} is older than the {raw_days} days that are kept.",
                    started_at=_iso(window.started_at_s),
                )
            )
        else:
            targets = window.targets if living is None else window.targets[living]
            drafts.append(_Draft(admitted, report, window, living, targets))
            admitted.seen.append(WindowSeen(mesh, window.started_at_s, window.window_s))
    if refusals and not drafts:
        raise refusals[0]
    for refusal in refusals:
        metrics.WINDOWS_SKIPPED.labels(refusal.code).inc()
    admitted.skipped = len(refusals)
    return drafts


_Blocks = list[tuple[bytes, bytes]]


def _encoded(draft: _Draft) -> _Blocks:
    """Return stats and sketches of each block."""
    if draft.living is None and (blocks := draft.window.columns.blocks()) is not None:
        return blocks
    return [(stats, sketches) for _, stats, sketches in _frame(draft).encoded()]


def _frame(draft: _Draft) -> Frame:
    window, vm_key = draft.window, draft.report.agent.vm_key
    if draft.living is None:
        return Frame(vm_key, draft.targets, window.stats, window.sketches)
    kept = np.flatnonzero(draft.living)
    return Frame(vm_key, draft.targets, window.stats.take(kept), window.sketches.take(kept))


def _add(draft: _Draft, blocks: _Blocks) -> None:
    admitted, report, window, targets = draft.admitted, draft.report, draft.window, draft.targets
    tenant_key, vm_key = report.agent.tenant_key, report.agent.vm_key
    if window.clocks is not None and (clocks := _clocks(window, draft.living)) is not None:
        row = ClockRow(tenant_key, window.mesh_key, vm_key, window.started_at_s, window.window_s, clocks)
        admitted.clocks.append(row)
    if targets.size < window.targets.size:
        metrics.PEERS_DROPPED.inc(window.targets.size - targets.size)
        if not targets.size:
            return
    metrics.PAIR_WINDOWS.inc(targets.size)
    if window.columns.clamped:
        metrics.NUMBERS_CLAMPED.inc(window.columns.clamped)
    notes = window.peer_notes
    if notes is not None and draft.living is not None:
        notes = notes[:, draft.living]
    admitted.frames.extend(
        FrameRow(
            tenant_key,
            window.mesh_key,
            window.started_at_s,
            vm_key,
            number,
            window.window_s,
            targets[number * frame.TARGETS_MAX : (number + 1) * frame.TARGETS_MAX],
            *block,
            window.timestamp_source,
            None if notes is None else notes[:, number * frame.TARGETS_MAX : (number + 1) * frame.TARGETS_MAX].tolist(),
        )
        for number, block in enumerate(blocks)
    )
    for spike in window.spikes:
        if spike.peer_key in targets:
            admitted.spikes.append(_spike(window, spike, tenant_key, vm_key))


def _clocks(window: ReportedWindow, living: npt.NDArray[np.bool_] | None) -> bytes | None:
    """Encode the clocks of the peers that are VMs; None when no clock is known."""
    clocks = window.clocks
    if clocks is None:
        return None
    error_ns = clocks.error_ns if living is None else np.where(living, clocks.error_ns, -1)
    table = corrections.table_of(window.targets, clocks.offset_ns, error_ns, clocks.skew_ppb, window.stats)
    return corrections.encode_clocks(table) if table.size else None


def _spike(window: ReportedWindow, spike: ReportedSpike, tenant_key: int, vm_key: int) -> SpikeRow:
    """Return the row of a spike, in the direction whose largest delay is farther above the median of its window."""
    at = int(np.searchsorted(window.targets, spike.peer_key))
    quantiles = window.columns.quantiles()
    candidates = []
    for direction, delays in ((OUTBOUND, spike.outbound_ns), (INBOUND, spike.inbound_ns)):
        code = int(quantiles[0, direction, at])
        median = int(llq16.VALUE_OF_BIN[code - 1]) if code else int(np.median(delays))
        candidates.append((int(delays.max()), median, direction))
    highest, median, direction = max(candidates, key=lambda candidate: candidate[0] - candidate[1])
    ends = (vm_key, spike.peer_key)
    source, target = ends if direction == OUTBOUND else ends[::-1]
    # Delays as source to target: the exchange's inbound is the other one's outbound.
    forth, back = (spike.outbound_ns, spike.inbound_ns)[:: 1 if direction == OUTBOUND else -1]
    return SpikeRow(
        tenant_key,
        window.mesh_key,
        window.started_at_s,
        source,
        target,
        window.window_s,
        highest,
        median,
        frame.encode_evidence(np.stack((spike.at_ns, forth, back))),
    )


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
