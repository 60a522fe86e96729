"""Database roles of tests that read with SQL, on the server of the tests: they authenticate as an operator's do."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy import text

from sinemora.cli import main
from sinemora.operations.embedded.servers.postgres import DATABASE, SUPERUSER, PostgresServer
from tests.api_clients import Member
from tests.conftest import Servers
from tests.waits import until


@contextmanager
def role(servers: Servers, options: str = "") -> Iterator[str]:
    """Create a role that may log in, with the `options` of CREATE ROLE; drop it at the end."""
    name = f"reader_{uuid4().hex[:12]}"
    superuser = psycopg.connect(servers.postgres.dsn(SUPERUSER), autocommit=True)
    with superuser:
        # Temporary objects are no privilege of a login, but many databases give it to every role.
        superuser.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'for-tests-only' {options}")
        superuser.execute(f"GRANT TEMPORARY ON DATABASE {superuser.info.dbname} TO {name}")
        if isinstance(servers.postgres, PostgresServer):
            caller = pwd.getpwuid(os.geteuid()).pw_name
            with (servers.postgres.cluster / "pg_ident.conf").open("a") as idents:
                idents.write(f"sinemora {caller} {name}\n")
            superuser.execute("SELECT pg_reload_conf()")
        try:
            yield name
        finally:
            superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [name])
            superuser.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(name)))


@contextmanager
def login(servers: Servers, member: Member) -> Iterator[psycopg.Connection]:
    """Grant a new role the minutes of the tenant of `member`; yield a connection that authenticated as it."""
    with role(servers) as name:
        assert main(["sql-logins", "grant", name, str(member.tenant_id)]) == 0
        with connected(servers, name) as connection:
            yield connection


@contextmanager
def connected(servers: Servers, name: str) -> Iterator[psycopg.Connection]:
    """Connect as a role, once the server has read that it may."""
    connections: list[psycopg.Connection] = []

    def may_connect() -> bool:
        with suppress(psycopg.OperationalError):
            connections.append(psycopg.connect(servers.postgres.dsn(name, DATABASE), autocommit=True))
        return bool(connections)

    until(may_connect, f"{name} connects")
    with connections[0] as connection:
        yield connection


def compute_steps(servers: Servers, timescaledb: str | None) -> None:
    """Run the policies of hours and days, as TimescaleDB does every few minutes; views of minutes need none."""
    if timescaledb is None:
        return
    with servers.owner_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Hours first, which days are computed from.
        jobs = connection.scalars(
            text(
                "SELECT job_id FROM timescaledb_information.jobs WHERE hypertable_schema = 'sinemora_steps'"
                " ORDER BY hypertable_name LIKE '%days', proc_name"
            )
        ).all()
        assert len(jobs) == 10  # for zones and paths: computes and forgets both, moves hours to the columnstore
        for job in jobs:
            connection.execute(text(f"CALL run_job({job})"))
