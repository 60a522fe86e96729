"""Traffic of a VM over time: rates of its network interface, by the counters of its agent."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.inventory.service import get_vm
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import QueryRequest
from sinemora.measurements.query.responses import VmTrafficRead
from sinemora.measurements.query.scan import range_of, step_of
from sinemora.measurements.store import traffic
from sinemora.measurements.store.traffic import TrafficStep

WINDOW_S = 10
"""Window in which agents count."""
_BITS = 8.0


def vm_traffic(
    session: Session, vm_id: UUID, start: datetime | None, end: datetime | None, points: int
) -> VmTrafficRead:
    """Return the traffic of a VM in a range, in at most `points` steps.

    ProductError `vm_unknown`, `range_invalid`.
    """
    vm = get_vm(session, vm_id)
    time_range = range_of(QueryRequest.model_validate({"from": start, "to": end}))
    step_s = step_of(WINDOW_S, time_range, points)
    aligned = time_range.aligned(step_s)
    first, size = aligned.steps(step_s)
    by_step = {step.started_at_s: step for step in traffic.steps(session, vm.key, aligned.start, aligned.end, step_s)}
    at_s = [(first + step) * step_s for step in range(size)]
    found = [by_step.get(one) for one in at_s]
    return VmTrafficRead(
        vm_id=vm_id,
        window=time_range.span,
        interface=traffic.interface(session, vm.key, aligned.start, aligned.end),
        resolution_s=step_s,
        points_at=[utc(one) for one in at_s],
        sent_bit_per_s=_each(found, lambda one: _BITS * _per_s(one.bytes_sent, one)),
        received_bit_per_s=_each(found, lambda one: _BITS * _per_s(one.bytes_received, one)),
        sent_packets_per_s=_each(found, lambda one: _per_s(one.packets_sent, one)),
        received_packets_per_s=_each(found, lambda one: _per_s(one.packets_received, one)),
        peak_sent_bit_per_s=_each(found, lambda one: _BITS * one.peak_sent),
        peak_received_bit_per_s=_each(found, lambda one: _BITS * one.peak_received),
    )


def _each(steps: Sequence[TrafficStep | None], rate: Callable[[TrafficStep], float]) -> list[float | None]:
    return [None if step is None else round(rate(step), 3) for step in steps]


def _per_s(count: int, step: TrafficStep) -> float:
    """Return a rate over the time that was counted, which may be less than the step."""
    return 1e3 * count / step.elapsed_ms
