"""Promotion of a standby, by the steps of the documentation, while reports are sent."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from fastapi import Response
from sqlalchemy import NullPool, create_engine

from lab.standby import STEPS, Standby, kill
from sinemora.kit import health
from sinemora.kit.config import Settings
from sinemora.operations.embedded.servers.postgres import DATABASE, SUPERUSER, PostgresServer
from tests.servers import started
from tests.waits import until

OPERATIONS = Path(__file__).parents[4] / "docs" / "backup.md"


@pytest.fixture
def primary(place: Path, named: PostgresServer) -> Iterator[PostgresServer]:
    """Yield a server with a table, for this test alone: it dies."""
    with started(PostgresServer(place / "primary", durable=True)) as server:
        server.provision()
        with psycopg.connect(server.dsn(SUPERUSER), autocommit=True) as connection:
            connection.execute("CREATE TABLE acknowledged (n bigint PRIMARY KEY)")
            connection.execute("GRANT SELECT, INSERT ON acknowledged TO PUBLIC")
        yield server


@pytest.fixture
def standby(primary: PostgresServer, place: Path) -> Iterator[Standby]:
    follower = Standby(primary, place / "standby")
    follower.start()
    yield follower
    follower.stop()


class Writer(threading.Thread):
    """Commits numbers by the address of a product and keeps those that were acknowledged."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._stopped = threading.Event()
        self.acknowledged: list[int] = []

    def run(self) -> None:
        """Write until stopped; connect again after each error."""
        number = 0
        while not self._stopped.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=5) as connection:
                    while not self._stopped.is_set():
                        number += 1
                        connection.execute("INSERT INTO acknowledged VALUES (%s)", [number])
                        self.acknowledged.append(number)
            except psycopg.OperationalError:
                self._stopped.wait(0.05)

    def stop(self) -> None:
        """End it."""
        self._stopped.set()
        self.join(60)


def test_a_promoted_standby_has_every_acknowledged_commit(primary: PostgresServer, standby: Standby):
    writer = Writer(standby.addresses()["SINEMORA_DATABASE_URL"])
    writer.start()
    until(lambda: len(writer.acknowledged) > 500, "commits on the primary")
    kill(primary)
    before = len(writer.acknowledged)
    standby.promote()
    until(lambda: len(writer.acknowledged) > before + 500, "commits on the promoted standby")
    writer.stop()
    with psycopg.connect(standby.server.dsn(SUPERUSER)) as connection:
        stored = {n for (n,) in connection.execute("SELECT n FROM acknowledged")}
    assert set(writer.acknowledged) <= stored


def test_an_api_on_a_replica_is_not_ready_until_it_is_promoted(standby: Standby, monkeypatch: pytest.MonkeyPatch):
    url = f"postgresql+psycopg://{SUPERUSER}@/{DATABASE}?host={standby.server.socket_folder}"
    on_standby = create_engine(url, poolclass=NullPool)
    monkeypatch.setattr(health, "engine", lambda: on_standby)
    response = Response()
    read = health.readyz(response)
    assert (response.status_code, read.status) == (503, "not_ready")
    assert read.dependencies["database"].detail == (
        "a replica, which has no newest windows and takes no writes; SINEMORA_DATABASE_URL has to name the primary"
    )
    standby.promote()
    assert health.readyz(Response()).dependencies["database"].state == "up"


def test_an_api_on_a_read_only_server_is_not_ready(primary: PostgresServer, monkeypatch: pytest.MonkeyPatch):
    options = "-c%20default_transaction_read_only=on"
    url = f"postgresql+psycopg://{SUPERUSER}@/{DATABASE}?host={primary.socket_folder}&options={options}"
    read_only = create_engine(url, poolclass=NullPool)
    monkeypatch.setattr(health, "engine", lambda: read_only)
    response = Response()
    database = health.readyz(response).dependencies["database"]
    assert (response.status_code, database.state) == (503, "down")
    assert database.detail == "read-only and takes no writes; SINEMORA_DATABASE_URL has to name the primary"


def test_a_commit_waits_while_the_standby_is_away(primary: PostgresServer, standby: Standby):
    standby.stop()
    writer = Writer(primary.dsn(SUPERUSER))
    writer.start()
    with psycopg.connect(primary.dsn(SUPERUSER), autocommit=True) as connection:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        until(lambda: connection.execute(waiting).fetchone() == (1,), "a commit that waits")
    assert writer.acknowledged == []
    standby.server.start()
    until(lambda: writer.acknowledged, "its acknowledgement")
    writer.stop()


def test_the_documentation_has_the_steps():
    text = " ".join(OPERATIONS.read_text().replace("\\\n", " ").split())
    assert [step for step in STEPS if step not in text] == []


def test_an_address_may_name_two_servers_with_one_password():
    settings = Settings(
        _env_file=None,
        database_url="postgresql://app@db1,db2/sinemora?target_session_attrs=read-write",
        database_password="it's",
    )
    assert settings.database_url == "postgresql+psycopg://app:it%27s@db1,db2/sinemora?target_session_attrs=read-write"
