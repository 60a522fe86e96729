"""Roles that the database container creates at its first start."""

import base64
import hashlib
import hmac
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from tests.servers import started

SCRIPT = Path(__file__).parents[2] / "infra" / "docker" / "database-roles.sh"


@pytest.fixture(scope="module")
def fresh() -> Iterator[PostgresServer]:
    """Yield a PostgreSQL without roles, as the image has it when it runs the script."""
    with (
        tempfile.TemporaryDirectory(prefix="sinemora-test-") as folder,
        started(PostgresServer(Path(folder), durable=False)) as server,
    ):
        with psycopg.connect(server.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE sinemora")
            connection.execute("ALTER ROLE postgres PASSWORD 'that of the owner'")
        yield server


@pytest.fixture
def given(fresh: PostgresServer, tmp_path: Path) -> dict[str, str]:
    """The secrets as files, and the environment in which the image runs the script."""
    for name, secret in (("database_owner", "that of the owner"), ("database", "it's `app`"), ("database_system", "s")):
        (tmp_path / f"{name}_password").write_text(secret + "\n")
    return {
        "POSTGRES_USER": SUPERUSER,
        "POSTGRES_DB": "sinemora",
        "SINEMORA_SECRETS": str(tmp_path),
        "PGHOST": str(fresh.socket_folder),
        "PATH": f"{fresh.programs}:{os.defpath}",
    }


def test_no_role_shares_a_password_with_the_superuser(fresh: PostgresServer, given: dict[str, str]):
    subprocess.run(["sh", SCRIPT], env=given, check=True)
    with psycopg.connect(fresh.dsn(SUPERUSER)) as connection:
        roles = connection.execute(
            "SELECT rolname, rolpassword IS NOT NULL, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb"
            " FROM pg_authid WHERE rolcanlogin ORDER BY rolname"
        ).fetchall()
        app = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'sinemora_app'").fetchone()
    assert roles == [
        ("postgres", False, True),
        ("sinemora_app", True, False),
        ("sinemora_owner", True, False),
        ("sinemora_system", True, False),
    ]
    assert app is not None
    assert _verifies(app[0], "it's `app`")


def test_the_archiver_replicates_over_the_network_and_reads_no_row(
    fresh: PostgresServer, given: dict[str, str], tmp_path: Path
):
    (tmp_path / "database_archive_password").write_text("it's `archive`\n")
    subprocess.run(["sh", SCRIPT, "--archiver"], env=given, check=True)  # of an installation that exists
    with psycopg.connect(fresh.dsn(SUPERUSER), autocommit=True) as connection:
        connection.execute("CREATE TABLE rows_of_tenants (n int)")
        role = connection.execute(
            "SELECT rolreplication, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb, rolpassword,"
            " pg_has_role('sinemora_archiver', 'pg_monitor', 'usage'),"
            " has_table_privilege('sinemora_archiver', 'rows_of_tenants', 'select')"
            " FROM pg_authid WHERE rolname = 'sinemora_archiver'"
        ).fetchone()
        rules = connection.execute(
            "SELECT database, user_name, auth_method, error FROM pg_hba_file_rules WHERE type = 'host'"
        ).fetchall()
    assert role is not None
    assert (role[0], role[1], role[3], role[4]) == (True, False, True, False)
    assert _verifies(role[2], "it's `archive`")
    assert (["replication"], ["sinemora_archiver"], "scram-sha-256", None) in rules


def test_a_missing_secret_is_named(given: dict[str, str], tmp_path: Path):
    (tmp_path / "database_system_password").write_text("")
    done = subprocess.run(["sh", SCRIPT], env=given, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{tmp_path}/database_system_password is missing or empty" in done.stderr


def _verifies(stored: str, password: str) -> bool:
    """Return whether a SCRAM-SHA-256 verifier of PostgreSQL is that of a password (RFC 5802)."""
    iterations, salt = stored.split("$")[1].split(":")
    keys = stored.split("$")[2]
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(iterations))
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return base64.b64encode(server_key).decode() == keys.split(":")[1]
