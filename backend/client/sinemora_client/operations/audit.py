"""Operations with the tag `audit`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls


class AuditOperations(Calls):
    """Operations with the tag `audit`."""

    def export_audit_entries(
        self,
        *,
        format: Literal["csv", "ndjson"] | None = None,
        action: str | None = None,
        actor_name: str | None = None,
        subject_name: str | None = None,
        address: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
    ) -> str:
        """Return the newest 100,000 entries of a selection as a file. `Sinemora-Truncated: true`: there are more.

        GET /v1/audit-entries/export, role admin.
        """
        answer: str = self._text("GET", "/v1/audit-entries/export", params={"format": format, "action": action, "actor_name": actor_name, "subject_name": subject_name, "address": address, "from": from_, "to": to})
        return answer

    def list_audit_entries(
        self,
        *,
        action: str | None = None,
        actor_name: str | None = None,
        subject_name: str | None = None,
        address: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
    ) -> Iterator[models.AuditEntryRead]:
        """List the entries of the audit log, newest first.

        GET /v1/audit-entries, role admin.
        """
        return self._items("/v1/audit-entries", {"action": action, "actor_name": actor_name, "subject_name": subject_name, "address": address, "from": from_, "to": to})

