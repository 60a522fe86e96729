"""Counts of all workers in one place: after every task each worker adds its new counts to a hash in Redis.

Prometheus scrapes the API only, not the workers, which come and go. When Redis is emptied the counts restart from zero,
which Prometheus treats as a restart. While Redis is unavailable a worker keeps its counts for the next task.
"""

import json
import threading
from collections.abc import Iterator
from typing import Any

import structlog
from celery.signals import task_postrun
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample
from redis import Redis, RedisError

from sinemora.kit.observability.telemetry import WORKER, at_scrape
from sinemora.kit.redis import client

log = structlog.get_logger(__name__)

KEY = "sinemora:metrics"
_published: dict[str, float] = {}
_publish_lock = threading.Lock()


def publish(redis: "Redis") -> None:
    """Add the counts since the last call to Redis. After a RedisError the next call adds them."""
    with _publish_lock:
        counted = {
            _field(sample): sample.value
            for family in WORKER.collect()
            for sample in family.samples
            if not sample.name.endswith("_created")
        }
        new = {field: value - _published.get(field, 0.0) for field, value in counted.items()}
        pipeline = redis.pipeline(transaction=True)
        for field, value in new.items():
            if value or field not in _published:  # an empty bucket is added once, too
                pipeline.hincrbyfloat(KEY, field, value)
        pipeline.execute()
        _published.update(counted)


def collect() -> Iterator[Metric]:
    """Yield the counts of all workers. RedisError."""
    fields: Any = client().hgetall(KEY)
    samples: dict[str, list[Sample]] = {}
    for field, value in fields.items():
        name, labels = json.loads(field)
        samples.setdefault(name, []).append(Sample(name, dict(labels), float(value)))
    for family in WORKER.collect():
        metric = Metric(family.name, family.documentation, family.type)
        # Buckets in rising order, as readers expect them.
        for suffix in ("_total", "_bucket", "_count", "_sum"):
            metric.samples += sorted(samples.get(family.name + suffix, ()), key=_order)
        yield metric


def _field(sample: Sample) -> str:
    return json.dumps([sample.name, sorted(sample.labels.items())], separators=(",", ":"))


def _order(sample: Sample) -> tuple[Any, ...]:
    labels = dict(sample.labels)
    bound = float(labels.pop("le", "0"))
    return (*sorted(labels.items()), bound)


@task_postrun.connect
def _publish_after_task(**_: object) -> None:
    try:
        publish(client())
    except RedisError as error:
        log.info("worker metrics not published", error=str(error))


at_scrape(collect)
