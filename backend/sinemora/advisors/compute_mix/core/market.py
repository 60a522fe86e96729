"""The provider's side: its profit by the serverless price, the switching prices, and the equilibrium.

The provider sets the price of a busy container, then the tenant chooses the cheapest split (a Stackelberg
game). Source: K. Mahajan, "Next Generation Cloud Computing
Architectures: Performance and Pricing", Columbia University, 2021, section 4.3, in the general form: the printed
equations assume a VM price and a service rate of 1.
"""

from dataclasses import dataclass
from math import floor

from sinemora.advisors.compute_mix.core.split import Prices, Regime, Split, cheapest

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Market:
    """Load, rates (jobs per time), VM price, provider's cost of a VM, and the utilisation limit; one unit of time."""

    load: float
    vm_rate: float
    serverless_rate: float
    vm_price: float
    vm_cost: float
    utilisation_max: float

    @property
    def capacity(self) -> float:
        """Most load of one VM (L_v)."""
        return self.utilisation_max * self.vm_rate

    @property
    def full(self) -> int:
        """Number of VMs that the load fills."""
        return floor(self.load / self.capacity + _ROUNDING)

    @property
    def rest(self) -> float:
        """Load beyond the full VMs; 0 for an exact multiple of the capacity."""
        rest = self.load - self.full * self.capacity
        return 0.0 if rest <= _ROUNDING * self.capacity else rest

    @property
    def container_cost(self) -> float:
        """Provider's cost of a busy container: that of a VM, by their rates."""
        return self.vm_cost * self.vm_rate / self.serverless_rate

    def split(self, container_price: float) -> Split:
        """Return the tenant's cheapest split at a price."""
        # `Prices` counts jobs per second and hours; 3600 cancels its conversion.
        return cheapest(self.load, Prices(self.capacity, self.vm_price, container_price / self.serverless_rate / 3600))

    def profit(self, container_price: float) -> float:
        """Return the provider's profit when the tenant takes its cheapest split."""
        split = self.split(container_price)
        containers = split.serverless_per_s / self.serverless_rate
        return split.vms * (self.vm_price - self.vm_cost) + containers * (container_price - self.container_cost)

    @property
    def switch_to_mixed(self) -> float:
        """Highest price at which serverless takes all of the load."""
        return self.vm_price * self.serverless_rate / self.capacity

    @property
    def switch_to_vms(self) -> float | None:
        """Highest price at which serverless takes the rest of the load; None without a rest."""
        return self.vm_price * self.serverless_rate / self.rest if self.rest else None


@dataclass(frozen=True, slots=True)
class Peak:
    """A price with the provider's profit and the tenant's split there. `regime` names the range it ends or begins."""

    regime: Regime
    price: float
    profit: float
    split: Split


def peaks(market: Market) -> list[Peak]:
    """Return the best price of each regime that occurs: those of p1, p2 and p3 in the source."""
    first, second = market.switch_to_mixed, market.switch_to_vms
    if second is None:  # a multiple of the capacity: above the first switch only VMs are rented, whatever the price
        return [_peak(market, Regime.SERVERLESS_ONLY, first), _peak(market, Regime.VM_ONLY, 2 * first)]
    joined = Regime.MIXED if market.full else Regime.SERVERLESS_ONLY
    below = [_peak(market, Regime.SERVERLESS_ONLY, first)] if market.full else []
    return [*below, _peak(market, joined, second), _peak(market, Regime.VM_ONLY, 2 * second)]


def equilibrium(market: Market) -> Peak:
    """Return the price that maximises the provider's profit, given the tenant's response; of ties the lower price."""
    return max(peaks(market), key=lambda peak: (peak.profit, -peak.price))


def _peak(market: Market, regime: Regime, price: float) -> Peak:
    return Peak(regime, price, market.profit(price), market.split(price))
