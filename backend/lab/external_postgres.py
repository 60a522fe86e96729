"""PostgreSQL server that runs already, for tests, instead of one that they start themselves.

    SINEMORA_TEST_DATABASE_URL=postgresql://postgres:PASSWORD@HOST:5432/postgres make test-backend

The role of that address must be a superuser. The two roles of the product and separate databases, named after the
process, are created; the databases are dropped at the end. With TimescaleDB on that server the whole suite runs on it.

If the database of the address is the coordinator of a Citus cluster, the workers that it knows get these databases too,
and `distribute` spreads the measurements over them: by tenant, or by VM with `SINEMORA_TEST_SPREAD_BY=vm`. Name and
password of the superuser must be the same on each.
"""

import os
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from sinemora.measurements.store import citus
from sinemora.measurements.store.citus import SpreadBy
from sinemora.operations.embedded.servers.postgres import APP_ROLE, DATABASE, OWNER_ROLE, SUPERUSER, SYSTEM_ROLE

SETTING = "SINEMORA_TEST_DATABASE_URL"
SPREAD_BY = "SINEMORA_TEST_SPREAD_BY"
# Each has a table for every day, and each test of the whole store empties all of them.
_SHARDS = 2
_PASSWORD = "for-tests-only"


class ExternalPostgres:
    """External server with the part of `PostgresServer` that tests use.

    `workers` are the addresses of the workers of a cluster. `by`: the key by which the measurements are spread.
    """

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self.by = SpreadBy(os.environ.get(SPREAD_BY) or SpreadBy.TENANT)
        self._made: set[str] = set()
        self.workers = self._workers()

    def dsn(self, role: str = APP_ROLE, database: str = DATABASE) -> str:
        """Return a connection URL for libpq."""
        who = self._url.netloc
        if role != SUPERUSER:
            who = f"{role}:{_PASSWORD}@{who.rpartition('@')[2]}"
        return urlunsplit(self._url._replace(netloc=who, path=f"/{quote(self._name(database))}"))

    def provision(self, database: str = DATABASE) -> None:
        """Create missing roles, and create the database again; with workers, on them too."""
        with self.superuser() as turn:
            # Several test processes may come here at once: a worker refuses to join while another one changes roles.
            turn.execute("SELECT pg_advisory_lock(8420)")
            self._provision_all(database)
        self._made.add(database)

    def _provision_all(self, database: str) -> None:
        for server in (*self.workers, self._url.netloc.rpartition("@")[2]):
            with self.superuser(server) as connection:
                self._provision(connection, sql.Identifier(self._name(database)))
            if self.workers:
                with self.superuser(server, database) as connection:
                    connection.execute("CREATE EXTENSION citus")
        if not self.workers:
            return
        with self.superuser(database=database) as connection:
            connection.execute(
                "SELECT citus_set_coordinator_host(%s, %s)", [self._url.hostname, self._url.port or 5432]
            )
            for worker in self.workers:
                host, _, port = worker.partition(":")
                connection.execute("SELECT citus_add_node(%s, %s)", [host, int(port)])

    def _provision(self, connection: psycopg.Connection, name: sql.Identifier) -> None:
        if self.workers:
            connection.execute("SET citus.enable_create_role_propagation = off")
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

    def distribute(self) -> None:
        """Spread the measurements of the migrated database over the workers, if there are some."""
        if not self.workers:
            return
        owner = create_engine(
            self.dsn(OWNER_ROLE).replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
        )
        with owner.connect() as connection:
            citus.distribute(connection, self.by, _SHARDS, lambda _: None)

    def superuser(self, server: str | None = None, database: str | None = None) -> psycopg.Connection:
        """Connect to the server of the address or another one, to its database or one that was created."""
        who, _, own = self._url.netloc.rpartition("@")
        url = self._url._replace(netloc=f"{who}@{server or own}")
        if database is not None:
            url = url._replace(path=f"/{quote(self._name(database))}")
        return psycopg.connect(urlunsplit(url), autocommit=True)

    def _workers(self) -> list[str]:
        with self.superuser() as connection:
            if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
                return []
            rows = connection.execute("SELECT node_name, node_port FROM citus_get_active_worker_nodes() ORDER BY 1, 2")
            return [f"{host}:{port}" for host, port in rows]

    def stop(self) -> None:
        """Refuse the database to everybody, as a server that is away would."""
        self._allow(False)

    def start(self) -> None:
        """Let them in again."""
        self._allow(True)

    def drop(self) -> None:
        """Remove what was made, but for the roles."""
        for server in (None, *self.workers):
            with self.superuser(server) as connection:
                for database in self._made:
                    connection.execute(
                        sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self._name(database)))
                    )

    def _allow(self, allowed: bool) -> None:
        name = self._name(DATABASE)
        with self.superuser() as connection:
            connection.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(name), sql.Literal(allowed))
            )
            if not allowed:
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    @staticmethod
    def _name(database: str) -> str:
        return f"{database}_test_{os.getpid()}"
