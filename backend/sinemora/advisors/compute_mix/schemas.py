"""JSON schemas of the compute mix and of the provider's prices. Loads are jobs per second, prices per hour."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.advisors.compute_mix.core.queueing import VARIATION_MAX
from sinemora.advisors.compute_mix.core.split import Regime
from sinemora.advisors.compute_mix.price_schemas import Line, PositivePrice, Price
from sinemora.kit.schemas import Read, Write

PATHS_MAX = 10
VM_TYPES_MAX = 50
HOURS_MAX = 168
Load = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
PositiveLoad = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Milliseconds = Annotated[float, Field(gt=0, le=3.6e6, allow_inf_nan=False)]
Variation = Annotated[
    float,
    Field(
        ge=0,
        le=VARIATION_MAX,
        allow_inf_nan=False,
        description="Squared coefficient of variation of the service time: 0 is constant, 1 exponential",
    ),
]
Reference = Annotated[str, Field(min_length=1, max_length=100, description="Name or id")]
DelayStatistic = Literal["mean", "p50", "p90", "p95", "p99", "p999"]


class TargetWrite(Write):
    """Response target: the mean, or `percentile` of the responses, within `response_ms`."""

    response_ms: Milliseconds
    percentile: Annotated[float, Field(ge=50, le=99.9)] | None = None


class VmTypeWrite(Write):
    """VM type. Without `price_per_hour`, the price of this name in `price_list_id`."""

    name: Line
    service_ms: Annotated[Milliseconds, Field(description="Mean time of one job on an idle VM")]
    variation: Variation = 1.0
    price_per_hour: PositivePrice | None = None


class ServerlessWrite(Write):
    """Serverless offer, priced by memory and busy time, by the busy hour, or as in a price list."""

    name: Line | None = None
    service_ms: Milliseconds
    variation: Variation = 1.0
    memory_gb: Annotated[float, Field(gt=0, le=100_000)] = 1.0
    price_per_gb_second: Price | None = None
    price_per_busy_hour: Price | None = None
    price_per_million_requests: Price | None = None
    cold_share: Annotated[float, Field(ge=0, le=1, description="Share of jobs that wait for a cold start")] = 0.0
    cold_ms: Annotated[float, Field(ge=0, le=3.6e6)] = 0.0
    cold_billed: Annotated[bool, Field(description="The time of a cold start is paid for")] = True


class PathWrite(Write):
    """Path between client and service: two VMs of `mesh`, or known one-way delays."""

    label: Line | None = None
    source: Reference | None = None
    target: Reference | None = None
    outbound_us: Annotated[float, Field(ge=0, le=6e7)] | None = None
    inbound_us: Annotated[float, Field(ge=0, le=6e7)] | None = None

    @model_validator(mode="after")
    def _measured_or_known(self) -> Self:
        ends = (self.source is not None) + (self.target is not None)
        delays = (self.outbound_us is not None) + (self.inbound_us is not None)
        if (ends, delays) not in ((2, 0), (0, 2)):
            raise ValueError("give `source` and `target`, or `outbound_us` and `inbound_us`")
        return self


class ServiceWrite(Write):
    """Load of a service, its response target, and what may carry it."""

    load_per_s: Load
    target: TargetWrite
    vm_types: Annotated[list[VmTypeWrite], Field(min_length=1, max_length=VM_TYPES_MAX)]
    serverless: ServerlessWrite | None = None
    price_list_id: UUID | None = None


class ComputeMixCreate(ServiceWrite):
    """Question for the cheapest mix. Of several paths the first is the base of comparison."""

    mesh: Reference | None = None
    paths: Annotated[list[PathWrite], Field(max_length=PATHS_MAX)] = []  # noqa: RUF012
    statistic: Annotated[DelayStatistic | None, Field(description="Of the delays; null: that of the target")] = None
    minutes: Annotated[int, Field(ge=2, le=1440, description="Look-back of measured delays")] = 60
    hourly_load_per_s: Annotated[list[Load], Field(max_length=HOURS_MAX)] = []  # noqa: RUF012
    term_h: Annotated[int, Field(ge=1, le=8760, description="Minimum term of a rented VM, hours")] = 1

    @model_validator(mode="after")
    def _mesh_of_paths(self) -> Self:
        if self.mesh is None and any(path.source is not None for path in self.paths):
            raise ValueError("paths between VMs need `mesh`")
        return self


class SplitRead(Read):
    """VMs, load to serverless (jobs/s) and cost per hour."""

    vms: int
    serverless_per_s: float
    cost_per_hour: float
    regime: Regime


class VmOptionRead(Read):
    """Cheapest split with one VM type."""

    vm: str
    price_per_hour: float
    utilisation_max: float
    capacity_per_s: float
    break_even_per_s: float | None
    split: SplitRead | None
    vms_alone: SplitRead | None
    serverless_alone: SplitRead | None
    saving_per_hour: float | None


class CostCurveRead(Read):
    """Costs per hour by load, of the best VM type."""

    vm: str
    load_per_s: list[float]
    mix: list[float]
    vms_alone: list[float] | None
    serverless_alone: list[float] | None


class HourRead(Read):
    """One hour of the profile."""

    load_per_s: float
    vms: int
    serverless_per_s: float
    cost: float


class ProfileRead(Read):
    """Cheapest split through the profile with the best VM type; the other costs are those of one resource alone."""

    vm: str
    term_h: int
    cost: float
    vms_alone_cost: float | None
    serverless_alone_cost: float | None
    hours: list[HourRead]


class PathMixRead(Read):
    """Mix for one path."""

    label: str
    outbound_us: float
    inbound_us: float
    statistic: str | None
    budget_ms: float
    serverless_response_ms: float | None
    best: str | None
    reason: str | None
    options: list[VmOptionRead]
    difference_per_hour: float | None
    curve: CostCurveRead | None
    profile: ProfileRead | None


class ComputeMixRead(Read):
    """Mixes by path, in the order of the request; without paths, one without a network delay."""

    currency: str | None
    job_price: float | None
    paths: list[PathMixRead]


class ProviderPriceCreate(Write):
    """Market of one load: rates in jobs per second, prices and costs per hour."""

    load_per_s: PositiveLoad
    vm_rate_per_s: Annotated[float, Field(gt=0, le=1e9)]
    serverless_rate_per_s: Annotated[float, Field(gt=0, le=1e9)]
    vm_price_per_hour: PositivePrice = 1.0
    vm_cost_per_hour: Annotated[Price, Field(description="Provider's cost of a VM: a guess")]
    utilisation_max: Annotated[float, Field(gt=0, le=1)]

    @model_validator(mode="after")
    def _loads_of_a_size(self) -> Self:
        if self.load_per_s > 1e6 * self.utilisation_max * self.vm_rate_per_s:
            raise ValueError("`load_per_s` needs more than a million VMs; check the units")
        return self


class PeakRead(Read):
    """Best price of a regime for the provider, with the tenant's split and bill per hour."""

    regime: Regime
    price_per_busy_hour: float
    profit_per_hour: float
    split: SplitRead


class ProviderPriceRead(Read):
    """Provider's profit by the price of a busy container."""

    switch_to_mixed: float
    switch_to_vms: float | None
    peaks: list[PeakRead]
    equilibrium: PeakRead
    price_per_busy_hour: list[float]
    profit_per_hour: list[float]
    tenant_cost_per_hour: list[float]
