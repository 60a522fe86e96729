"""Metrics of the backend itself, for Prometheus: docs/operations.md lists them.

Three kinds. What the API counts is of the process that is asked. What workers count (`WORKER`) is gathered in Redis
(`gathered.py`), so that any API process tells it of all workers. What stands in the database or in Redis (`at_scrape`)
is looked up when it is asked for.
"""

import time
from collections.abc import Callable, Iterable, Iterator

import structlog
from celery.signals import task_failure, task_postrun, task_prerun
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis import RedisError
from sqlalchemy.exc import SQLAlchemyError

log = structlog.get_logger(__name__)

WORKER = CollectorRegistry()
"""Metrics that workers count."""

REQUESTS = Counter("sinemora_http_requests", "HTTP requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "sinemora_http_request_seconds",
    "Time from the request's head to the answer's head, seconds.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
DEPENDENCY_UP = Gauge("sinemora_dependency_up", "1 when the dependency answered its last check.", ["dependency"])
TASKS = Counter("sinemora_tasks", "Background tasks by how they ended.", ["task", "outcome"], registry=WORKER)
TASK_SECONDS = Histogram(
    "sinemora_task_seconds",
    "How long background tasks took, seconds.",
    ["task"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800),
    registry=WORKER,
)

_CACHED_S = 5.0
_begun_s: dict[str, float] = {}


class _AtScrape(Collector):
    """What `find` finds, at most every few seconds; nothing while it cannot be found."""

    def __init__(self, find: Callable[[], Iterable[Metric]]) -> None:
        self._find = find
        self._found: list[Metric] = []
        self._until_s = 0.0

    def describe(self) -> Iterable[Metric]:
        """Nothing: whoever registers must not ask the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        if time.monotonic() >= self._until_s:
            try:
                self._found = list(self._find())
            except (SQLAlchemyError, RedisError) as error:
                log.warning("metrics not found", error=str(error).strip())
                self._found = []
            self._until_s = time.monotonic() + _CACHED_S
        yield from self._found


def at_scrape(find: Callable[[], Iterable[Metric]], registry: CollectorRegistry = REGISTRY) -> None:
    """Tell what `find` finds whenever metrics are asked for. It may raise RedisError and SQLAlchemyError."""
    registry.register(_AtScrape(find))


@task_prerun.connect
def _started(task_id: str = "", task: object = None, **_: object) -> None:
    _begun_s[task_id] = time.monotonic()
    TASKS.labels(getattr(task, "name", "unknown"), "started").inc()


@task_postrun.connect
def _ended(task_id: str = "", task: object = None, state: str | None = None, **_: object) -> None:
    name = getattr(task, "name", "unknown")
    TASKS.labels(name, (state or "unknown").lower()).inc()
    TASK_SECONDS.labels(name).observe(time.monotonic() - _begun_s.pop(task_id, time.monotonic()))


@task_failure.connect
def _failed(sender: object = None, exception: BaseException | None = None, **_: object) -> None:
    log.error("task failed", task=getattr(sender, "name", "unknown"), exc_info=exception)
