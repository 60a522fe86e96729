"""A synchronous standby of an embedded server, by the steps of docs/backup.md, for tests and benchmarks."""

import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg

from lab.waits import until
from sinemora.operations.embedded.servers.postgres import APP_ROLE, DATABASE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from sinemora.operations.embedded.servers.service_user import hand_over
from sinemora.operations.embedded.servers.sockets import private_dir

BASE = (
    "pg_basebackup --pgdata=FOLDER --checkpoint=fast --write-recovery-conf --create-slot --slot=sinemora_standby"
    " --dbname='host=PRIMARY user=postgres application_name=sinemora_standby'"
)
REQUIRE = "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (sinemora_standby)'"
RELOAD = "SELECT pg_reload_conf()"
WATCH = "SELECT state, sync_state FROM pg_stat_replication WHERE application_name = 'sinemora_standby'"
PROMOTE = "SELECT pg_promote()"
STEPS = (BASE, REQUIRE, RELOAD, WATCH, PROMOTE)
_LIMIT_S = 60.0


class Standby:
    """Standby of `primary` in `folder`, which waits for every commit of it once `start` has returned."""

    def __init__(self, primary: PostgresServer, folder: Path) -> None:
        self._primary = primary
        self.server = PostgresServer(folder, primary.user)

    def start(self) -> None:
        """Copy the primary, follow it, and let its commits wait for this server."""
        private_dir(self.server.data_dir, self.server.user)
        words = BASE.replace("FOLDER", str(self.server.cluster)).replace("PRIMARY", str(self._primary.socket_folder))
        name, *options = shlex.split(words)
        subprocess.run([self._primary.programs / name, *options], check=True)
        hand_over(self.server.data_dir, self.server.user)
        self.server.prepare()
        self.server.start()
        with psycopg.connect(self._primary.dsn(SUPERUSER), autocommit=True) as connection:
            _until(connection, ("streaming", "async"))
            connection.execute(REQUIRE)
            connection.execute(RELOAD)
            _until(connection, ("streaming", "sync"))

    def promote(self) -> None:
        """Make it the primary; it takes writes when this returns."""
        with psycopg.connect(self.server.dsn(SUPERUSER), autocommit=True) as connection:
            if connection.execute(PROMOTE).fetchone() != (True,):
                raise RuntimeError("the standby was not promoted within a minute")

    def stop(self) -> None:
        """Stop the server."""
        self.server.stop()

    def addresses(self) -> dict[str, str]:
        """Return the settings of a product that uses whichever of the two servers takes writes."""
        hosts = f"{self._primary.socket_folder},{self.server.socket_folder}"
        return {
            name: f"postgresql://{role}@/{DATABASE}?host={hosts}&target_session_attrs=read-write"
            for name, role in {
                "SINEMORA_DATABASE_URL": APP_ROLE,
                "SINEMORA_DATABASE_SYSTEM_URL": SYSTEM_ROLE,
            }.items()
        }


def kill(server: PostgresServer) -> None:
    """Kill a server as a power failure does; returns when its processes have ended."""
    postmaster = psutil.Process(int((server.cluster / "postmaster.pid").read_text().split()[0]))
    ended = [postmaster, *postmaster.children()]
    for one in ended:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    _, alive = psutil.wait_procs(ended, _LIMIT_S)
    assert not alive, "the killed server still runs"


def _until(connection: psycopg.Connection, state: tuple[str, str]) -> None:
    until(lambda: connection.execute(WATCH).fetchone() == state, f"the standby is {state}", _LIMIT_S)
