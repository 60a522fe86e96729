"""Roles that the database container creates at its first start."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sinemora.embedded.servers.postgres import SUPERUSER, PostgresServer

SCRIPT = Path(__file__).parents[2] / "infra" / "docker" / "database-roles.sh"


@pytest.fixture
def fresh() -> Iterator[PostgresServer]:
    """Yield a PostgreSQL without roles, as the image has it when it runs the script."""
    folder = Path(tempfile.mkdtemp(prefix="sinemora-test-"))
    server = PostgresServer(folder, durable=False)
    server.prepare()
    server.start()
    with psycopg.connect(server.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE sinemora")
        connection.execute("ALTER ROLE postgres PASSWORD 'that of the owner'")
    yield server
    server.stop()
    shutil.rmtree(folder)


def test_no_role_shares_a_password_with_the_superuser(fresh: PostgresServer):
    given = {
        "POSTGRES_USER": SUPERUSER,
        "POSTGRES_DB": "sinemora",
        "SINEMORA_DATABASE_OWNER_PASSWORD": "that of the owner",
        "SINEMORA_DATABASE_PASSWORD": "app",
        "SINEMORA_DATABASE_SYSTEM_PASSWORD": "system",
        "PGHOST": str(fresh.socket_folder),
        "PATH": f"{fresh.programs}:{os.defpath}",
    }
    subprocess.run(["sh", SCRIPT], env=given, check=True)
    with psycopg.connect(fresh.dsn(SUPERUSER)) as connection:
        roles = connection.execute(
            "SELECT rolname, rolpassword IS NOT NULL, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb"
            " FROM pg_authid WHERE rolcanlogin ORDER BY rolname"
        ).fetchall()
    assert roles == [
        ("postgres", False, True),
        ("sinemora_app", True, False),
        ("sinemora_owner", True, False),
        ("sinemora_system", True, False),
    ]
