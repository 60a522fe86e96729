"""Waits on a VM over time, by the timestamps and counters of its agent."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.inventory.service import get_vm
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import QueryRequest
from sinemora.measurements.query.responses import StallRead, VmHostWaitsRead, WaitSeries
from sinemora.measurements.query.scan import range_of, step_of
from sinemora.measurements.query.vms.traffic import WINDOW_S
from sinemora.measurements.store import host_waits
from sinemora.measurements.store.host_waits import HostStep

STALLS_MAX = 500
_Steps = Sequence[HostStep | None]


def vm_host_waits(
    session: Session, vm_id: UUID, start: datetime | None, end: datetime | None, points: int
) -> VmHostWaitsRead:
    """Return the waits on a VM in a range, in at most `points` steps.

    ProductError `vm_unknown`, `range_invalid`.
    """
    vm = get_vm(session, vm_id)
    time_range = range_of(QueryRequest.model_validate({"from": start, "to": end}))
    step_s = step_of(WINDOW_S, time_range, points)
    aligned = time_range.aligned(step_s)
    first, size = aligned.steps(step_s)
    by_step = {
        step.started_at_s: step for step in host_waits.steps(session, [vm.key], aligned.start, aligned.end, step_s)
    }
    at_s = [(first + step) * step_s for step in range(size)]
    found = [by_step.get(one) for one in at_s]
    stalls = host_waits.stalls(session, [vm.key], aligned.start, aligned.end, STALLS_MAX)
    return VmHostWaitsRead(
        vm_id=vm_id,
        window=time_range.span,
        resolution_s=step_s,
        points_at=[utc(one) for one in at_s],
        wake=_series(found, "wake"),
        receive=_series(found, "receive"),
        send=_series(found, "send"),
        queue=_series(found, "queue"),
        stalled_ratio=_ratios(found, lambda one: one.stalled_us),
        steal_ratio=_ratios(found, _stolen_us),
        pressure_ratio=_ratios(found, lambda one: one.counts["pressure_us"]),
        throttled_ratio=_ratios(found, lambda one: one.counts["throttled_us"]),
        softirq_squeezed=[one and one.counts["softirq_squeezed"] for one in found],
        receive_drops=[one and one.counts["receive_drops"] for one in found],
        stalls=[StallRead(at=_moment(stall.at_ns), length_us=stall.length_ns // 1_000) for stall in stalls],
    )


def _series(steps: _Steps, wait: str) -> WaitSeries:
    count, p50_us, p99_us, max_us = ([one and one.waits[wait][at] for one in steps] for at in range(4))
    return WaitSeries(count=count, p50_us=p50_us, p99_us=p99_us, max_us=max_us)


def _stolen_us(step: HostStep) -> float | None:
    """Return the stolen time of one processor, us."""
    stolen_ms = step.counts["steal_ms"]
    return None if stolen_ms is None or not step.processors else 1e3 * stolen_ms / step.processors


def _ratios(steps: _Steps, us: Callable[[HostStep], float | None]) -> list[float | None]:
    """Return shares of the time that was counted. Two readings are not of one moment, so none exceeds 1."""
    return [_ratio(us(step), step.elapsed_ms) if step else None for step in steps]


def _ratio(us: float | None, elapsed_ms: int) -> float | None:
    return None if us is None else round(min(us / (1e3 * elapsed_ms), 1.0), 6)


def _moment(at_ns: int) -> datetime:
    return utc(0) + timedelta(microseconds=at_ns // 1_000)
