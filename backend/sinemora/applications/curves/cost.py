"""Performance cost of added latency, alone and on top of measured round trips."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications.curves.catalogue import CatalogueEntry
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.variable import WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS, excess_us, under_variance
from sinemora.applications.curves.schemas import CostRead, MeasuredCost, PerformanceRead, Waiting
from sinemora.kit.errors import ProductError
from sinemora.measurements.query.series.round_trips import RoundTrips, round_trips
from sinemora.measurements.schemas import By, Span

_WAITS = {Waiting.ROUNDS: WAITS_SYNCHRONOUS, Waiting.REQUESTS: WAITS_CLOSED_LOOP}
_VALUES = 1_000
_PERCENTILES = np.arange(101) / 100


@dataclass(frozen=True, slots=True)
class Where:
    """Path or pair of zones whose round trips count, in the newest windows or from `start` to `end`."""

    mesh_id: UUID
    by: By
    source_id: UUID
    target_id: UUID
    start: datetime | None
    end: datetime | None


def where(
    mesh_id: UUID | None,
    vms: tuple[UUID | None, UUID | None],
    zones: tuple[UUID | None, UUID | None],
    start: datetime | None,
    end: datetime | None,
) -> Where | None:
    """Return the selected path or zones, None without any. ProductError `path_incomplete`, `range_invalid`."""
    if (start is None) != (end is None):
        raise ProductError("range_invalid", 422, "Invalid range: set both `from` and `to`, or neither.")
    for by, (source, target), other in ((By.VM, vms, zones), (By.ZONE, zones, vms)):
        if mesh_id and source and target and other == (None, None):
            return Where(mesh_id, by, source, target, start, end)
    if mesh_id is None and vms == zones == (None, None):
        return None
    raise ProductError(
        "path_incomplete",
        422,
        "Incomplete path: give mesh_id with source_vm_id and target_vm_id, or with source_zone_id and target_zone_id.",
    )


def cost(
    session: Session,
    entry: CatalogueEntry,
    added_us: float,
    reference_us: float | None,
    waiting: Waiting | None,
    at: Where | None,
) -> CostRead:
    """Return performance with `added_us` more. ProductError `mesh_unknown`, `path_unknown`, `range_too_large`."""
    reference_source = entry.reference_source if reference_us is None else None
    reference_us = entry.reference_us if reference_us is None else reference_us
    waiting = waiting or entry.waiting
    measured = None
    if at is not None:
        trips = round_trips(session, at.mesh_id, at.by, at.source_id, at.target_id, at.start, at.end)
        measured = _measured(entry, trips, at.mesh_id, added_us, reference_us, _WAITS[waiting])
    return CostRead(
        curve_id=entry.id,
        number=entry.number,
        added_us=added_us,
        reference_us=reference_us,
        reference_source=reference_source,
        waiting=waiting,
        alone=_alone(entry, added_us),
        measured=measured,
    )


def _alone(entry: CatalogueEntry, added_us: float) -> PerformanceRead:
    beyond = added_us > entry.curve.end_us
    low, high = (float(part(added_us)) for part in (entry.band.low, entry.band.high))
    return PerformanceRead(
        performance=float(entry.curve(added_us)),
        low=0.0 if beyond else low,
        high=high,
        extrapolated=beyond,
    )


def _measured(
    entry: CatalogueEntry, trips: RoundTrips, mesh_id: UUID, added_us: float, reference_us: float, waits: float
) -> MeasuredCost:
    read = MeasuredCost.from_row(
        trips,
        mesh_id=mesh_id,
        window=Span(from_=trips.started_at, to=trips.ended_at),
        percentiles_ns=None,
        excess_us=None,
        now=None,
        then=None,
        change=None,
    )
    if not trips.count:
        return read
    round_trips_us = trips.quantiles_ns(((np.arange(_VALUES) + 0.5) / _VALUES).tolist()) / 1e3
    read.percentiles_ns = trips.quantiles_ns(_PERCENTILES.tolist()).tolist()
    read.excess_us = excess_us(round_trips_us, waits)
    median_us = float(np.median(round_trips_us)) - reference_us
    read.now = _under(entry, median_us, round_trips_us, waits)
    read.then = _under(entry, median_us + added_us, round_trips_us, waits)
    read.change = read.then.performance / read.now.performance - 1
    return read


def _under(entry: CatalogueEntry, median_us: float, round_trips_us: Floats, waits: float) -> PerformanceRead:
    """Return performance at a median (µs over the reference) with the variance of these round trips.

    The band is that of the curve at the median, widened by the uncertainty of the variance's effect.
    """
    median_us = max(median_us, 0.0)
    estimate = under_variance(entry.curve, median_us, round_trips_us, waits)
    static = (float(entry.band.low(median_us)), float(entry.band.high(median_us)))
    return PerformanceRead(
        performance=estimate.performance,
        low=0.0 if estimate.extrapolated else static[0] * estimate.factor_low,
        high=min(1.0, static[1] * estimate.factor_high),
        extrapolated=estimate.extrapolated,
    )
