"""Order of waiting jobs: by `age / cost^α`, in turns between tenants.

α = 0 runs the oldest job first, a large α the cheapest. Between the two a large job waits behind smaller ones, but not
for ever: its age grows. The policy is PBS (H. Feng, V. Misra, D. Rubenstein, SIGMETRICS 2007), with the cost known in
advance as in D-TAIL (K. Mahajan, Columbia University, 2021, equation 2.2). A job that runs is never interrupted.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

ALPHA = 1.0
"""Exponent of the cost: within the flat optimum of a search on 9,000 jobs (docs/tail-lab.md). Between tenants that
always have jobs, α = 1 shares the time of a worker evenly."""
STARTS_AHEAD_MAX = 20
"""Most jobs that another tenant may start while a tenant waits."""
_AGE_MIN_S, _COST_MIN_S = 1e-3, 1e-2


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that waits. `cost_s` is its expected duration, s."""

    job_id: UUID
    tenant_id: UUID
    created_at: datetime
    cost_s: float


@dataclass(frozen=True, slots=True)
class Start:
    """A start of a job of a tenant."""

    tenant_id: UUID
    at: datetime


def in_order(
    waiting: Iterable[WaitingJob],
    starts: Sequence[Start],
    running: Mapping[UUID, int],
    now: datetime,
    alpha: float = ALPHA,
) -> list[WaitingJob]:
    """Return the jobs in the order in which workers are to take them.

    `starts` has those since the oldest of the waiting jobs was submitted, `running` the running jobs of each tenant.

    - The tenant with the fewest running jobs is first.
    - A tenant waits since its oldest job was submitted, or since its last start if that is later. When another tenant
      has started `STARTS_AHEAD_MAX` jobs in this time, it is overdue. Of overdue tenants the one that waits longest is
      first. So T tenants without running jobs wait for at most `(STARTS_AHEAD_MAX + 1) · (T - 1)` starts of the others.
    - Otherwise the tenant with the largest `waiting time / cost^α` of its next job is first.
    - Within a tenant, the job with the largest `age / cost^α` is next.
    """
    jobs_of: dict[UUID, list[WaitingJob]] = defaultdict(list)
    for job in waiting:
        jobs_of[job.tenant_id].append(job)
    for jobs in jobs_of.values():
        jobs.sort(key=lambda job: (-_log_priority(job.created_at, now, job.cost_s, alpha), job.created_at))
    since = {tenant_id: min(job.created_at for job in jobs) for tenant_id, jobs in jobs_of.items()}
    for start in starts:
        if start.tenant_id in since:
            since[start.tenant_id] = max(since[start.tenant_id], start.at)

    def turn(tenant_id: UUID) -> tuple[int, bool, float, datetime]:
        waits_since = since[tenant_id]
        overdue = _most_ahead(tenant_id, waits_since, starts) >= STARTS_AHEAD_MAX
        rank = 0.0 if overdue else -_log_priority(waits_since, now, jobs_of[tenant_id][0].cost_s, alpha)
        return running.get(tenant_id, 0), not overdue, rank, waits_since

    return [job for tenant_id in sorted(jobs_of, key=turn) for job in jobs_of[tenant_id]]


def _log_priority(since: datetime, now: datetime, cost_s: float, alpha: float) -> float:
    """Return the logarithm of `age / cost^α`, which no α overflows."""
    age_s = max((now - since).total_seconds(), _AGE_MIN_S)
    return math.log(age_s) - alpha * math.log(max(cost_s, _COST_MIN_S))


def _most_ahead(tenant_id: UUID, since: datetime, starts: Iterable[Start]) -> int:
    ahead = Counter(start.tenant_id for start in starts if start.at > since and start.tenant_id != tenant_id)
    return max(ahead.values(), default=0)
