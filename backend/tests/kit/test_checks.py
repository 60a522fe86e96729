"""/readyz reports what the product cannot do for people, and is never held up by it."""

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import text

from sinemora.kit import checks, db
from sinemora.kit.checks import UNANSWERED, Check
from sinemora.measurements.ingest import storing_check
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE
from tests.api_clients import Caller
from tests.conftest import Servers


@pytest.fixture(autouse=True)
def never_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(checks, "_KEPT_S", 0.0)
    known = list(checks.CHECKS.values())
    storing_check.forget()
    yield
    for check in known:
        check._ended_s = float("-inf")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for checks on a busy machine."""
    monkeypatch.setattr(checks, "_PATIENCE_S", 60.0)


def storing(client: Caller) -> tuple[str, str]:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    return answer.json()["status"], answer.json()["dependencies"]["storing"]["detail"]


@pytest.mark.whole_store  # the evaluation is late for meshes of other tests
def test_a_locked_table_is_reported_until_it_is_free(client: Caller, servers: Servers, patient: None) -> None:
    for table in ("probe_frames", "path_latest", "meshes"):
        with psycopg.connect(servers.postgres.dsn(OWNER_ROLE)) as session:
            session.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            assert storing(client) == ("degraded", "reports cannot be stored: a table is locked"), table
        assert storing(client) == ("ready", "works")


def test_a_database_that_became_read_only_is_reported(
    client: Caller, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only = ("transaction_read_only = on", *storing_check._LIMITS)
    monkeypatch.setattr(storing_check, "_LIMITS", read_only)
    assert storing(client) == ("degraded", "reports cannot be stored: the database takes no writes")


def test_the_check_writes_to_the_disk_of_the_data_and_leaves_nothing(client: Caller) -> None:
    with db.system_session() as session:
        for limit in storing_check._LIMITS:
            session.execute(text(f"SET LOCAL {limit}"))
        plan = "\n".join(session.scalars(text(f"EXPLAIN (ANALYZE) {storing_check._ON_DISK}")))
    assert "Disk:" in plan


def test_a_check_that_hangs_delays_nobody_and_is_not_started_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(checks, "_SLOW_S", 60.0)
    free, calls = threading.Event(), []

    def find() -> str | None:
        calls.append(1)
        free.wait()
        return None

    hanging = Check("hanging", find)
    monkeypatch.setattr(checks, "CHECKS", {"hanging": hanging})
    began = time.monotonic()
    assert checks.problems() == {"hanging": None}  # a busy machine is no outage
    monkeypatch.setattr(checks, "_SLOW_S", 0.0)
    assert checks.problems() == {"hanging": UNANSWERED}
    assert time.monotonic() - began < 30
    assert calls == [1]
    free.set()
    monkeypatch.setattr(checks, "_PATIENCE_S", 60.0)
    assert checks.problems() == {"hanging": None}


def test_a_check_that_fails_is_reported_without_its_words(monkeypatch: pytest.MonkeyPatch, patient: None) -> None:
    def find() -> str | None:
        raise LookupError("host 10.0.0.5 user sinemora_system")

    monkeypatch.setattr(checks, "CHECKS", {"one": Check("one", find)})
    assert checks.problems() == {"one": UNANSWERED}
