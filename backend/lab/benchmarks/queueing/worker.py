"""Celery application of the benchmark: the product's, with the order of jobs that `BENCH_ORDER` names."""

import os
import time
from collections.abc import Iterable
from typing import Any

from sinemora.jobs import order
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Queue
from sinemora.jobs.order import Waiting
from sinemora.jobs.registry import JobKind, register
from sinemora.worker import app as app

_STEP_S = 0.2


def _hold(job: JobContext) -> dict[str, Any]:
    """Occupy the worker for a time, as a computation on an idle machine would, whatever else this one does."""
    until = time.monotonic() + float(job.params["seconds"])
    while (left_s := until - time.monotonic()) > 0:
        job.check()
        time.sleep(min(left_s, _STEP_S))
    return {}


def _expected_s(params: dict[str, Any]) -> float:
    return float(params["expected_s"])


HOLD = register(JobKind("bench.hold", Queue.bulk, _hold, size=_expected_s, second_per_size=1.0))


def _smallest_first(waiting: Iterable[Waiting], *_: Any) -> list[Waiting]:
    return sorted(waiting, key=lambda job: (job.cost_s, job.created_at))


if os.environ.get("BENCH_ORDER") == "smallest_first":
    order.in_order = _smallest_first  # type: ignore[assignment]
