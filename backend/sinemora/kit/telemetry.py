"""Metrics of the backend itself, for Prometheus."""

from celery.signals import task_failure, task_postrun, task_prerun
from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("sinemora_http_requests", "HTTP requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "sinemora_http_request_seconds",
    "Time from the request's head to the answer's head, seconds.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
DEPENDENCY_UP = Gauge("sinemora_dependency_up", "1 when the dependency answered its last check.", ["dependency"])
TASKS = Counter("sinemora_tasks", "Background tasks by how they ended.", ["task", "outcome"])


@task_prerun.connect
def _started(task: object = None, **_: object) -> None:
    TASKS.labels(getattr(task, "name", "unknown"), "started").inc()


@task_postrun.connect
def _ended(task: object = None, state: str | None = None, **_: object) -> None:
    TASKS.labels(getattr(task, "name", "unknown"), (state or "unknown").lower()).inc()


@task_failure.connect
def _failed(sender: object = None, exception: BaseException | None = None, **_: object) -> None:
    import structlog

    structlog.get_logger(__name__).error("task failed", task=getattr(sender, "name", "unknown"), exc_info=exception)
