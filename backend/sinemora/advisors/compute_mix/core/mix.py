"""Compute mix of a service: limits of utilisation from the response budget, then the cheapest split by VM type."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.advisors.compute_mix.core.queueing import Service, Target, serverless_response_s, utilisation_limit
from sinemora.advisors.compute_mix.core.split import Prices, Regime, Split, cheapest, serverless_only, vm_only

CHART_POINTS = 121


@dataclass(frozen=True, slots=True)
class VmType:
    """VM type: name, price per hour, service time of one job on it."""

    name: str
    price_per_hour: float
    service: Service


@dataclass(frozen=True, slots=True)
class Serverless:
    """Serverless offer: service time, price of a job, and the share of jobs that waits `cold_s` for a cold start."""

    service: Service
    job_price: float
    cold_share: float = 0.0
    cold_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Option:
    """Cheapest split with one VM type, and the splits with VMs or serverless alone, where possible."""

    vm: VmType
    utilisation_max: float
    prices: Prices
    split: Split
    vms_alone: Split | None
    serverless_alone: Split | None

    @property
    def saving_per_hour(self) -> float | None:
        """Cost below the cheaper of VMs alone and serverless alone; None where neither keeps the target."""
        alone = [split.cost_per_hour for split in (self.vms_alone, self.serverless_alone) if split is not None]
        return max(min(alone) - self.split.cost_per_hour, 0.0) if alone else None


@dataclass(frozen=True, slots=True)
class Mix:
    """Options by VM type for one network delay; `budget_s` is the response target less that delay.

    `serverless_response_s` is the statistic of the target for serverless, without the network.
    """

    network_s: float
    budget_s: float
    serverless_response_s: float | None
    options: tuple[Option, ...]

    @property
    def best(self) -> Option | None:
        """Cheapest option; None if none keeps the target."""
        feasible = [option for option in self.options if option.split.regime is not Regime.INFEASIBLE]
        return min(feasible, key=lambda option: option.split.cost_per_hour, default=None)


@dataclass(frozen=True, slots=True)
class CostCurve:
    """Costs per hour by load (jobs/s): the cheapest split, VMs alone, serverless alone; None where not possible."""

    load_per_s: list[float]
    mix: list[float]
    vms_alone: list[float] | None
    serverless_alone: list[float] | None


def mix(
    load_per_s: float,
    target: Target,
    vm_types: Sequence[VmType],
    serverless: Serverless | None,
    network_s: float = 0.0,
) -> Mix:
    """Return the cheapest split of a load for each VM type when the network takes `network_s` of the target."""
    budget = Target(target.response_s - network_s, target.percentile)
    response: float | None = None
    job_price: float | None = None
    if serverless is not None:
        response = serverless_response_s(
            serverless.service, serverless.cold_share, serverless.cold_s, target.percentile
        )
        job_price = serverless.job_price if response <= budget.response_s else None
    options = []
    for vm in vm_types:
        limit = utilisation_limit(vm.service, budget)
        prices = Prices(limit * vm.service.rate_per_s, vm.price_per_hour, job_price)
        options.append(
            Option(
                vm,
                limit,
                prices,
                cheapest(load_per_s, prices),
                vm_only(load_per_s, prices),
                serverless_only(load_per_s, prices),
            )
        )
    return Mix(network_s, budget.response_s, response, tuple(options))


def cost_curve(option: Option, load_max_per_s: float) -> CostCurve:
    """Return the costs of an option from no load to `load_max_per_s`."""
    loads = np.linspace(0, load_max_per_s, CHART_POINTS).tolist()
    prices = option.prices
    return CostCurve(
        loads,
        [cheapest(load, prices).cost_per_hour for load in loads],
        None if option.vms_alone is None else [_cost(vm_only(load, prices)) for load in loads],
        None if option.serverless_alone is None else [prices.serverless_cost(load) for load in loads],
    )


def _cost(split: Split | None) -> float:
    return float("inf") if split is None else split.cost_per_hour
