"""JSON schemas of price bases and of the price difference of a recommendation. Costs are per hour."""

from datetime import datetime
from uuid import UUID

from sinemora.advisors.compute_mix.schemas import ServiceWrite, SplitRead
from sinemora.applications.schemas import Named
from sinemora.kit.schemas import Read
from sinemora.measurements.schemas import Span


class PriceBasisRead(Read):
    """Price basis of an application: recommended moves of its tasks are priced by this service."""

    application: Named
    service: ServiceWrite
    version: int
    updated_at: datetime


class PlacementMixRead(Read):
    """Cheapest mix that keeps the target on the slowest measured path of an application."""

    path: str | None
    outbound_us: float
    inbound_us: float
    budget_ms: float
    paths: int
    paths_measured: int
    vm: str | None
    split: SplitRead | None
    reason: str | None


class ApplicationPriceRead(Read):
    """Mix of one application before and after the moves; `reason` says why there is none to compare."""

    application: Named
    currency: str | None
    statistic: str | None
    before: PlacementMixRead | None
    after: PlacementMixRead | None
    difference_per_hour: float | None
    reason: str | None


class PriceDifferenceRead(Read):
    """Price difference of a recommendation, by the delays of the windows that it was made from."""

    recommendation_id: UUID
    window: Span
    currency: str | None
    difference_per_hour: float | None
    applications: list[ApplicationPriceRead]
