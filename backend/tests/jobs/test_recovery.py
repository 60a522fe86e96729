"""A solver that is killed with all its processes: its job runs again within 15 s."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sinemora.jobs import tasks
from tests.callers import Member

LARGE = {"name": "Large", "machines": 1250, "hours": 6, "policies": ["gang_budget"]}


@contextmanager
def solver() -> Iterator["subprocess.Popen[bytes]"]:
    """Run a worker as the supervisor starts it."""
    command = [sys.executable, "-m", "celery", "--app", "sinemora.worker", "--quiet", "worker", "--queues=solve"]
    process = subprocess.Popen(
        [*command, "--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=WARNING"],
        start_new_session=True,
        env=os.environ | {"SINEMORA_WORKER_PULSE_FILE": ""},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def running(owner: Member, job_id: str, attempt: int, within_s: float) -> bool:
    until = time.monotonic() + within_s
    swept = time.monotonic()
    while time.monotonic() < until:
        job = owner.get(f"/v1/jobs/{job_id}").json()
        if job["attempt"] == attempt and job["note"]:
            return True
        if time.monotonic() - swept >= tasks.SWEEP_S:  # as beat does
            swept = time.monotonic()
            tasks.sweep()
        time.sleep(0.2)
    return False


@pytest.mark.whole_store
def test_a_killed_solver_is_replaced_and_its_job_runs_again(owner: Member, redis: object):
    job_id = owner.post("/v1/simulations/runs", json=LARGE).json()["id"]
    with solver() as first:
        assert running(owner, job_id, 1, 60)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        with solver() as second:
            assert running(owner, job_id, 2, 15)
            assert owner.post(f"/v1/jobs/{job_id}/cancel").status_code == 200
            until = time.monotonic() + 2
            while owner.get(f"/v1/jobs/{job_id}").json()["state"] != "cancelled" and time.monotonic() < until:
                time.sleep(0.1)
            assert owner.get(f"/v1/jobs/{job_id}").json()["state"] == "cancelled"
            assert second.poll() is None
