"""Table of metric exports."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class MetricExportKind(StrEnum):
    """Protocol: remote write of Prometheus (1.0), or OTLP over HTTP, both in protobuf."""

    remote_write = "remote_write"
    otlp = "otlp"


class MetricExport(Identified, Versioned, TenantOwned, Base):
    """Export of minutes to a server. `authentication`: its scheme; the `secret` is encrypted (`kit/encryption.py`).

    `paths`: selections of paths by mesh, sent in addition to all zone pairs.

    Progress is written by statements, so `version` is that of people's changes. `next_at`: next attempt. `busy_until`:
    a worker sends until then, or it ended in the middle. `sent_until`: end of the last minute that is over. `part` of
    the `parts` requests of the minute after it were sent. `series`: what the last minute had, packed. `samples`: values
    sent in all. `failures`: failed attempts since the last success; `error`: reason of the newest. Minutes of
    (`left_out_from`, `left_out_until`] were not sent, or not whole.
    """

    __tablename__ = "metric_exports"
    rows_max = 10
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("metric_export_name_taken")),
        Index(None, "next_at"),
        CheckConstraint("kind IN ('remote_write', 'otlp')", name="kind"),
        CheckConstraint("(authentication IS NULL) = (secret IS NULL)", name="secret"),
    )

    name: Mapped[str]
    kind: Mapped[MetricExportKind] = mapped_column(TEXT)
    url: Mapped[str]
    authentication: Mapped[str | None]
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    headers: Mapped[dict[str, Any]]
    paths: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    paused: Mapped[bool]

    next_at: Mapped[datetime]
    busy_until: Mapped[datetime | None]
    sent_until: Mapped[datetime]
    part: Mapped[int] = mapped_column(default=0)
    parts: Mapped[int] = mapped_column(default=0)
    series: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    samples: Mapped[int] = mapped_column(BigInteger, default=0)
    succeeded_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None]
    left_out_from: Mapped[datetime | None]
    left_out_until: Mapped[datetime | None]
