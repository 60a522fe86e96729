"""Prometheus metrics of queues and jobs."""

from collections.abc import Iterator

from prometheus_client import Histogram
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy import func, select

from sinemora.jobs.models import FINAL, Job, Queue
from sinemora.kit.celery import NOTICES, UPKEEP, WATCH
from sinemora.kit.db import system_session
from sinemora.kit.observability.telemetry import WORKER, at_scrape
from sinemora.kit.redis import client

JOB_SECONDS = Histogram(
    "sinemora_job_seconds",
    "Duration of the last attempt of jobs by outcome, seconds.",
    ["kind", "outcome"],
    buckets=(0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600),
    registry=WORKER,
)


def queues() -> Iterator[Metric]:
    """Yield the number of tasks in the broker. RedisError."""
    waiting = GaugeMetricFamily("sinemora_queue_tasks", "Background tasks waiting for a worker.", labels=["queue"])
    for queue in (WATCH, NOTICES, UPKEEP, *Queue):
        waiting.add_metric([queue], int(client().llen(queue)))
    yield waiting
    yield GaugeMetricFamily(
        "sinemora_queue_taken_tasks",
        "Background tasks taken by a worker and not finished.",
        value=int(client().hlen("unacked")),
    )


def open_jobs() -> Iterator[Metric]:
    """Yield the number of queued and running jobs. SQLAlchemyError."""
    open_count = GaugeMetricFamily("sinemora_jobs_open", "Jobs queued or running.", labels=["queue", "state"])
    with system_session() as session:
        rows = session.execute(
            select(Job.queue, Job.state, func.count()).where(Job.state.not_in(FINAL)).group_by(Job.queue, Job.state)
        )
        for queue, state, count in rows:
            open_count.add_metric([queue, state], count)
    yield open_count


at_scrape(queues)
at_scrape(open_jobs)
