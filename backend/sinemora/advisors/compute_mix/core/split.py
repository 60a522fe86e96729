"""Cheapest split of a load between VMs of one type and serverless.

The load is split at random, so each VM is an M/G/1 queue that takes at most its capacity (utilisation limit times
service rate), and serverless is an M/G/∞ queue. Source: K. Mahajan, "Next Generation Cloud Computing Architectures:
Performance and Pricing", Columbia University, 2021, equations 4.1 to 4.3, with a price per job in place of a price per
container, so that request fees and cold starts count.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor

# Loads that differ by less from a multiple of the capacity count as that multiple.
_ROUNDING = 1e-9


class Regime(StrEnum):
    """Kind of an optimal split. `infeasible`: neither VMs nor serverless keep the target."""

    SERVERLESS_ONLY = "serverless_only"
    MIXED = "mixed"
    VM_ONLY = "vm_only"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True)
class Prices:
    """Capacity of a VM (jobs/s; 0 if it misses the target), its price per hour, and the price of a serverless job.

    `job_price` is None where serverless misses the target or is not offered.
    """

    capacity_per_s: float
    vm_price_per_hour: float
    job_price: float | None

    @property
    def break_even_per_s(self) -> float | None:
        """Load at which serverless costs as much as one VM (L_s of the source); None without serverless or for free."""
        return self.vm_price_per_hour / (3600 * self.job_price) if self.job_price else None

    def serverless_cost(self, load_per_s: float) -> float:
        """Return the cost per hour of serving a load by serverless; infinite where it is not possible."""
        if load_per_s <= 0:
            return 0.0
        return float("inf") if self.job_price is None else 3600 * self.job_price * load_per_s


@dataclass(frozen=True, slots=True)
class Split:
    """Number of VMs, load to serverless (jobs/s), cost per hour and regime."""

    vms: int
    serverless_per_s: float
    cost_per_hour: float
    regime: Regime


def vms_for(load_per_s: float, capacity_per_s: float) -> int:
    """Return the number of VMs that take a load alone."""
    return ceil(load_per_s / capacity_per_s - _ROUNDING)


def vm_only(load_per_s: float, prices: Prices) -> Split | None:
    """Return the split with VMs alone; None where a VM misses the target."""
    if prices.capacity_per_s <= 0:
        return None
    vms = vms_for(load_per_s, prices.capacity_per_s)
    return Split(vms, 0.0, vms * prices.vm_price_per_hour, Regime.VM_ONLY)


def serverless_only(load_per_s: float, prices: Prices) -> Split | None:
    """Return the split with serverless alone; None where it misses the target."""
    if prices.job_price is None:
        return None
    return Split(0, load_per_s, prices.serverless_cost(load_per_s), Regime.SERVERLESS_ONLY)


def cheapest(load_per_s: float, prices: Prices) -> Split:
    """Return the split of least cost. Ties go to serverless, as in the source (its equilibrium depends on it)."""
    alone = serverless_only(load_per_s, prices)
    if prices.capacity_per_s <= 0:
        return alone or Split(0, 0.0, float("inf"), Regime.INFEASIBLE)
    if alone is None:
        return vm_only(load_per_s, prices) or Split(0, 0.0, float("inf"), Regime.INFEASIBLE)
    break_even = prices.break_even_per_s
    if break_even is None or prices.capacity_per_s <= break_even * (1 + _ROUNDING):
        return alone
    full = floor(load_per_s / prices.capacity_per_s + _ROUNDING)
    rest = max(load_per_s - full * prices.capacity_per_s, 0.0)
    if rest <= _ROUNDING * prices.capacity_per_s:
        rest = 0.0
    if rest <= break_even * (1 + _ROUNDING):
        cost = full * prices.vm_price_per_hour + prices.serverless_cost(rest)
        regime = Regime.SERVERLESS_ONLY if full == 0 else Regime.VM_ONLY if rest == 0 else Regime.MIXED
        return Split(full, rest, cost, regime)
    return Split(full + 1, 0.0, (full + 1) * prices.vm_price_per_hour, Regime.VM_ONLY)
