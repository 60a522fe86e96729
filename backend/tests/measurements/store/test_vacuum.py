"""Autovacuum is set by how each table lives, also of partitions made later."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.measurements.store import partitions

INSERTS_IGNORED = "autovacuum_vacuum_insert_threshold=-1"


@pytest.fixture
def session(database):
    """Whatever is made in it is undone."""
    with system_session() as session:
        yield session
        session.rollback()


def options(session, table: str, *, toast: bool = False) -> set[str]:
    result = session.scalar(
        text(
            "SELECT CASE WHEN :toast THEN t.reloptions ELSE c.reloptions END FROM pg_class c"
            " LEFT JOIN pg_class t ON t.oid = c.reltoastrelid WHERE c.oid = to_regclass(:table)"
        ),
        {"table": table, "toast": toast},
    )
    return set(result or ())


def test_partitions_made_later_are_as_those_made_before(session, timescaledb):
    if timescaledb is not None:
        assert INSERTS_IGNORED in options(session, "probe_frames", toast=True)
        return
    later = datetime.now(UTC) + timedelta(days=30)
    partitions.make_ahead(session, later, 2)
    for table in ("probe_frames", "spikes"):
        for day in (datetime.now(UTC), later):
            assert INSERTS_IGNORED in options(session, f"{table}_{day:%Y%m%d}", toast=True)
    assert options(session, f"probe_frames_1h_{later:%Y%m}", toast=True) == set()
