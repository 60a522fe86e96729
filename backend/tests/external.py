"""A PostgreSQL server that is already there, in the place of the one the tests start themselves.

    SINEMORA_TEST_DATABASE_URL=postgresql://postgres:PASSWORD@HOST:5432/postgres make test-backend

The role of that address must be a superuser. The tests make the product's two roles and databases of their own, named
after the process, and drop the databases at the end. With TimescaleDB on that server the whole suite runs on it.
"""

import os
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from sinemora.embedded.servers.postgres import APP_ROLE, DATABASE, OWNER_ROLE, SUPERUSER, SYSTEM_ROLE

SETTING = "SINEMORA_TEST_DATABASE_URL"
_PASSWORD = "for-tests-only"


class ExternalPostgres:
    """External server with the part of `PostgresServer` that tests use."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._made: set[str] = set()

    def dsn(self, role: str = APP_ROLE, database: str = DATABASE) -> str:
        """Return a connection URL for libpq."""
        who = self._url.netloc
        if role != SUPERUSER:
            who = f"{role}:{_PASSWORD}@{who.rpartition('@')[2]}"
        return urlunsplit(self._url._replace(netloc=who, path=f"/{quote(self._name(database))}"))

    def provision(self, database: str = DATABASE) -> None:
        """Create missing roles, and create the database again."""
        name = sql.Identifier(self._name(database))
        with self._superuser() as connection:
            # Several test processes may come here at once.
            connection.execute("SELECT pg_advisory_lock(8420)")
            for role in (OWNER_ROLE, APP_ROLE, SYSTEM_ROLE):
                if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
                    connection.execute(
                        sql.SQL("CREATE ROLE {} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE").format(
                            sql.Identifier(role)
                        )
                    )
                connection.execute(
                    sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(_PASSWORD))
                )
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(name, sql.Identifier(OWNER_ROLE))
            )
        self._made.add(database)

    def stop(self) -> None:
        """Refuse the database to everybody, as a server that is away would."""
        self._allow(False)

    def start(self) -> None:
        """Let them in again."""
        self._allow(True)

    def drop(self) -> None:
        """Remove what was made, but for the roles."""
        with self._superuser() as connection:
            for database in self._made:
                connection.execute(
                    sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self._name(database)))
                )

    def _allow(self, allowed: bool) -> None:
        name = self._name(DATABASE)
        with self._superuser() as connection:
            connection.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(name), sql.Literal(allowed))
            )
            if not allowed:
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    def _superuser(self) -> psycopg.Connection:
        return psycopg.connect(urlunsplit(self._url), autocommit=True)

    @staticmethod
    def _name(database: str) -> str:
        return f"{database}_test_{os.getpid()}"
