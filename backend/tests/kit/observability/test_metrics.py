"""Metrics of the backend: workers' counts are gathered, queues and lags are looked up, all are documented."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis
from redis import RedisError as RedisAway

from sinemora import schedule
from sinemora.access.tenants import tasks as tenants
from sinemora.kit import archive_state
from sinemora.kit.observability import telemetry, worker_metrics
from sinemora.kit.observability.telemetry import WORKER
from sinemora.operations.gateway import metrics as gateway_metrics
from tests.api_clients import Caller
from tests.statements import execute

ALERTS = Path(__file__).parents[4] / "infra" / "dashboards" / "alerts.yml"
PAGES = [Path(__file__).parents[4] / "docs" / name for name in ("monitoring.md", "gateways.md")]
DOCUMENTED = set(re.findall(r"^\| `(sinemora_\w+)`", "".join(page.read_text() for page in PAGES), re.MULTILINE))


@pytest.fixture(autouse=True)
def asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the cached scrape; each test counts from zero."""
    monkeypatch.setattr(telemetry, "_CACHED_S", 0.0)
    for collector in list(REGISTRY._collector_to_names):
        if isinstance(collector, telemetry._AtScrape):
            collector._until_s = 0.0
    monkeypatch.setattr(worker_metrics, "_published", {})
    for metric in WORKER._collector_to_names:
        metric.clear()  # type: ignore[attr-defined]


def scraped(client: Caller) -> dict[str, Metric]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float | None:
    family = families[name.removesuffix("_total").removesuffix("_count").removesuffix("_bucket")]
    return next(
        (sample.value for sample in family.samples if sample.name == name and labels.items() <= sample.labels.items()),
        None,
    )


@pytest.mark.whole_store
def test_what_workers_count_is_told_once_however_many_there_are(client: Caller, redis: Redis):
    tenants.sweep.apply()
    first = scraped(client)
    assert value(first, "sinemora_tasks_total", task="tenants.sweep", outcome="success") == 1
    assert value(first, "sinemora_task_seconds_count", task="tenants.sweep") == 1
    assert value(first, "sinemora_task_seconds_bucket", task="tenants.sweep", le="+Inf") == 1
    worker_metrics._published.clear()  # as if another worker had counted the same
    worker_metrics.publish(redis)
    worker_metrics.publish(redis)  # and nothing new since
    tenants.sweep.apply()
    assert value(scraped(client), "sinemora_tasks_total", task="tenants.sweep", outcome="success") == 3


@pytest.mark.whole_store
def test_counts_wait_while_redis_is_away(client: Caller, monkeypatch: pytest.MonkeyPatch):
    def away() -> Redis:
        raise RedisAway("gone")

    with monkeypatch.context() as without:
        without.setattr(worker_metrics, "client", away)
        tenants.sweep.apply()
        tenants.sweep.apply()
        assert "sinemora_tasks" not in scraped(client)
    tenants.sweep.apply()
    assert value(scraped(client), "sinemora_tasks_total", task="tenants.sweep", outcome="success") == 3


def test_tasks_that_wait_and_steps_not_merged_are_looked_up(client: Caller, redis: Redis):
    redis.rpush("bulk", "one", "two")
    redis.hset("unacked", "tag", "one")
    start = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=10)
    for minute in (start, start, start + timedelta(minutes=1)):
        execute("INSERT INTO rollup_marks (tenant_key, mesh_key, minute) VALUES (1, 1, :minute)", {"minute": minute})
    result = scraped(client)
    assert value(result, "sinemora_queue_tasks", queue="bulk") == 2
    assert value(result, "sinemora_queue_tasks", queue="fast") == 0
    assert value(result, "sinemora_queue_taken_tasks") == 1
    assert value(result, "sinemora_rollup_waiting_steps", tier="minute") == 2
    lag_s = value(result, "sinemora_rollup_lag_seconds", tier="minute")
    assert lag_s is not None
    assert 540 <= lag_s <= (datetime.now(UTC) - start).total_seconds() - 60
    assert value(result, "sinemora_rollup_lag_seconds", tier="day") == 0


def test_partitions_stand_ready_for_days(client: Caller, timescaledb: str | None):
    result = scraped(client)
    if timescaledb is None:
        assert (value(result, "sinemora_partitions_ahead_days") or 0) >= 2
    else:
        assert "sinemora_partitions_ahead_days" not in result


@pytest.fixture
def archived(client: Caller, set_to: Callable[..., None]) -> None:
    """Set an archive that has archived once, since its metrics are absent otherwise."""
    set_to(storage_bucket="b", storage_access_key="k", storage_secret_key="s", archive="on")
    archive_state.record_pass(datetime.now(UTC), datetime.now(UTC))


def test_every_metric_is_documented(client: Caller, archived: None):
    assert gateway_metrics  # registered by its import
    exported = set()
    for registry in (REGISTRY, WORKER):
        for family in registry.collect():
            exported.add(family.name + ("_total" if family.type == "counter" else ""))
    ours = {name for name in exported if name.startswith("sinemora_")}
    conditional = {"sinemora_partitions_ahead_days"}  # absent with TimescaleDB
    assert DOCUMENTED - conditional == ours - conditional


def test_alerts_and_the_dashboard_are_about_metrics_that_exist():
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    panels = json.loads((ALERTS.parent / "sinemora-backend.json").read_text())["panels"]
    for queries in (
        [rule["expr"] for group in groups for rule in group["rules"]],
        [target["expr"] for panel in panels for target in panel["targets"]],
    ):
        named = {re.sub("_bucket$", "", name) for query in queries for name in re.findall(r"sinemora_\w+", query)}
        assert named
        assert named <= DOCUMENTED
    tasks = {name for found in re.findall(r'task=~"([^"]+)"', ALERTS.read_text()) for name in found.split("|")}
    assert tasks
    assert tasks <= {entry["task"] for entry in schedule.SCHEDULE.values()}
