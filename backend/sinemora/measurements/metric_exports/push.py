"""Push of a minute: claim, read, send its requests one after the other, record the end.

A request is recorded before it is sent. So whenever a worker ends, none is sent twice: the one whose answer is unknown
is left out. Series are spread over requests by a hash of their labels, so a minute continues where it stopped although
values came in meanwhile.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zlib import crc32

import structlog
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.kit import encryption
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.http_authentication import headers_of
from sinemora.measurements.metric_exports import minutes, queries, wire
from sinemora.measurements.metric_exports.minutes import STEP
from sinemora.measurements.metric_exports.models import MetricExport, MetricExportKind
from sinemora.measurements.metric_exports.wire import SendError
from sinemora.measurements.prometheus.promql import Labels
from sinemora.measurements.store.tiers import floor

log = structlog.get_logger(__name__)

SETTLED = timedelta(seconds=60)
"""Time after its end at which a minute is sent: it is merged by then."""
KEPT = timedelta(minutes=30)
"""Age at which a minute is not sent any more: servers refuse values that are much older than their newest."""
REQUEST_VALUES = 2_000
"""Values of a request, about."""
_BACKOFF_S = (30, 60, 120, 300)
_UNKNOWN = "Request left out: a worker ended while it was sent."
_AHEAD = "Minutes up to {:%H:%M} UTC were sent already: the clock of the backend was stepped back."


@dataclass(frozen=True, slots=True)
class Claim:
    """Minute, by its end, that this process alone sends, until `busy_until`."""

    export: MetricExport
    end: datetime
    busy_until: datetime


def newest(now: datetime) -> datetime:
    """Return the end of the newest minute that may be sent."""
    return floor(now - SETTLED, 60)


def push_minute(tenant_id: UUID, until_s: float) -> bool:
    """Push the next minute that is due to a server of the tenant; return whether there was one.

    It stops between two requests at `until_s` (monotonic). LookupError for a tenant that was deleted.
    """
    with tenant_session(tenant_id) as session:
        claimed = claim(session, datetime.now(UTC))
    if claimed is None:
        return False
    try:
        _push(tenant_id, claimed, until_s)
    except ProductError as error:  # of the secret
        _end(tenant_id, claimed, SendError(error.detail, retry=True), claimed.export.part)
    return True


def claim(session: Session, now: datetime) -> Claim | None:
    """Claim the minute that waits longest. None without one, or while a process sends for this tenant."""
    rows = queries.locked_exports(session)
    if any(row.busy_until is not None and now < row.busy_until <= now + queries.BUSY for row in rows):
        return None
    last = newest(now)
    for row in sorted(rows, key=lambda one: one.next_at):
        if row.paused or now < row.next_at <= now + queries.LONGEST_WAIT:
            continue
        values: dict[str, Any] = {"busy_until": now + queries.BUSY}
        if row.busy_until is not None and row.part:
            values |= _left_out(row, row.sent_until, row.sent_until + STEP) | {"error": _UNKNOWN, "failed_at": now}
        if row.sent_until < last - KEPT:
            values |= _left_out(row, row.sent_until, last - KEPT)
            values |= {"sent_until": last - KEPT, "part": 0, "parts": 0}
        end = values.get("sent_until", row.sent_until) + STEP
        if end > last:
            values = {"next_at": end + SETTLED, "busy_until": None}
            if row.sent_until > now:
                values |= {"failures": 1, "failed_at": now, "error": _AHEAD.format(row.sent_until)}
            queries.set_progress(session, row.id, **values)
            continue
        queries.set_progress(session, row.id, **values)
        session.refresh(row)
        session.expunge(row)
        return Claim(row, end, values["busy_until"])
    return None


def batches(values: dict[Labels, float | None], parts: int) -> list[dict[Labels, float | None]]:
    """Spread series over requests: each is in the same one whatever others there are."""
    found: list[dict[Labels, float | None]] = [{} for _ in range(parts)]
    for labels, value in values.items():
        found[crc32(repr(labels).encode()) % parts][labels] = value
    return found


def _push(tenant_id: UUID, claimed: Claim, until_s: float) -> None:
    export = claimed.export
    headers = export.headers | headers_of(encryption.decrypt(export.secret))
    with tenant_session(tenant_id) as session:
        minute = minutes.read_minute(session, export.paths, claimed.end)
        before = queries.series_of(session, export.id)
    known = minutes.packed(minute.values)
    values: dict[Labels, float | None] = dict(minute.values)
    if known != before:
        values |= dict.fromkeys(minutes.unpacked(before) - minute.values.keys())
    parts = export.parts or max(1, -(-len(values) // REQUEST_VALUES))
    wrong = SendError(minute.problem, retry=False, all_=False) if minute.problem else None
    for part, batch in enumerate(batches(values, parts)):
        if part < export.part or not batch:
            continue
        if time.monotonic() > until_s and part > export.part:
            _record(tenant_id, claimed, part=part, parts=parts, busy_until=None)
            return
        if not _record(tenant_id, claimed, part=part + 1, parts=parts):
            return  # changed, deleted, or taken over
        try:
            wire.send(MetricExportKind(export.kind), export.url, headers, batch, int(claimed.end.timestamp() * 1000))
        except SendError as error:
            wrong = error
            if error.all:
                break
            _record(tenant_id, claimed, **_left_out(export, export.sent_until, claimed.end))
        else:
            _record(tenant_id, claimed, samples=MetricExport.samples + len(batch), succeeded_at=datetime.now(UTC))
    are_sent = wrong is None or not wrong.all
    _end(tenant_id, claimed, wrong, part, known if are_sent and known != before else None)


def _end(tenant_id: UUID, claimed: Claim, wrong: SendError | None, part: int, series: bytes | None = None) -> None:
    """Record that a minute is over, or when it is tried again, from `part` on.

    `series` replaces those known, None keeps them.
    """
    now = datetime.now(UTC)
    row, last = claimed.export, newest(now)
    if wrong is None:
        values: dict[str, Any] = {"failures": 0, "error": None}
    else:
        values = {"failures": row.failures + 1, "failed_at": now, "error": str(wrong)}
    if wrong is not None and wrong.retry:
        pause_s = max(_BACKOFF_S[min(row.failures, len(_BACKOFF_S) - 1)], wrong.after_s)
        values |= {"part": part, "next_at": now + min(timedelta(seconds=pause_s), queries.LONGEST_WAIT)}
    else:
        # Minutes that wait would fail in the same way.
        over = max(claimed.end, last) if wrong is not None and wrong.all else claimed.end
        values |= {"sent_until": over, "part": 0, "parts": 0, "next_at": now if over < last else over + STEP + SETTLED}
        values |= {} if series is None else {"series": series}
        values |= {} if wrong is None else _left_out(row, row.sent_until, over)
    is_recorded = _record(tenant_id, claimed, **values, busy_until=None)
    if is_recorded and (wrong is None) == (row.failures > 0):
        action = "metric_export.recovered" if wrong is None else "metric_export.failed"
        with tenant_session(tenant_id) as session:
            audit.record(session, None, action, row.id, row.name, error=str(wrong or row.error))


def _record(tenant_id: UUID, claimed: Claim, **values: Any) -> bool:
    with tenant_session(tenant_id) as session:
        return queries.set_progress(session, claimed.export.id, claimed.busy_until, **values)


def _left_out(row: MetricExport, start: datetime, end: datetime) -> dict[str, Any]:
    """Return the range of minutes left out, with those from `start` to `end`: longer where they follow on it."""
    follows = row.left_out_from is not None and row.left_out_until is not None and start <= row.left_out_until
    return {"left_out_from": row.left_out_from if follows else start, "left_out_until": end}
