"""A solver that is killed with all its processes: its job runs again.

`make bench-recommendations ONLY=service` measures how soon, and how soon a cancelled job ends.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from redis import Redis

from lab.benchmarks.storing.programs import program
from sinemora.jobs import tasks
from tests.api_clients import Member
from tests.statements import execute
from tests.waits import until

LARGE = {"name": "Large", "machines": 1250, "hours": 6, "policies": ["best"]}


def until_running(owner: Member, job_id: str, attempt: int) -> None:
    swept = time.monotonic()

    def running() -> bool:
        nonlocal swept
        if time.monotonic() - swept >= tasks.SWEEP_S:  # as beat does
            swept = time.monotonic()
            tasks.sweep()
        job = owner.get(f"/v1/jobs/{job_id}").json()
        return bool(job["attempt"] == attempt and job["note"])

    until(running, f"attempt {attempt}")


@pytest.mark.whole_store
def test_a_killed_solver_is_replaced_and_its_job_runs_again(owner: Member, redis: Redis, tmp_path: Path):
    job_id = owner.post("/v1/simulations/runs", json=LARGE).json()["id"]
    with program("solver", tmp_path) as first:
        until_running(owner, job_id, 1)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        with program("solver", tmp_path) as second:
            until_running(owner, job_id, 2)
            assert owner.post(f"/v1/jobs/{job_id}/cancel").status_code == 200
            until(lambda: owner.get(f"/v1/jobs/{job_id}").json()["state"] == "cancelled", "the end of the job")
            assert second.poll() is None


@pytest.mark.whole_store
def test_the_watcher_sweeps_while_nothing_else_works(owner: Member, redis: Redis, tmp_path: Path):
    """No other worker runs, as if roll-ups held all their slots: a job that the broker lost is sent again."""
    assert owner.post("/v1/simulations/runs", json=LARGE).status_code == 202
    execute("UPDATE jobs SET created_at = created_at - interval '1 minute'")
    redis.delete("solve")
    tasks.sweep.apply_async()
    assert (redis.llen("watch"), redis.llen("solve")) == (1, 0)
    with program("watcher", tmp_path):
        until(lambda: redis.llen("solve"), "the job in its queue")
    assert redis.llen("solve") == 1
