"""Order of waiting jobs: age against cost, and turns between tenants."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.jobs import executor, registry
from sinemora.jobs.models import Queue
from sinemora.jobs.order import STARTS_AHEAD_MAX, Start, WaitingJob, in_order
from sinemora.jobs.registry import JobKind
from tests.jobs.asking import ask
from tests.statements import execute

NOW = datetime(2026, 11, 26, tzinfo=UTC)
A, B = UUID(int=1), UUID(int=2)


def job(number: int, tenant: UUID, age_s: float, cost_s: float) -> WaitingJob:
    return WaitingJob(UUID(int=number), tenant, NOW - timedelta(seconds=age_s), cost_s)


@pytest.mark.parametrize(
    ("alpha", "first"),
    [(0, "old"), (1, "old"), (2, "cheap"), (1e15, "cheap")],
)
def test_age_is_weighed_against_cost(alpha: float, first: str):
    """Ages 100 s and 20 s, costs 10 s and 3 s: 100/10 > 20/3, but 100/10² < 20/3²."""
    old, cheap = job(1, A, 100, 10), job(2, A, 20, 3)
    assert in_order([cheap, old], [], {}, NOW, alpha)[0] is {"old": old, "cheap": cheap}[first]


def test_a_study_that_waits_long_enough_passes_recommendations():
    study = 60.0
    passes = [in_order([job(1, A, age_s, study), job(2, B, 2, 1)], [], {}, NOW)[0].job_id.int for age_s in (60, 180)]
    assert passes == [2, 1]


def test_a_tenant_is_not_older_than_its_last_start():
    """A has the older job but has just started one; B waits."""
    started = [Start(A, NOW - timedelta(seconds=1))]
    assert in_order([job(1, A, 1000, 5), job(2, B, 10, 5)], started, {}, NOW)[0].tenant_id == B


COSTS = st.sampled_from([0.01, 0.3, 2.0, 60.0, 3600.0])
ARRIVALS = st.lists(st.tuples(st.integers(0, 3), COSTS, st.floats(0, 30)), min_size=1, max_size=250)


@given(ARRIVALS, st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e15]))
def test_no_tenant_waits_for_more_than_the_bound(arrivals, workers, alpha):
    """However jobs arrive, whatever they cost, with any α and number of workers."""
    at, pending = 0.0, []
    for number, (tenant, cost_s, gap_s) in enumerate(arrivals):
        at += gap_s if number % 3 else 0.0
        pending.append(WaitingJob(UUID(int=number), UUID(int=tenant + 1), NOW + timedelta(seconds=at), cost_s))
    tenants = {one.tenant_id for one in pending}
    free, running = [NOW] * workers, []
    waiting, starts, passed = [], [], Counter()
    while pending or waiting:
        free.sort()
        now = free[0] if waiting else max(free[0], pending[0].created_at)
        while pending and pending[0].created_at <= now:
            waiting.append(pending.pop(0))
        running = [(tenant, end) for tenant, end in running if end > now]
        held = Counter(tenant for tenant, _ in running)
        chosen = in_order(waiting, starts, held, now, alpha)[0]
        for tenant in {one.tenant_id for one in waiting}:
            passed[tenant] = 0 if held[tenant] or tenant == chosen.tenant_id else passed[tenant] + 1
            assert passed[tenant] <= (STARTS_AHEAD_MAX + 1) * (len(tenants) - 1)
        waiting.remove(chosen)
        starts.append(Start(chosen.tenant_id, now))
        end = now + timedelta(seconds=chosen.cost_s)
        running.append((chosen.tenant_id, end))
        free[0] = max(end, now + timedelta(microseconds=1))


@pytest.mark.whole_store
def test_a_worker_takes_small_jobs_before_large_ones(owner, queued, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_registry", {})
    done: list[str] = []
    small, large = (
        registry.register(
            JobKind(f"test.{name}", Queue.solve, lambda job, name=name: done.append(name), size=lambda _, s=size: s)
        )
        for name, size in (("small", 1.0), ("large", 1000.0))
    )
    monkeypatch.setattr(JobKind, "isolated", False)
    for kind in (large, small, small):
        ask(owner, kind)
    for _ in range(3):
        executor.run_next(Queue.solve)
    assert done == ["small", "small", "large"]


@pytest.mark.whole_store
def test_expected_durations_follow_from_jobs_that_ended(owner, queued, monkeypatch: pytest.MonkeyPatch):
    """Both kinds have size 1; the one whose jobs took long is expected to take long."""

    monkeypatch.setattr(registry, "_registry", {})
    done: list[str] = []
    kinds = {
        name: registry.register(JobKind(f"test.{name}", Queue.bulk, lambda job, name=name: done.append(name)))
        for name in ("slow", "quick")
    }
    for kind in kinds.values():
        ask(owner, kind)
    for _ in range(2):
        executor.run_next(Queue.bulk)
    execute("UPDATE jobs SET finished_at = started_at + interval '5 minutes' WHERE kind = 'test.slow'")
    done.clear()
    for name in ("slow", "quick"):
        ask(owner, kinds[name])
    for _ in range(2):
        executor.run_next(Queue.bulk)
    assert done == ["quick", "slow"]
