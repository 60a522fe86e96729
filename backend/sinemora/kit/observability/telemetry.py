"""Metrics of the backend itself, for Prometheus: docs/monitoring.md lists them.

Three kinds: counts of the API belong to the process that is scraped. Counts of workers (`WORKER`) are added up in Redis
(`worker_metrics.py`), so that any API process reports all workers. Values from the database or Redis (`at_scrape`) are
read at each scrape.
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

from sinemora.kit.errors import ProductError, database_error

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
_started_s: dict[str, float] = {}


class _AtScrape(Collector):
    """Collector of the metrics that `find` yields, cached for a few seconds; none while `find` fails."""

    def __init__(self, find: Callable[[], Iterable[Metric]]) -> None:
        self._find = find
        self._metrics: list[Metric] = []
        self._until_s = 0.0

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that registration does not call the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        if time.monotonic() >= self._until_s:
            try:
                self._metrics = list(self._find())
            except (SQLAlchemyError, RedisError) as error:
                log.warning("metrics not collected", error=str(error).strip())
                self._metrics = []
            self._until_s = time.monotonic() + _CACHED_S
        yield from self._metrics


def at_scrape(find: Callable[[], Iterable[Metric]], registry: CollectorRegistry = REGISTRY) -> None:
    """Register metrics that `find` yields at each scrape. It may raise RedisError and SQLAlchemyError."""
    registry.register(_AtScrape(find))


@task_prerun.connect
def _started(task_id: str = "", task: object = None, **_: object) -> None:
    _started_s[task_id] = time.monotonic()
    TASKS.labels(getattr(task, "name", "unknown"), "started").inc()


@task_postrun.connect
def _ended(task_id: str = "", task: object = None, state: str | None = None, **_: object) -> None:
    name = getattr(task, "name", "unknown")
    TASKS.labels(name, (state or "unknown").lower()).inc()
    TASK_SECONDS.labels(name).observe(time.monotonic() - _started_s.pop(task_id, time.monotonic()))


@task_failure.connect
def _failed(sender: object = None, exception: BaseException | None = None, **_: object) -> None:
    """Log a failed task once: in one line while a server is away, else with the traceback."""
    task = getattr(sender, "name", "unknown")
    outage = _outage(exception)
    if outage is None:
        log.error("task failed", task=task, exc_info=exception)
    else:
        log.warning("task failed", task=task, code=outage, error=str(exception).strip().partition("\n")[0])


def _outage(error: BaseException | None) -> str | None:
    """Return the problem code of an error that only says that a server is away or busy."""
    if isinstance(error, RedisError):
        return "redis_unavailable"
    known = database_error(error) if isinstance(error, SQLAlchemyError) else error
    return known.code if isinstance(known, ProductError) and known.status == 503 else None
