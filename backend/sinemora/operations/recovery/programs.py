"""PostgreSQL's own programs, and connections to the server by libpq's variables or `SINEMORA_DATABASE_ARCHIVE_URL`."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sinemora.kit.config import settings
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.binaries import postgres_home
from sinemora.operations.embedded.servers.service_user import caller
from sinemora.operations.recovery.errors import RecoveryError

_SERVER = ("pg_basebackup", "pg_receivewal", "postgres")
_CLIENTS = ("pg_basebackup", "pg_receivewal")
_DEBIAN = Path("/usr/lib/postgresql")
_VARIABLES = {
    **{"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"},
    **{"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"},
}
_MAY_ARCHIVE = "SELECT rolsuper, rolreplication, pg_has_role(oid, 'pg_monitor', 'usage') FROM pg_roles WHERE rolname = "


def connect(database: str | None = None, *, to_archive: bool = False) -> psycopg.Connection:
    """Connect as a superuser or, `to_archive`, as a role that may replicate and read statistics.

    Raises `RecoveryError` when no server is named, or the role may not.
    """
    if not any(os.environ.get(name) for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE")) and not _named_by_settings():
        raise RecoveryError(
            "No server named: PGHOST is not set. For the embedded database: sinemora run sinemora drill …."
            " For your own: set SINEMORA_DATABASE_ARCHIVE_URL, or PGHOST, PGUSER and PGDATABASE."
        )
    try:
        connection = psycopg.connect(dbname=database, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise RecoveryError(f"The server cannot be reached: {str(error).strip()}") from None
    row = connection.execute(_MAY_ARCHIVE + "current_user").fetchone()
    assert row is not None
    is_superuser, replicates, monitors = row
    if is_superuser or (to_archive and replicates and monitors):
        return connection
    connection.close()
    if to_archive:
        raise RecoveryError(
            "Base backups and WAL need a superuser, or a role with REPLICATION that is a member of pg_monitor:"
            " set PGUSER, for example to postgres."
        )
    raise RecoveryError("A drill needs a superuser: set PGUSER, for example to postgres.")


def _named_by_settings() -> bool:
    """Name the server of the settings by libpq's variables, for PostgreSQL's programs too. Return whether there is one.

    A password stays in the environment of this process and of its children, which other users cannot read.
    """
    if not settings().database_archive_url:
        return False
    url = settings().database_archive_url.replace("postgresql+psycopg://", "postgresql://", 1)
    for name, value in conninfo_to_dict(url).items():
        if name in _VARIABLES and value is not None:
            os.environ[_VARIABLES[name]] = str(value)
    return True


def clients(major: int) -> Path:
    """Return the folder with the clients that archive a server of a major version: its own or newer ones.

    Raises `RecoveryError`.
    """
    found = shutil.which("pg_receivewal")
    installed = sorted(_DEBIAN.glob("*/bin"), reverse=True)
    for candidate in (Path(found).resolve().parent if found else None, *installed, _embedded()):
        if _has(candidate, _CLIENTS) and _major(candidate / "pg_receivewal") >= major:
            return candidate
    raise RecoveryError(
        f"pg_basebackup and pg_receivewal of PostgreSQL {major} or newer are needed on PATH or in {_DEBIAN}. Install"
        f" them (Debian: postgresql-client-{major})."
    )


def folder(major: int) -> Path:
    """Return the folder with the programs of a major version: on PATH, Debian's or the embedded ones.

    Raises `RecoveryError`.
    """
    found = shutil.which("postgres")
    for candidate in (Path(found).parent if found else None, _DEBIAN / str(major) / "bin", _embedded()):
        if (
            candidate
            and all((candidate / name).is_file() for name in _SERVER)
            and _major(candidate / "postgres") == major
        ):
            return candidate
    raise RecoveryError(
        f"PostgreSQL {major} is not installed here: {', '.join(_SERVER)} of this version are needed on PATH or in"
        f" {_DEBIAN / str(major) / 'bin'}. Install it (Debian: postgresql-{major}), or run the command where it is."
    )


def are_embedded(major: int) -> bool:
    """Return whether the embedded programs are of a major version."""
    own = _embedded()
    return own is not None and _major(own / "postgres") == major


def _embedded() -> Path | None:
    try:
        return postgres_home(Path("nowhere"), caller()) / "bin"
    except EmbeddedError:  # the wheel is not installed
        return None


def _has(folder: Path | None, names: Sequence[str]) -> TypeGuard[Path]:
    return folder is not None and all((folder / name).is_file() for name in names)


def _major(program: Path) -> int:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return int(words[2].split(".")[0]) if done.returncode == 0 and len(words) > 2 else 0
