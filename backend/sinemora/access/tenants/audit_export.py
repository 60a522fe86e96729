"""The audit log as a file: CSV for spreadsheets, JSON lines for log stores."""

import io
import json
from collections.abc import Iterator
from typing import Any, Literal

from sqlalchemy.orm import Session

from sinemora.access.tenants import queries
from sinemora.access.tenants.models import AuditEntry
from sinemora.access.tenants.queries import AuditFilter
from sinemora.access.tenants.schemas import AuditEntryRead
from sinemora.kit.csv_rows import csv_text

ROWS_MAX = 100_000


def export(session: Session, wanted: AuditFilter, format: Literal["csv", "ndjson"]) -> tuple[bytes, bool]:
    """Return the newest entries of a selection, newest first, and whether there are more than `ROWS_MAX`."""
    statement = queries.audit_entries(wanted).order_by(AuditEntry.created_at.desc(), AuditEntry.id.desc())
    rows = session.scalars(statement.limit(ROWS_MAX + 1).execution_options(yield_per=1_000))
    entries = (AuditEntryRead.model_validate(row).model_dump(mode="json") for row in rows)
    text = io.StringIO()
    count = _write_csv(text, entries) if format == "csv" else _write_lines(text, entries)
    return text.getvalue().encode(), count > ROWS_MAX


def _write_lines(text: io.StringIO, entries: Iterator[dict[str, Any]]) -> int:
    count = 0
    for count, entry in enumerate(entries, 1):
        if count <= ROWS_MAX:
            text.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return count


def _write_csv(text: io.StringIO, entries: Iterator[dict[str, Any]]) -> int:
    text.write(csv_text([[*AuditEntryRead.model_fields]], "\r\n"))
    count = 0
    for count, entry in enumerate(entries, 1):
        if count <= ROWS_MAX:
            text.write(csv_text([[_cell(entry[name]) for name in AuditEntryRead.model_fields]], "\r\n"))
    return count


def _cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
