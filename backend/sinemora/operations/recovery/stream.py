"""WAL as a stream into an archive: pg_receivewal, and the replication slot that keeps what it has not read."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

from sinemora.operations.embedded.programs import ends_with_parent
from sinemora.operations.recovery import programs

SLOT = "sinemora_archive"


class Stream:
    """pg_receivewal that writes WAL into a folder, as a child of this process."""

    def __init__(self, wal: Path, major: int, slot: str) -> None:
        self.slot = slot
        self._command: Sequence[str | Path] = [
            programs.clients(major) / "pg_receivewal", f"--directory={wal}", f"--slot={slot}",
            "--synchronous", "--no-loop", "--no-password", "--status-interval=1",
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        self._name = f"{slot} {os.getpid()}"

    def start(self) -> None:
        """Start it; its messages go to standard error."""
        env = os.environ | {"PGAPPNAME": self._name}
        # One that outlived a killed archiver would hold the slot.
        ends = ends_with_parent(signal.SIGINT)
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, env=env, preexec_fn=ends)

    def position(self, connection: psycopg.Connection) -> int:
        """Return the position in the WAL, bytes, up to which the folder has it durably; 0 if that is not known."""
        row = connection.execute(
            "SELECT max(flush_lsn - '0/0') FROM pg_stat_replication WHERE application_name = %s", [self._name]
        ).fetchone()
        return int(row[0]) if row and row[0] is not None else 0

    @property
    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
        if self._process:
            self._process.wait(30)


def ensure_slot(connection: psycopg.Connection, slot: str) -> bool:
    """Create the slot if it is missing or lost its WAL. Return whether WAL before now may be missing in the archive."""
    row = connection.execute("SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s", [slot]).fetchone()
    if row is not None and row[0] != "lost":
        return False
    if row is not None:
        connection.execute("SELECT pg_drop_replication_slot(%s)", [slot])
    # true: WAL is kept from now on, not from the first connection of the stream.
    connection.execute("SELECT pg_create_physical_replication_slot(%s, true)", [slot])
    return True


def drop_slot(connection: psycopg.Connection, slot: str) -> None:
    """Delete a slot, so that the server keeps no WAL for it."""
    connection.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [slot]
    )


def slot_position(connection: psycopg.Connection, slot: str) -> int | None:
    """Return the position in the WAL, bytes, before which a slot keeps nothing; None without the slot."""
    row = connection.execute(
        "SELECT restart_lsn - '0/0' FROM pg_replication_slots WHERE slot_name = %s AND restart_lsn IS NOT NULL", [slot]
    ).fetchone()
    return None if row is None else int(row[0])
