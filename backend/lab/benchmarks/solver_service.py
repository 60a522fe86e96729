"""The solver as users meet it: the first recommendation after a start, a cancelled search, a killed solver.

A product runs with a solver and a watcher as the supervisor starts them. Beat is replaced by this process, which sends
the sweep of lost jobs in beat's interval.
"""

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.figures import comment, report
from lab.benchmarks.optimality import question
from lab.benchmarks.recommending.api import Api
from lab.benchmarks.recommending.tenants import declare, large
from lab.benchmarks.storing import product
from lab.benchmarks.storing.programs import program, use_broker
from sinemora.jobs import tasks
from sinemora.kit.celery import celery

TIMES = 3
_WAIT_S = 120
_LONG = {"name": "Long", "machines": 1250, "hours": 6, "policies": ["gang_budget"]}


def main(seed: int) -> None:
    """Print the medians of `TIMES` runs of each figure."""
    with product.running() as running, tempfile.TemporaryDirectory() as folder:
        use_broker()
        api = Api(running)
        tenant = large(np.random.default_rng((seed, 100)), 100)
        declare(api, "first", tenant)
        comment("waiting for the first recommendation of new processes")
        firsts, cancels, recoveries = [], [], []
        for _ in range(TIMES):
            running.restart()
            with program("watcher", Path(folder)), program("solver", Path(folder)):
                firsts.append(_first_s(api, question("first", tenant)))
        for _ in range(TIMES):
            with program("watcher", Path(folder)):
                cancel_s, recovered_s = _killed_and_cancelled_s(api, Path(folder))
            cancels.append(cancel_s)
            recoveries.append(recovered_s)
        report("recommendations_first_after_start_s", float(np.median(firsts)), runs=TIMES)
        report("recommendations_cancel_s", float(np.median(cancels)), runs=TIMES)
        report("recommendations_recovered_s", float(np.median(recoveries)), runs=TIMES)


def _first_s(api: Api, asked: dict[str, Any]) -> float:
    """Return the seconds from the request for a recommendation to its result; the processes have just started."""
    _await_solver()
    started = time.perf_counter()
    job = api.read("/v1/recommendations", asked)
    _await(api, job["id"], lambda now: now["state"] == "succeeded")
    return time.perf_counter() - started


def _killed_and_cancelled_s(api: Api, folder: Path) -> tuple[float, float]:
    """Return the seconds from a cancel to the end of the job, and from the death of a solver to the next attempt."""
    job = api.read("/v1/simulations/runs", _LONG)["id"]
    with program("solver", folder) as first:
        _await(api, job, lambda now: now["attempt"] == 1 and bool(now["note"]))
        os.killpg(first.pid, signal.SIGKILL)
        killed = time.perf_counter()
        first.wait()
        with program("solver", folder):  # as the supervisor starts it again
            _await(api, job, lambda now: now["attempt"] == 2 and bool(now["note"]))
            recovered_s = time.perf_counter() - killed
            cancelled = time.perf_counter()
            api.read(f"/v1/jobs/{job}/cancel", {})
            _await(api, job, lambda now: now["state"] == "cancelled")
            return time.perf_counter() - cancelled, recovered_s


def _await(api: Api, job: str, is_so: Any) -> None:
    """Wait until a job is as it should be; sweep meanwhile. Raises TimeoutError."""
    until, swept = time.monotonic() + _WAIT_S, time.monotonic()
    while not is_so(api.read(f"/v1/jobs/{job}")):
        if time.monotonic() > until:
            raise TimeoutError(f"job {job} did not get there in {_WAIT_S} s")
        if time.monotonic() - swept >= tasks.SWEEP_S:
            swept = time.monotonic()
            tasks.sweep.apply_async()
        time.sleep(0.02)


def _await_solver() -> None:
    """Wait until the solver takes tasks. Raises TimeoutError."""
    until = time.monotonic() + _WAIT_S
    while not any(name.startswith("solver@") for name in celery.control.inspect(timeout=0.5).ping() or ()):
        if time.monotonic() > until:
            raise TimeoutError("no solver")
