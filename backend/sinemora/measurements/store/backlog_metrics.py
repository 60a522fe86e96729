"""Prometheus metrics of the backlog of merging and of the partitions ahead."""

from collections.abc import Iterator
from datetime import UTC, datetime

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.kit.observability.telemetry import at_scrape
from sinemora.measurements.store.tiers import ROLLED


def merging() -> Iterator[Metric]:
    """Yield the age of the oldest unmerged step of each tier, and the number of such steps. SQLAlchemyError."""
    lag = GaugeMetricFamily(
        "sinemora_rollup_lag_seconds",
        "Time since the end of the oldest finished step that is not merged; 0 when there is none.",
        labels=["tier"],
    )
    steps = GaugeMetricFamily(
        "sinemora_rollup_waiting_steps", "Finished steps of meshes that are not merged.", labels=["tier"]
    )
    with system_session() as session:
        rows = session.execute(
            text(
                "SELECT step_s, extract(epoch FROM now() - min(minute)) - step_s AS lag_s,"
                " count(DISTINCT (tenant_key, mesh_key, minute)) AS steps FROM rollup_marks"
                " WHERE minute < now() - make_interval(secs => step_s) GROUP BY step_s"
            )
        )
        row_of_step = {row.step_s: row for row in rows}
    for tier in ROLLED:
        row = row_of_step.get(tier.step_s)
        lag.add_metric([tier.name.lower()], float(row.lag_s) if row else 0.0)
        steps.add_metric([tier.name.lower()], row.steps if row else 0)
    yield lag
    yield steps


def ahead() -> Iterator[Metric]:
    """Yield the number of days with partitions ahead; nothing for hypertables. SQLAlchemyError."""
    with system_session() as session:
        last = session.scalar(
            text(
                "SELECT max(to_date(right(c.relname, 8), 'YYYYMMDD')) FROM pg_inherits i"
                " JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'probe_frames'::regclass"
                " AND c.relname ~ '^probe_frames_[0-9]{8}$'"
            )
        )
    if last is not None:
        yield GaugeMetricFamily(
            "sinemora_partitions_ahead_days",
            "Whole days after today that have partitions.",
            value=(last - datetime.now(UTC).date()).days,
        )


at_scrape(merging)
at_scrape(ahead)
