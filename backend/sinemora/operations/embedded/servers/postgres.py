"""Private PostgreSQL server: separate user, Unix socket only, peer authentication, no trusted connection.

    server = PostgresServer(data_dir)
    server.prepare()               # initdb once, configuration every time
    server.start()                 # in a separate session; returns when it accepts connections
    server.provision()             # roles and the database
    psycopg.connect(server.dsn("sinemora_app"))
    server.stop()

The supervisor uses only `prepare`, `command`, `ready` and `provision`: it starts the process itself.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.binaries import postgres_home
from sinemora.operations.embedded.servers.foreground import Foreground
from sinemora.operations.embedded.servers.service_user import ServiceUser, service_user
from sinemora.operations.embedded.servers.sockets import private_dir, socket_dir

SUPERUSER = "postgres"
OWNER_ROLE = "sinemora_owner"
APP_ROLE = "sinemora_app"
SYSTEM_ROLE = "sinemora_system"
DATABASE = "sinemora"
_PORT = 5432  # only names the socket file
_SETTINGS = {
    "listen_addresses": "''",
    "port": str(_PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "64MB",
    "wal_compression": "pglz",
    # What a stopped archive may keep: without a bound it would fill the disk.
    "max_slot_wal_keep_size": "4GB",
    "max_wal_size": "1GB",
    "jit": "off",  # queries are short: compilation costs more than it saves
    # The newest windows are rewritten every few seconds; with a nap of a minute their tables would grow many times.
    "autovacuum_naptime": "15s",
    "log_line_prefix": "'%m [%p] %q%u@%d '",
    "log_min_duration_statement": "1s",
    "log_checkpoints": "off",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
}
_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer:
    """PostgreSQL cluster in `data_dir`, run as `user` (see `service_user`).

    `durable=False` trades safety for speed, for test clusters. `data_dir` must be reachable by the
    service user; a folder of `tempfile.mkdtemp()` is. `programs` replaces the folder with the embedded programs.
    """

    def __init__(
        self,
        data_dir: Path,
        user: ServiceUser | None = None,
        *,
        durable: bool = True,
        programs: Path | None = None,
    ) -> None:
        self.data_dir = data_dir.resolve()
        self.user = user or service_user()
        self.cluster = self.data_dir / "postgres"
        self.log = self.data_dir / "logs" / "postgres.log"
        self.durable = durable
        self._programs = programs
        self._process: Foreground | None = None

    def prepare(self) -> None:
        """Create the cluster if missing, and write its configuration. Stop a server left over from a crash.

        Raises EmbeddedError when the folder cannot be used or has data of another major version.
        """
        private_dir(self.data_dir, self.user)
        self.log.parent.mkdir(mode=0o755, exist_ok=True)
        self.stop_leftover()
        if not self.cluster.exists():
            self._initdb()
        self._check_version()
        self._configure()

    def command(self) -> list[str]:
        """Return the command line of the server; run it as `user` in the folder `cluster`."""
        return [str(self.programs / "postgres"), "-D", str(self.cluster)]

    def environment(self) -> dict[str, str]:
        """Return the environment of the server, without the caller's `PG…` variables."""
        return {"PATH": os.defpath, "LANG": "C", "LC_ALL": "C", "TZ": "UTC"}

    def dsn(self, role: str = APP_ROLE, database: str = DATABASE) -> str:
        """Return a connection URL for libpq; no password: the socket identifies the user."""
        return f"postgresql://{role}@/{quote(database)}?host={quote(str(self.socket_folder), safe='')}"

    @cached_property
    def socket_folder(self) -> Path:
        """Return the folder of the server's socket, created at first use."""
        return socket_dir(self.data_dir, "postgres", f".s.PGSQL.{_PORT}.lock", self.user)

    @cached_property
    def programs(self) -> Path:
        """Return the folder with `postgres`, `psql`, `pg_dump` …, readable by the service user."""
        return self._programs or postgres_home(self.data_dir / "engine", self.user) / "bin"

    def ready(self) -> bool:
        """Return whether the server takes connections now (not while it starts or recovers)."""
        try:
            psycopg.connect(self.dsn(SUPERUSER, "postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def responds(self) -> bool:
        """Return whether the server responds, also with an error (starting, recovering, too many connections)."""
        try:
            psycopg.connect(self.dsn(SUPERUSER, "postgres"), connect_timeout=4).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            return True
        return True

    def provision(self, database: str = DATABASE) -> None:
        """Create the roles and the database if they are missing; safe to repeat.

        The owner role owns the schema and runs migrations. The application role works as one tenant, the system role
        across tenants; neither is a superuser or may bypass row-level security.
        """
        with psycopg.connect(self.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
            known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role in {OWNER_ROLE, APP_ROLE, SYSTEM_ROLE} - known:
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE").format(
                        sql.Identifier(role)
                    )
                )
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(
                        sql.Identifier(database), sql.Identifier(OWNER_ROLE)
                    )
                )
            connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)))
            connection.execute(
                sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {} TO {}, {}").format(
                    sql.Identifier(database), sql.Identifier(APP_ROLE), sql.Identifier(SYSTEM_ROLE)
                )
            )

    def start(self, timeout_s: float = 60) -> None:
        """Start the server and wait until it accepts connections; for tests and one-off commands."""
        self._process = Foreground(self.command(), self.cluster, self.environment(), self.log, self.user)
        if not self._process.wait_until(self.ready, timeout_s):
            self.stop()
            raise self._error("did not start")

    def stop(self, timeout_s: float = 20) -> None:
        """Stop a server started with `start`: fast shutdown, then immediate."""
        process, self._process = self._process, None
        if process:
            process.stop((signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), timeout_s)

    def stop_leftover(self, timeout_s: float = 20) -> None:
        """Stop what still runs on this cluster: a server whose supervisor was killed, or processes of a dead server.

        While one of these processes lives, PostgreSQL refuses to start ("pre-existing shared memory block").
        """
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            left = self._leftovers()
            postmaster = self._postmaster()
            if not left:
                return
            # Without a postmaster nothing that they do can be committed; hung ones take no other signal.
            for pid in left if how == signal.SIGKILL or postmaster not in left else [postmaster]:
                with suppress(ProcessLookupError):
                    os.kill(pid, how if postmaster in left else signal.SIGKILL)
            deadline = time.monotonic() + timeout_s
            while self._leftovers() and time.monotonic() < deadline:
                time.sleep(0.05)

    def _postmaster(self) -> int:
        """Return the process id in `postmaster.pid`; 0 without one."""
        try:
            return int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return 0

    def _leftovers(self) -> list[int]:
        """Return the processes of PostgreSQL that run in the folder of this cluster."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or belongs to another user
                if (
                    os.readlink(process / "cwd") == str(self.cluster)
                    and b"postgres" in (process / "cmdline").read_bytes()
                ):
                    found.append(int(process.name))
        return found

    def _initdb(self) -> None:
        # Created under another name: an interrupted initdb must not look like a cluster.
        staging = self.cluster.with_name("postgres.part")
        shutil.rmtree(staging, ignore_errors=True)
        private_dir(staging, self.user)
        with self.log.open("ab") as log:
            done = subprocess.run(
                [
                    str(self.programs / "initdb"),
                    f"--pgdata={staging}",
                    f"--username={SUPERUSER}",
                    "--auth-local=peer",
                    "--auth-host=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--no-instructions",
                    *([] if self.durable else ["--no-sync", "--wal-segsize=1"]),
                ],
                cwd=self.data_dir,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
                **self.user.popen_identity(),  # type: ignore[call-overload]
            )
        if done.returncode != 0:
            raise self._error("could not be set up (initdb failed)")
        staging.rename(self.cluster)

    def _check_version(self) -> None:
        stored = (self.cluster / "PG_VERSION").read_text().strip()
        output = subprocess.run([self.programs / "postgres", "--version"], capture_output=True, text=True, check=True)
        installed = output.stdout.split()[-1]
        if stored != installed.split(".", 1)[0]:
            raise EmbeddedError(
                f"Wrong PostgreSQL version: {stored} wrote the data in {self.cluster}, this is {installed}.",
                f"Dump them with the version that runs PostgreSQL {stored} and load the dump here: docs/backup.md.",
            )

    def _configure(self) -> None:
        settings = (
            _SETTINGS | {"unix_socket_directories": f"'{self.socket_folder}'"} | ({} if self.durable else _UNSAFE)
        )
        lines = [f"{key} = {value}" for key, value in settings.items()]
        lines.append(f"include_if_exists = '{self.data_dir / 'postgresql.custom.conf'}'")
        caller = pwd.getpwuid(os.geteuid()).pw_name
        # The caller may be any of the three roles: root can become any user, and a normal user is the service user.
        users = [f"sinemora {name} {role}" for name in sorted({caller, self.user.name}) for role in _ROLES]
        self._write("postgresql.conf", ["# Written at every start. Your own settings: postgresql.custom.conf.", *lines])
        self._write("pg_hba.conf", ["local all,replication all peer map=sinemora"])
        self._write("pg_ident.conf", users)

    def _write(self, name: str, lines: list[str]) -> None:
        path = self.cluster / name
        path.write_text("\n".join(lines) + "\n")
        if not self.user.is_caller:
            os.chown(path, self.user.uid, self.user.gid)
        path.chmod(0o600)

    def _error(self, what: str) -> EmbeddedError:
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-12:])
        return EmbeddedError(f"PostgreSQL {what}. The end of its log:\n{tail}", f"The whole log: {self.log}")


_ROLES = (SUPERUSER, OWNER_ROLE, APP_ROLE, SYSTEM_ROLE)
