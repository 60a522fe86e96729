"""Jobs of four tenants in a running product: stored, sent by the broker, run by a worker that holds for their time."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
from sqlalchemy import select

from lab.benchmarks.figures import comment, report
from lab.benchmarks.queueing.simulated import DURATIONS_S, EXPECTED_SPREAD, SHARES, TENANTS, Floats, Jobs, tail_mean
from lab.benchmarks.storing import product
from lab.benchmarks.storing.programs import program, use_broker
from sinemora.access.tenants.service import create_owner
from sinemora.jobs import service
from sinemora.jobs.models import FINAL, Job, JobState
from sinemora.jobs.registry import JobKind
from sinemora.kit.db import system_session, tenant_session

JOBS = 500
_LOAD = 1.05
_SCALE = 0.1
"""Of the durations, so that there are many jobs in two minutes."""
_WAIT_S = 400
_WORDS = {"sinemora.worker": "lab.benchmarks.queueing.worker", "--queues=solve": "--queues=bulk"}
"""Of the solver's command: one process for the queue `bulk`, with an order of jobs."""


def main(seed: int) -> None:
    """Report the wait of the large jobs under the product's order and under smallest-first, over two draws."""
    with product.running() as running, tempfile.TemporaryDirectory() as folder:
        use_broker()
        from lab.benchmarks.queueing import worker

        assert running.tenant_id
        owners = [create_owner(f"Queue {n}", f"q{n}@sinemora.example", f"queue-owner-{n}-x7") for n in range(TENANTS)]
        waited: dict[str, list[Floats]] = {"smallest_first": [], "product": []}
        large: list[Floats] = []
        for draw in (seed, seed + 1):
            jobs = _draw(draw, [owner.tenant_id for owner in owners])
            large.append(jobs.took_s == jobs.took_s.max())
            for name, waits in waited.items():
                comment(f"{JOBS} jobs, {name}: {jobs.took_s.sum():.0f} s of work")
                with program("solver", Path(folder), _WORDS, BENCH_ORDER=name):
                    waits.append(_waits(worker.HOLD, jobs))
    is_large = np.concatenate(large)
    pooled = {name: np.concatenate(waits) for name, waits in waited.items()}
    tails = {name: tail_mean(one[is_large], 0.2) for name, one in pooled.items()}
    report(
        "queue_large_tail_gain_percent",
        100 * (1 - tails["product"] / tails["smallest_first"]),
        large_jobs=int(is_large.sum()),
        large_tail_mean_s={name: round(value, 2) for name, value in tails.items()},
        large_mean_s={name: round(float(one[is_large].mean()), 2) for name, one in pooled.items()},
        mean_wait_s={name: round(float(one.mean()), 2) for name, one in pooled.items()},
    )


def _draw(seed: int, tenants: Sequence[UUID]) -> Jobs:
    random = np.random.default_rng(seed)
    took_s = np.repeat(np.multiply(DURATIONS_S, _SCALE), [round(JOBS * share) for share in SHARES])
    random.shuffle(took_s)
    at_s = np.cumsum(random.exponential(float(took_s.mean()) / _LOAD, len(took_s)))
    of = random.integers(0, len(tenants), len(took_s))
    expected_s = took_s * np.exp(random.normal(0, EXPECTED_SPREAD, len(took_s)))
    return Jobs(at_s, took_s, expected_s, [tenants[n] for n in of])


def _waits(kind: JobKind, jobs: Jobs) -> Floats:
    """Run the jobs and return the seconds of work that each waited for.

    The clock is the work that is done, so that neither the speed of the machine nor what else it does matters: a job
    is submitted when as much work is done as its arrival says, and at once when the worker would be idle.
    """
    at_s, took_s = jobs.at_s, jobs.took_s
    submitted: list[UUID] = []
    done_s = idle_s = 0.0
    while len(submitted) < len(at_s):
        place = len(submitted)
        if done_s + idle_s >= at_s[place] - 1e-9:
            params = {"seconds": float(took_s[place]), "expected_s": float(jobs.expected_s[place])}
            submitted.append(_submit(kind, jobs.tenants[place], params))
            continue
        done_s = _finished_s(took_s, submitted)
        if done_s >= float(took_s[:place].sum()) - 1e-9:
            idle_s = max(idle_s, float(at_s[place]) - done_s)
        else:
            time.sleep(0.01)
    until = time.monotonic() + _WAIT_S
    while _finished_s(took_s, submitted) < float(took_s.sum()) - 1e-9:
        if time.monotonic() > until:
            raise TimeoutError(f"the jobs did not end in {_WAIT_S} s")
        time.sleep(0.2)
    with system_session() as session:
        rows = session.execute(select(Job.id, Job.started_at).where(Job.id.in_(submitted))).all()
    started = {job_id: at.timestamp() for job_id, at in rows if at is not None}
    waited, clock_s = np.zeros(len(at_s)), 0.0
    for place in sorted(range(len(at_s)), key=lambda one: started[submitted[one]]):
        clock_s = max(clock_s, float(at_s[place]))
        waited[place] = clock_s - at_s[place]
        clock_s += float(took_s[place])
    return waited


def _submit(kind: JobKind, tenant_id: UUID, params: dict[str, float]) -> UUID:
    with tenant_session(tenant_id) as session:
        return service.submit(session, None, kind, "Queue", dict(params)).id


def _finished_s(took_s: Floats, submitted: Sequence[UUID]) -> float:
    """Return the seconds of work of the jobs that have ended."""
    with system_session() as session:
        rows = session.execute(select(Job.id, Job.state).where(Job.id.in_(submitted), Job.state.in_(FINAL))).all()
    if any(state != JobState.succeeded for _, state in rows):
        raise RuntimeError("a job failed")
    ended = {job_id for job_id, _ in rows}
    return float(sum(took_s[place] for place, job_id in enumerate(submitted) if job_id in ended))
