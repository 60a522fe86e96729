"""Figures of the compute mix: golden values of the source, brute force, and the switching prices.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
chapter 4. The golden costs follow its equations with the parameters of figure 4.2 (utilisation limit 0.9); the
parameters of figure 4.5 are recovered from its printed prices.
"""

from math import ceil

import numpy as np

from lab.benchmarks.figures import report
from sinemora.advisors.compute_mix.core.market import Market, equilibrium, peaks
from sinemora.advisors.compute_mix.core.split import Prices, Regime, cheapest

SETS = 10_000

# (price of a busy container, load) -> (cost, VMs, load to serverless); rates 10 and 7, VM price 1, limit 0.9.
SPLITS = {
    (10.0, 3.0): (1.0, 1, 0.0),
    (10.0, 8.0): (2.0, 2, 0.0),
    (10.0, 12.0): (2.0, 2, 0.0),
    (10.0, 15.0): (3.0, 3, 0.0),
    (3.0, 3.0): (0.9, 0, 3.0),
    (3.0, 8.0): (1.51, 1, 1.7),
    (3.0, 12.0): (2.0, 2, 0.0),
    (3.0, 15.0): (2.72, 2, 2.4),
    (1.3, 3.0): (0.39, 0, 3.0),
    (1.3, 8.0): (1.04, 0, 8.0),
    (1.3, 12.0): (1.56, 0, 12.0),
    (1.3, 15.0): (1.95, 0, 15.0),
}
# load -> profits of the three peaks, best regime; VM rate 1, serverless rate 2, VM price 1, VM cost 0.1, limit 0.9.
# Profits in closed form: p1 = λ(1/0.9 - 0.1/4); p2 = 0.9 n + 1 - 0.1 e/4; p3 = 0.9 (n + 1).
PROFITS = {
    3.0: ((3 * (1 / 0.9 - 0.025), 0.9 * 3 + 1 - 0.025 * 0.3, 3.6), Regime.MIXED),
    15.0: ((15 * (1 / 0.9 - 0.025), 0.9 * 16 + 1 - 0.025 * 0.6, 15.3), Regime.SERVERLESS_ONLY),
}
# load -> switching prices as the source prints them in figure 4.5 (2.22; 6.6 and 3.4), with more digits.
SWITCHES = {3.0: (2.2222, 6.6667), 15.0: (2.2222, 3.3333)}


def figure_market(load: float) -> Market:
    """Return the market of figure 4.5."""
    return Market(load, vm_rate=1, serverless_rate=2, vm_price=1, vm_cost=0.1, utilisation_max=0.9)


def golden_error() -> float:
    """Return the largest absolute error of costs, loads and profits against both golden tables."""
    worst = 0.0
    for (price, load), (cost, vms, to_serverless) in SPLITS.items():
        found = cheapest(load, Prices(6.3, 1.0, price / 10 / 3600))
        worst = max(worst, abs(found.cost_per_hour - cost), abs(found.serverless_per_s - to_serverless))
        worst = max(worst, float(abs(found.vms - vms)))
    for load, (profits, best) in PROFITS.items():
        market = figure_market(load)
        found_profits = [peak.profit for peak in peaks(market)]
        worst = max(worst, *(abs(a - b) for a, b in zip(found_profits, profits, strict=True)))
        worst = max(worst, float(equilibrium(market).regime is not best))
    return worst


def switch_error() -> float:
    """Return the largest error of the prices at which the tenant's split changes, found by bisection."""
    worst = 0.0
    for load, (first, second) in SWITCHES.items():
        market = figure_market(load)
        for expected, full in ((first, 0), (second, market.full)):
            low, high = 0.5 * expected, 1.5 * expected
            while high - low > 1e-9:
                middle = (low + high) / 2
                low, high = (middle, high) if market.split(middle).vms <= full else (low, middle)
            worst = max(worst, abs(low - expected))
    return worst


def brute_force_mismatches(seed: int, sets: int = SETS) -> int:
    """Return the number of random parameter sets in which another number of VMs is cheaper."""
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(sets):
        capacity = float(rng.uniform(0.1, 20))
        # A fifth of the loads is an exact multiple of the capacity.
        multiple = rng.random() < 0.2
        load = capacity * int(rng.integers(0, 30)) if multiple else float(rng.uniform(0, 300))
        prices = Prices(capacity, float(rng.uniform(0.01, 5)), float(rng.uniform(0.001, 1)) / 3600)
        costs = [
            vms * prices.vm_price_per_hour + prices.serverless_cost(max(load - vms * capacity, 0.0))
            for vms in range(ceil(load / capacity) + 2)
        ]
        found = cheapest(load, prices)
        served = found.vms * capacity + found.serverless_per_s
        least = min(costs)
        wrong += abs(found.cost_per_hour - least) > 1e-6 * (1 + least) or served < load - 1e-6 * (1 + load)
    return wrong


def main(seed: int) -> None:
    """Print the figures."""
    report("price_golden_max_abs_error", golden_error(), values=len(SPLITS) + len(PROFITS))
    report("price_bruteforce_mismatches", brute_force_mismatches(seed), sets=SETS)
    report("price_switch_error", switch_error())
