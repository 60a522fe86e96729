"""State of the archive of the database: written by the archiver, read by /readyz and /metrics.

One row in an unlogged table: a restored or promoted database begins without it, and it adds nothing to the WAL.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, String, Table, column, func, select
from sqlalchemy import Boolean as Bool
from sqlalchemy.dialects.postgresql import insert

from sinemora.kit.config import settings
from sinemora.kit.db import Base, system_session
from sinemora.kit.observability.telemetry import at_scrape

_AT = DateTime(timezone=True)
archive_state = Table(
    "archive_state",
    Base.metadata,
    Column("only", Bool, primary_key=True, server_default="true"),
    Column("archived_to", _AT),
    Column("base_taken_at", _AT),
    Column("failures", BigInteger, nullable=False, server_default="0"),
    Column("failed_at", _AT),
    Column("error", String),
    CheckConstraint("only", name="only"),
    prefixes=["UNLOGGED"],
)


@dataclass(frozen=True)
class ArchiveState:
    """State as the database's clock sees it; ages in seconds, None where nothing is archived yet.

    `age_s` is the age of the time to which everything acknowledged is in the archive, so the largest RPO now.
    `error` is that of the newest pass; None if it succeeded.
    """

    age_s: float | None
    base_age_s: float | None
    failures: int
    error: str | None

    @property
    def problem(self) -> str | None:
        """Return what is wrong with the archive, without numbers: /readyz is public. None if nothing is."""
        if self.base_age_s is None:
            return "no base backup yet"
        if self.age_s is None or self.age_s > settings().archive_behind_s:
            return "behind; the log of the archiver contains the reason"
        if self.base_age_s > 2 * settings().archive_base_hours * 3600:
            return "its newest base backup is too old"
        return None


def read() -> ArchiveState:
    """Return the state. SQLAlchemyError."""
    row = archive_state.c
    with system_session() as session:
        found = session.execute(
            select(
                func.extract("epoch", func.clock_timestamp() - row.archived_to),
                func.extract("epoch", func.clock_timestamp() - row.base_taken_at),
                row.failures,
                row.error,
            )
        ).one_or_none()
    if found is None:
        return ArchiveState(None, None, 0, None)
    age, base_age, failures, error = found
    return ArchiveState(_seconds(age), _seconds(base_age), failures, error)


def record_pass(archived_to: datetime | None, base_taken_at: datetime | None) -> None:
    """Store a pass that succeeded; without a time it archived, but not all that was acknowledged. SQLAlchemyError."""
    values: dict[str, object] = {"base_taken_at": base_taken_at, "error": None}
    if archived_to is not None:
        values["archived_to"] = archived_to
    _store(values)


def record_failure(error: str) -> None:
    """Store a pass that failed, with its reason. SQLAlchemyError."""
    _store({"error": error[:500], "failed_at": func.clock_timestamp()}, failed=1)


def _store(values: dict[str, object], failed: int = 0) -> None:
    more: dict[str, object] = {"failures": archive_state.c.failures + failed}
    with system_session() as session:
        session.execute(
            insert(archive_state)
            .values(**values, failures=failed)
            .on_conflict_do_update(index_elements=[column("only")], set_=values | more)
        )


def _seconds(age: object) -> float | None:
    return None if age is None else max(0.0, float(str(age)))


def metrics() -> Iterator[Metric]:
    """Yield the state as metrics, where an archive is expected. SQLAlchemyError."""
    if settings().archive != "on":
        return
    state = read()
    yield GaugeMetricFamily(
        "sinemora_archive_behind",
        "1 when the archive of the database is behind, without base backup, or its base backup is too old.",
        value=float(state.problem is not None),
    )
    yield CounterMetricFamily(
        "sinemora_archive_failures", "Passes of the archiver that failed.", value=float(state.failures)
    )
    ages = (
        ("sinemora_archive_age_seconds", "Age of the time to which all commits are archived.", state.age_s),
        ("sinemora_archive_base_age_seconds", "Age of the newest base backup.", state.base_age_s),
    )
    for name, meaning, value in ages:
        if value is not None:
            yield GaugeMetricFamily(name, meaning, value=value)


at_scrape(metrics)
