"""PostgreSQL's own programs of the version of a server, and connections to it by libpq's variables (`PGHOST` …)."""

import os
import shutil
import subprocess
from pathlib import Path

import psycopg

from sinemora.embedded.errors import EmbeddedError
from sinemora.embedded.servers.binaries import postgres_home
from sinemora.embedded.servers.service_user import caller
from sinemora.recovery.errors import RecoveryError

_NEEDED = ("pg_basebackup", "pg_receivewal", "postgres")
_DEBIAN = Path("/usr/lib/postgresql")


def connect(database: str | None = None) -> psycopg.Connection:
    """Connect to the server that libpq's variables name. Raises `RecoveryError` when nothing names one."""
    if not any(os.environ.get(name) for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE")):
        raise RecoveryError(
            "No server named: PGHOST is not set. For the embedded database: sinemora run sinemora drill …."
            " For your own: set PGHOST, PGUSER (a superuser) and PGDATABASE."
        )
    try:
        connection = psycopg.connect(dbname=database, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise RecoveryError(f"The server cannot be reached: {str(error).strip()}") from None
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if row != (True,):
        connection.close()
        raise RecoveryError("Base backups and WAL need a superuser: set PGUSER, for example to postgres.")
    return connection


def folder(major: int) -> Path:
    """Return the folder with the programs of a major version: on PATH, Debian's or the embedded ones.

    Raises `RecoveryError`.
    """
    found = shutil.which("postgres")
    for candidate in (Path(found).parent if found else None, _DEBIAN / str(major) / "bin", _embedded()):
        if candidate and all((candidate / name).is_file() for name in _NEEDED) and _major(candidate) == major:
            return candidate
    raise RecoveryError(
        f"PostgreSQL {major} is not installed here: {', '.join(_NEEDED)} of this version are needed on PATH or in"
        f" {_DEBIAN / str(major) / 'bin'}. Install it (Debian: postgresql-{major}), or run the command where it is."
    )


def are_embedded(major: int) -> bool:
    """Return whether the embedded programs are of a major version."""
    own = _embedded()
    return own is not None and _major(own) == major


def _embedded() -> Path | None:
    try:
        return postgres_home(Path("nowhere"), caller()) / "bin"
    except EmbeddedError:  # the wheel is not installed
        return None


def _major(candidate: Path) -> int:
    done = subprocess.run([candidate / "postgres", "--version"], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return int(words[2].split(".")[0]) if done.returncode == 0 and len(words) > 2 else 0
