"""Facts that a restored database is held to: schema, counts, newest window."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import psycopg

from sinemora.operations.archives.catalogue import revision
from sinemora.operations.recovery.errors import RecoveryError

_COUNTS = (
    "SELECT (SELECT count(*) FROM tenants), (SELECT count(*) FROM meshes), (SELECT count(*) FROM vms),"
    " (SELECT max(started_at) FROM probe_frames)"
)


@dataclass(frozen=True)
class Facts:
    """Revision of the schema, numbers of rows, and start of the newest stored window (None without windows)."""

    schema: str | None
    tenants: int
    meshes: int
    vms: int
    newest_window: datetime | None

    def as_json(self) -> dict[str, Any]:
        """Return the facts for a record."""
        return asdict(self) | {"newest_window": self.newest_window.isoformat() if self.newest_window else None}


def facts(connection: psycopg.Connection) -> Facts:
    """Read the facts as a superuser, who sees all tenants. Raises `RecoveryError` without the product's tables."""
    schema = revision(connection)
    if schema is None:
        raise RecoveryError("The database has no schema of Sinemora: does PGDATABASE name the right one?")
    row = connection.execute(_COUNTS).fetchone()
    assert row is not None
    return Facts(schema, *row)


def differences(running: Facts, restored: Facts, *, to_the_end: bool) -> list[str]:
    """Return what a restored database lacks of the running one, as it was before the drill, a sentence each.

    Rows may have been deleted meanwhile, and a restore to an earlier time lacks what came later: then only the schema
    and the presence of rows are compared.
    """
    found = []
    if to_the_end and restored.schema != running.schema:
        found.append(f"The schema is {restored.schema}, that of the running database {running.schema}.")
    for name in ("tenants", "meshes", "vms"):
        if getattr(running, name) and not getattr(restored, name):
            found.append(f"No row in {name}, {getattr(running, name)} in the running database.")
    if to_the_end and running.newest_window:
        newest = restored.newest_window
        if newest is None or newest < running.newest_window:
            found.append(f"The newest window is of {newest}, that of the running database of {running.newest_window}.")
    return found
