"""Counts of all workers in one place: each adds what is new of its own to a hash in Redis after every task.

Nobody has to find and scrape worker processes, which come and go. When Redis is emptied the counts begin anew, which
Prometheus takes for a restart; while it is away a worker keeps its own for the next time.
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

from sinemora.kit.redis import client
from sinemora.kit.telemetry import WORKER, at_scrape

log = structlog.get_logger(__name__)

KEY = "sinemora:metrics"
_published: dict[str, float] = {}
_one_at_a_time = threading.Lock()


def publish(redis: "Redis") -> None:
    """Add what this process has counted since it told last. RedisError: all of it is told the next time."""
    with _one_at_a_time:
        counted = {
            _field(one): one.value
            for family in WORKER.collect()
            for one in family.samples
            if not one.name.endswith("_created")
        }
        new = {field: value - _published.get(field, 0.0) for field, value in counted.items()}
        pipeline = redis.pipeline(transaction=True)
        for field, value in new.items():
            if value or field not in _published:  # a bucket that is empty is told too, once
                pipeline.hincrbyfloat(KEY, field, value)
        pipeline.execute()
        _published.update(counted)


def collect() -> Iterator[Metric]:
    """Yield the counts of all workers. RedisError."""
    found: Any = client().hgetall(KEY)
    samples: dict[str, list[Sample]] = {}
    for field, value in found.items():
        name, labels = json.loads(field)
        samples.setdefault(name, []).append(Sample(name, dict(labels), float(value)))
    for family in WORKER.collect():
        told = Metric(family.name, family.documentation, family.type)
        # Buckets in rising order, as readers expect them.
        for suffix in ("_total", "_bucket", "_count", "_sum"):
            told.samples += sorted(samples.get(family.name + suffix, ()), key=_order)
        yield told


def _field(sample: Sample) -> str:
    return json.dumps([sample.name, sorted(sample.labels.items())], separators=(",", ":"))


def _order(sample: Sample) -> tuple[Any, ...]:
    labels = dict(sample.labels)
    bound = float(labels.pop("le", "0"))
    return (*sorted(labels.items()), bound)


@task_postrun.connect
def _after_a_task(**_: object) -> None:
    try:
        publish(client())
    except RedisError as error:
        log.info("metrics wait for Redis", error=str(error))


at_scrape(collect)
