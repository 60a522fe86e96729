"""Admission of reports: decides which windows are stored, and converts them to rows.

Spools hold reports for days, so meshes and VMs of a report may have changed or been deleted since:

- A window of a deleted mesh, or one older than the retention, is skipped. The other windows of the report are stored.
  A report without any window left is refused.
- A peer that is no VM of the tenant any more is left out of its frame. VMs that only left the mesh stay in: readers
  select by the roster and do not show them.
- A window that ends in the future shows a wrong clock: the whole report is refused.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from sinemora.kit.errors import ProductError
from sinemora.measurements import metrics
from sinemora.measurements.aggregate import corrections
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import INBOUND, OUTBOUND, Frame, Stats
from sinemora.measurements.ingest.key_cache import TenantKeys
from sinemora.measurements.ingest.validation import Spike, Window
from sinemora.measurements.live.events import WindowSeen
from sinemora.measurements.store.corrections import ClockRow
from sinemora.measurements.store.inserts import FrameRow, SpikeRow, rows_of

FUTURE_TOLERANCE_S = 10
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Admitted:
    """Rows of a report, ready to be stored. `skipped` counts the windows without rows."""

    frames: list[FrameRow]
    spikes: list[SpikeRow]
    clocks: list[ClockRow]
    seen: list[WindowSeen]
    skipped: int


def check_time(windows: list[Window], now_s: float) -> None:
    """Refuse windows that end in the future. ProductError `window_in_future`."""
    for window in windows:
        ahead_s = window.started_at_s + window.window_s - now_s
        if ahead_s > FUTURE_TOLERANCE_S:
            raise ProductError(
                "window_in_future",
                422,
                f"The window from {_iso(window.started_at_s)} ends {ahead_s:.0f} s after the time of this server,"
                f" {_iso(now_s)}. The agent must take its windows from server_time_ns of its plan:"
                " let it fetch its plan, or check the clocks of both machines.",
                skew_s=round(ahead_s, 3),
                server_time=_iso(now_s),
            )


def admit(
    windows: list[Window], tenant_key: int, vm_key: int, keys: TenantKeys, now_s: float, raw_days: int
) -> Admitted:
    """Convert the windows of a report to rows. ProductError `mesh_unknown`, `window_too_old` when none is left."""
    admitted = Admitted([], [], [], [], 0)
    refusals: list[ProductError] = []
    for window in windows:
        mesh = keys.meshes.get(window.mesh_key)
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
        elif window.started_at_s < now_s - raw_days * _DAY_S:
            refusals.append(
                ProductError(
                    "window_too_old",
                    422,
                    f"The window from {_iso(window.started_at_s)} is older than the {raw_days} days that are kept.",
                    started_at=_iso(window.started_at_s),
                )
            )
        else:
            _add(admitted, window, tenant_key, vm_key, keys)
            admitted.seen.append(WindowSeen(mesh, window.started_at_s, window.window_s))
    if refusals and not admitted.seen:
        raise refusals[0]
    for refusal in refusals:
        metrics.WINDOWS_SKIPPED.labels(refusal.code).inc()
    return Admitted(admitted.frames, admitted.spikes, admitted.clocks, admitted.seen, len(refusals))


def _add(admitted: Admitted, window: Window, tenant_key: int, vm_key: int, keys: TenantKeys) -> None:
    whole = Frame(vm_key, window.targets, window.stats, window.sketches)
    living = keys.known(window.targets)
    if window.clocks is not None and (clocks := _clocks(window, whole.stats, living)) is not None:
        row = ClockRow(tenant_key, window.mesh_key, vm_key, window.started_at_s, window.window_s, clocks)
        admitted.clocks.append(row)
    if not living.all():
        metrics.PEERS_DROPPED.inc(int(np.count_nonzero(~living)))
        kept = np.flatnonzero(living)
        if not kept.size:
            return
        whole = Frame(vm_key, whole.targets[kept], whole.stats.take(kept), whole.sketches.take(kept))
    metrics.PAIR_WINDOWS.inc(whole.targets.size)
    if window.clamped:
        metrics.NUMBERS_CLAMPED.inc(window.clamped)
    admitted.frames.extend(rows_of(whole, tenant_key, window.mesh_key, window.started_at_s, window.window_s))
    for spike in window.spikes:
        at = int(np.searchsorted(whole.targets, spike.peer_key))
        if at < whole.targets.size and whole.targets[at] == spike.peer_key:
            admitted.spikes.append(_spike(window, spike, whole, at, tenant_key))


def _clocks(window: Window, stats: Stats, living: npt.NDArray[np.bool_]) -> bytes | None:
    """Encode the clocks of the peers that are VMs; None when no clock is known."""
    clocks = window.clocks
    if clocks is None:
        return None
    error_ns = np.where(living, clocks.error_ns, -1)
    table = corrections.table_of(window.targets, clocks.offset_ns, error_ns, clocks.skew_ppb, stats)
    return corrections.encode(table) if table.size else None


def _spike(window: Window, spike: Spike, whole: Frame, at: int, tenant_key: int) -> SpikeRow:
    """Return the row of a spike, in the direction whose largest delay is farther above the median of its window."""
    candidates = []
    for direction, delays in ((OUTBOUND, spike.outbound_ns), (INBOUND, spike.inbound_ns)):
        code = int(whole.stats.quantiles[0, direction, at])
        median = int(llq16.VALUE_OF_BIN[code - 1]) if code else int(np.median(delays))
        candidates.append((int(delays.max()), median, direction))
    highest, median, direction = max(candidates, key=lambda candidate: candidate[0] - candidate[1])
    ends = (whole.vm_key, spike.peer_key)
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
