"""Check whether a report can be stored now: not with a full disk, a locked table or a read-only database."""

import time

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sinemora.kit import checks
from sinemora.kit.db import system_session
from sinemora.kit.errors import database_error

log = structlog.get_logger(__name__)

_FRESH_S = 5.0
_LIMITS = ("lock_timeout = '1s'", "statement_timeout = '3s'", "work_mem = '64kB'", "temp_tablespaces = ''")
# Tables of a report. A deletion of nothing takes the lock of an insert, and none of a partition.
_WRITTEN = ("probe_frames", "path_latest", "rollup_marks", "spikes", "rosters", "agents")
_READ = ("tenants", "meshes", "vms")
# A sort that does not fit into its memory writes two megabytes to the disk of the data and removes them again.
_ON_DISK = (
    "SELECT count(*) FROM (SELECT wide FROM (SELECT repeat('x', 500) || n AS wide FROM generate_series(1, 4000) AS n)"
    ' AS rows ORDER BY wide COLLATE "C" DESC OFFSET 1) AS sorted'
)
# A record in the WAL, which the commit flushes.
_IN_WAL = "SELECT pg_logical_emit_message(true, 'sinemora', 'check')"

_LOCKED = "55P03"
_FULL = "53100"
_NO_WRITES = "25006"
_REASONS = {
    _LOCKED: "reports cannot be stored: a table is locked",
    _FULL: "reports cannot be stored: the disk of the database is full",
    _NO_WRITES: "reports cannot be stored: the database takes no writes",
}
_OTHERWISE = "reports cannot be stored; the log contains the reason"


class _Newest:
    """Outcome of the newest batch of reports in this process."""

    at_s = float("-inf")
    problem: str | None = None


def note_outcome(error: DBAPIError | None) -> None:
    """Record that a batch of reports was stored, or why it was not; a report that no database would take is no sign."""
    known = None if error is None else database_error(error)
    if error is None or (known is not None and known.status == 503):
        _Newest.at_s, _Newest.problem = time.monotonic(), None if error is None else _reason(error)


def forget() -> None:
    """Forget the newest batch, as if no report had come for a while."""
    _Newest.at_s = float("-inf")


def problem() -> str | None:
    """Return why a report cannot be stored, None if it can. The newest batch knows; without one, the database is asked.

    DBAPIError while the database is unavailable.
    """
    if time.monotonic() - _Newest.at_s < _FRESH_S:
        return _Newest.problem
    try:
        with system_session() as session:
            for limit in _LIMITS:
                session.execute(text(f"SET LOCAL {limit}"))
            for table in _WRITTEN:
                session.execute(text(f"DELETE FROM {table} WHERE false"))
            for table in _READ:
                session.execute(text(f"SELECT FROM {table} LIMIT 1"))
            session.execute(text(_ON_DISK))
            session.execute(text(_IN_WAL))
    except DBAPIError as error:
        log.warning("reports cannot be stored", error=str(error.orig).strip())
        return _reason(error)
    return None


def _reason(error: DBAPIError) -> str:
    return _REASONS.get(str(getattr(error.orig, "sqlstate", "")), _OTHERWISE)


checks.add("storing", problem)
