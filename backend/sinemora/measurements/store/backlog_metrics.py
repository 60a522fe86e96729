"""Prometheus metrics of how far merging and partitions are."""

from collections.abc import Iterator
from datetime import UTC, datetime

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.kit.telemetry import at_scrape
from sinemora.measurements.store.tiers import ROLLED


def merging() -> Iterator[Metric]:
    """How long the oldest step of each tier that is over waits to be merged. SQLAlchemyError."""
    lag = GaugeMetricFamily(
        "sinemora_rollup_lag_seconds",
        "Time since the end of the oldest step that is over and not merged; 0 when there is none.",
        labels=["tier"],
    )
    steps = GaugeMetricFamily(
        "sinemora_rollup_waiting_steps", "Steps of meshes that are over and not merged.", labels=["tier"]
    )
    with system_session() as session:
        rows = session.execute(
            text(
                "SELECT step_s, extract(epoch FROM now() - min(minute)) - step_s AS lag_s,"
                " count(DISTINCT (tenant_key, mesh_key, minute)) AS steps FROM rollup_marks"
                " WHERE minute < now() - make_interval(secs => step_s) GROUP BY step_s"
            )
        )
        found = {row.step_s: row for row in rows}
    for tier in ROLLED:
        row = found.get(tier.step_s)
        lag.add_metric([tier.name.lower()], float(row.lag_s) if row else 0.0)
        steps.add_metric([tier.name.lower()], row.steps if row else 0)
    yield lag
    yield steps


def ahead() -> Iterator[Metric]:
    """Days for which partitions stand ready; nothing where chunks make themselves. SQLAlchemyError."""
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
            "Whole days after today for which partitions stand ready.",
            value=(last - datetime.now(UTC).date()).days,
        )


at_scrape(merging)
at_scrape(ahead)
