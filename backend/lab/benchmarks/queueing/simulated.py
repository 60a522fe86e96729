"""Jobs of tenants at one worker, simulated with the product's order and with the orders that it is compared with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import numpy.typing as npt

from lab.benchmarks.figures import report
from sinemora.jobs import order
from sinemora.jobs.order import Start, Waiting
from sinemora.labs.tail_lab.core.policies import ALPHA_MAX
from sinemora.labs.tail_lab.core.search import Goal, best_of, search
from sinemora.labs.tail_lab.core.summary import Figures, TailFigure

Order = Callable[[list[Waiting], list[Start], datetime], Waiting]
Floats = npt.NDArray[np.float64]
# Durations of jobs of the solver, s, and their shares: recommendations, simulations and studies of demonstration and
# benchmarks. Studies reach a quarter of an hour; a factor of 24 between the shortest and the longest is cautious.
DURATIONS_S = (0.25, 0.5, 1.5, 6.0)
SHARES = (0.6, 0.25, 0.1, 0.05)
LARGE_S = 6.0
TENANTS = 4
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
EXPECTED_SPREAD = 0.3
"""Spread of expected durations around the true ones, of their natural logarithm."""


@dataclass(frozen=True)
class Jobs:
    """Jobs by arrival: times, s; durations, s; expected durations, s; tenants."""

    at_s: Floats
    took_s: Floats
    expected_s: Floats
    tenants: list[UUID]


def draw(count: int, load: float, seed: int) -> Jobs:
    """Draw jobs with Poisson arrivals at a load of one worker, each of a random tenant."""
    random = np.random.default_rng((seed, count))
    took_s = random.choice(DURATIONS_S, count, p=SHARES)
    gaps_s = random.exponential(float(np.dot(DURATIONS_S, SHARES)) / load, count)
    expected_s = took_s * np.exp(random.normal(0, EXPECTED_SPREAD, count))
    tenants = [UUID(int=int(one) + 1) for one in random.integers(0, TENANTS, count)]
    return Jobs(np.cumsum(gaps_s), took_s, expected_s, tenants)


def aged(alpha: float = order.ALPHA) -> Order:
    """Return the product's order with this α."""
    return lambda waiting, starts, now: order.in_order(waiting, starts, {}, now, alpha)[0]


def smallest_first(waiting: Sequence[Waiting], starts: Sequence[Start], now: datetime) -> Waiting:
    """Return the job of the least cost of any tenant."""
    return min(waiting, key=lambda job: (job.cost_s, job.created_at))


def oldest_first(waiting: Sequence[Waiting], starts: Sequence[Start], now: datetime) -> Waiting:
    """Return the oldest job of any tenant."""
    return min(waiting, key=lambda job: job.created_at)


def waits(jobs: Jobs, chosen: Order) -> Floats:
    """Return the wait of each job before its start, s."""
    count, upcoming, now_s = len(jobs.at_s), 0, 0.0
    waiting: dict[UUID, Waiting] = {}
    starts: list[Start] = []
    waited = np.zeros(count)
    for _ in range(count):
        if not waiting:
            now_s = max(now_s, float(jobs.at_s[upcoming]))
        while upcoming < count and jobs.at_s[upcoming] <= now_s:
            at = _EPOCH + timedelta(seconds=float(jobs.at_s[upcoming]))
            job_id = UUID(int=upcoming)
            waiting[job_id] = Waiting(job_id, jobs.tenants[upcoming], at, float(jobs.expected_s[upcoming]))
            upcoming += 1
        now = _EPOCH + timedelta(seconds=now_s)
        oldest = min(job.created_at for job in waiting.values())
        starts = [start for start in starts if start.at >= oldest]
        job = chosen(list(waiting.values()), starts, now)
        del waiting[job.job_id]
        starts.append(Start(job.tenant_id, now))
        waited[job.job_id.int] = now_s - jobs.at_s[job.job_id.int]
        now_s += float(jobs.took_s[job.job_id.int])
    return waited


def tail_mean(waited_s: Floats, share: float) -> float:
    """Return the mean of the longest waits, of this share of them."""
    return float(np.sort(waited_s)[-max(1, round(share * len(waited_s))) :].mean())


def _figures(jobs: Jobs, chosen: Order) -> Figures:
    """Return the figures of waits. `tail_mean` is that of the large jobs."""
    waited_s = waits(jobs, chosen)
    large = waited_s[jobs.took_s >= LARGE_S]
    return Figures(
        mean=float(waited_s.mean()),
        p99=float(np.quantile(waited_s, 0.99)),
        tail_mean=tail_mean(large, 0.1),
        small_p99=float(np.quantile(waited_s[jobs.took_s == DURATIONS_S[0]], 0.99)),
    )


def main(seed: int) -> None:
    """Report the gain of the product's α on jobs that the search of α has not seen, and the α that the search finds."""
    baselines: list[Figures] = []
    seen = [draw(3000, 0.85, seed + run) for run in range(2)]
    for jobs in seen:
        baselines.append(_figures(jobs, smallest_first))
    goal = Goal(TailFigure.TAIL_MEAN, _mean(baselines), mean_loss_max=25.0)
    found = best_of(list(search(goal, lambda alpha, _: _mean([_figures(j, aged(alpha)) for j in seen]), 20, seed)))
    unseen = [draw(3000, 0.85, 1_000_003 + seed + run) for run in range(3)]
    ours, smallest, oldest, at_found = (
        _mean([_figures(jobs, one) for jobs in unseen])
        for one in (aged(), smallest_first, oldest_first, aged(min(found.alpha, ALPHA_MAX)))
    )
    report(
        "queue_simulated_large_tail_gain_percent",
        100 * (1 - ours.tail_mean / smallest.tail_mean),
        alpha=order.ALPHA,
        alpha_of_search=round(found.alpha, 2),
        gain_at_alpha_of_search=round(100 * (1 - at_found.tail_mean / smallest.tail_mean), 1),
        mean_wait_s={name: round(one.mean, 2) for name, one in _named(ours, smallest, oldest)},
        large_tail_mean_s={name: round(one.tail_mean, 1) for name, one in _named(ours, smallest, oldest)},
    )
    report("queue_simulated_mean_ratio_to_oldest_first", ours.mean / oldest.mean)


def _named(ours: Figures, smallest: Figures, oldest: Figures) -> list[tuple[str, Figures]]:
    return [("product", ours), ("smallest_first", smallest), ("oldest_first", oldest)]


def _mean(of: list[Figures]) -> Figures:
    return Figures(
        *(float(np.mean([getattr(one, name) for one in of])) for name in ("mean", "p99", "tail_mean", "small_p99"))
    )
