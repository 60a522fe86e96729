"""The archive of a database elsewhere: over the network, with a password, as a role that may only replicate."""

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from tests.operations.recovery.archiving import StoringArchiver, command, restored, stored

ROLES = Path(__file__).parents[4] / "infra" / "docker" / "database-roles.sh"
# One of loopback's many, so that the usual port is free there.
ADDRESS = f"127.77.{os.getpid() % 250 + 1}.{os.getpid() // 250 % 250 + 1}"
PASSWORD = "it's `archive` @ a/b"


@pytest.fixture
def elsewhere(place: Path) -> Iterator[PostgresServer]:
    """Yield a server that listens at `ADDRESS`, with the rules of access that the image of PostgreSQL writes."""
    server = PostgresServer(place / "elsewhere", durable=False)
    server.prepare()
    (server.data_dir / "postgresql.custom.conf").write_text(f"listen_addresses = '{ADDRESS}'\n")
    with (server.cluster / "pg_hba.conf").open("a") as rules:
        rules.write("host all all all scram-sha-256\n")
    server.start()
    yield server
    server.stop()


def test_a_role_that_may_only_replicate_keeps_an_archive_up(
    servers: Any,
    elsewhere: PostgresServer,
    storage: ObjectStorageServer,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    for name in ("database_owner", "database", "database_system", "database_archive"):
        (tmp_path / f"{name}_password").write_text(PASSWORD + "\n")
    env = {
        **{"POSTGRES_USER": SUPERUSER, "POSTGRES_DB": "sinemora", "SINEMORA_SECRETS": str(tmp_path)},
        **{"PGHOST": str(elsewhere.socket_folder), "PATH": f"{elsewhere.programs}:{os.defpath}"},
    }
    subprocess.run([elsewhere.programs / "createdb", "-U", SUPERUSER, "sinemora"], env=env, check=True)
    subprocess.run(["sh", ROLES], env=env, check=True)
    for name in ("PGHOST", "PGUSER", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SINEMORA_DATABASE_ARCHIVE_URL", f"postgresql://sinemora_archiver@{ADDRESS}/sinemora")
    monkeypatch.setenv("SINEMORA_DATABASE_ARCHIVE_PASSWORD_FILE", str(tmp_path / "database_archive_password"))
    with StoringArchiver(place / "spool") as archiver:
        archiver.wait_until_archived(archiver.began)
        with psycopg.connect(elsewhere.dsn(SUPERUSER), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        archiver.wait_until_archived(datetime.now(UTC))
        refused = command("drill", "--storage")
        assert refused.returncode == 1
        assert "A drill needs a superuser" in refused.stderr
    with (
        restored(stored().download(place / "downloaded"), place / "restored") as server,
        psycopg.connect(server.dsn()) as connection,
    ):
        assert connection.execute("SELECT n FROM kept").fetchone() == (42,)
