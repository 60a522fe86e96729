"""Tables of alerts: rules and their state, incidents with their timeline, silences, receivers, deliveries."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import REAL, TEXT

from sinemora.alerts.evaluation.rule import Severity
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned

_OF_MESH = (["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"])
_OF_INCIDENT = (["tenant_id", "incident_id"], ["incidents.tenant_id", "incidents.id"])


class IncidentState(StrEnum):
    """State set by people: `open`, `acknowledged` (someone works on it), `resolved`."""

    open = "open"
    acknowledged = "acknowledged"
    resolved = "resolved"


class ReceiverKind(StrEnum):
    """Kind of a receiver."""

    email = "email"
    webhook = "webhook"
    slack = "slack"
    pagerduty = "pagerduty"
    teams = "teams"
    heartbeat = "heartbeat"
    alertmanager = "alertmanager"
    opsgenie = "opsgenie"


KEEPS_ALERTS = (ReceiverKind.pagerduty, ReceiverKind.opsgenie, ReceiverKind.alertmanager)
"""Kinds that keep an alert for each incident: they get no digests, and nothing about the past."""
_KINDS = ", ".join(f"'{kind}'" for kind in ReceiverKind)


class DeliveryState(StrEnum):
    """State of a delivery. `waiting`: to be sent, or retried, at `due_at`."""

    waiting = "waiting"
    sent = "sent"
    failed = "failed"


class AlertRule(Identified, Versioned, TenantOwned, Base):
    """A rule of a mesh. `condition`, `scope`: `rules/schemas.py`; `origin`: the default rule it was created from."""

    __tablename__ = "alert_rules"
    # The default rules of as many meshes as a tenant may have, and as many again.
    rows_max = 20_000
    __table_args__ = (
        ForeignKeyConstraint(*_OF_MESH, ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "mesh_id", "name", info=taken_as("alert_rule_name_taken")),
        CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
        CheckConstraint("windows_x BETWEEN 1 AND windows_y AND windows_y <= 16", name="windows"),
        CheckConstraint("sources_min >= 1 AND hold_s >= 0 AND keep_firing_s >= 0", name="m_of_n"),
    )

    mesh_id: Mapped[UUID]
    name: Mapped[str]
    enabled: Mapped[bool]
    severity: Mapped[Severity] = mapped_column(TEXT)
    condition: Mapped[dict[str, Any]]
    scope: Mapped[dict[str, Any]]
    windows_x: Mapped[int]
    windows_y: Mapped[int]
    sources_min: Mapped[int]
    hold_s: Mapped[int]
    keep_firing_s: Mapped[int]
    runbook_url: Mapped[str | None]
    origin: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class AlertState(TenantOwned, Base):
    """Evaluation progress of a mesh, and the state of its rules (bytes: `evaluation/state_codec.py`).

    `looked_at`: last evaluation. `watched_since`: start of the time without a break in evaluation. `settling_paths`:
    paths too young for rules, measured for `settled_s` (median). `unlearnt_paths`: paths without a baseline, whose
    baselines have learnt for `learnt_s` (median). `reported_until`: end of the newest reported window. `lateness_s`:
    how long after the end of a window evaluation waits for agents whose reports have been late. `late_ranges`: windows
    that came too late, as [start, end, noticed] (Unix s), until they are evaluated. `windows_skipped`: windows that
    were left out because they were more than a day late.
    """

    __tablename__ = "alert_states"
    __table_args__ = (ForeignKeyConstraint(*_OF_MESH, ondelete="CASCADE"),)

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    evaluated_until: Mapped[datetime | None]
    looked_at: Mapped[datetime | None]
    watched_since: Mapped[datetime | None]
    rule_states: Mapped[bytes | None] = mapped_column(LargeBinary)
    baselines: Mapped[bytes | None] = mapped_column(LargeBinary)
    baselines_at: Mapped[datetime | None]
    firing: Mapped[int] = mapped_column(server_default=text("0"))
    took_ms: Mapped[int] = mapped_column(server_default=text("0"))
    settling_paths: Mapped[int] = mapped_column(server_default=text("0"))
    settled_s: Mapped[int] = mapped_column(server_default=text("0"))
    unlearnt_paths: Mapped[int] = mapped_column(server_default=text("0"))
    learnt_s: Mapped[int] = mapped_column(server_default=text("0"))
    reported_until: Mapped[datetime | None]
    lateness_s: Mapped[float] = mapped_column(REAL, server_default=text("0"))
    late_ranges: Mapped[list[list[int]]] = mapped_column(JSONB, server_default=text("'[]'"))
    windows_skipped: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class LateDataProgress(TenantOwned, Base):
    """Progress of evaluating late data: minutes merged until `looked_until` are done."""

    __tablename__ = "late_data_progress"
    __table_args__ = (ForeignKeyConstraint(*_OF_MESH, ondelete="CASCADE"),)

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    looked_until: Mapped[datetime]


class Incident(Identified, Versioned, TenantOwned, Base):
    """One cause through time.

    `culprit`, `evidence`: see `incidents/presentation.py`; `paths`: pairs of VM keys, int32. `seen_at`: the last
    window with it. `ended_at`: its measured end; `state` is set by people. `silenced_by`: the silence that
    suppresses notifications. `found_late_at`: detection time, if it was found in late data.

    A cause that returns within a day is the same incident: `first_onset_at` is when it first began, `occurrences` how
    often it was seen, `episodes` the newest of these times (Unix s, start and end). `onset_at` and `opened_at` are
    those of the newest. `end_notice_at`: when receivers hear that it ended; null before its end and once people
    resolved it.
    """

    __tablename__ = "incidents"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_MESH, ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "opened_at", "id"),
        Index(None, "tenant_id", "mesh_id", "ended_at"),
        CheckConstraint("state IN ('open', 'acknowledged', 'resolved')", name="state"),
        CheckConstraint("severity IN ('info', 'warning', 'critical')", name="severity"),
    )

    mesh_id: Mapped[UUID]
    state: Mapped[IncidentState] = mapped_column(TEXT)
    severity: Mapped[Severity] = mapped_column(TEXT)
    title: Mapped[str]
    suspect: Mapped[str]
    culprit: Mapped[dict[str, Any]]
    score: Mapped[float]
    evidence: Mapped[dict[str, Any]]
    paths: Mapped[bytes] = mapped_column(LargeBinary)
    rules: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    applications: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    onset_at: Mapped[datetime]
    opened_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    notified_at: Mapped[datetime | None]
    assignee: Mapped[str | None]
    silenced_by: Mapped[str | None]
    merged_into: Mapped[UUID | None]
    found_late_at: Mapped[datetime | None]
    first_onset_at: Mapped[datetime]
    occurrences: Mapped[int] = mapped_column(server_default=text("1"))
    episodes: Mapped[list[list[int]]] = mapped_column(JSONB, server_default=text("'[]'"))
    end_notice_at: Mapped[datetime | None]

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)


class IncidentEvent(TenantOwned, Base):
    """An entry of an incident's timeline."""

    __tablename__ = "incident_events"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_INCIDENT, ondelete="CASCADE"),
        Index(None, "tenant_id", "incident_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    incident_id: Mapped[UUID]
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    kind: Mapped[str]
    actor: Mapped[str]
    text: Mapped[str]


class Silence(Identified, Versioned, TenantOwned, Base):
    """Matchers and a time range without notifications; `weekly` recurs within the range."""

    __tablename__ = "silences"
    rows_max = 2_000
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "ends_at", "id"),
        CheckConstraint("starts_at < ends_at", name="times"),
    )

    comment: Mapped[str]
    matchers: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    weekly: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_by: Mapped[str]


class Receiver(Identified, Versioned, TenantOwned, Base):
    """A receiver of notifications; `secret` is encrypted (`kit/encryption.py`).

    `heartbeat_at`, `heartbeat_answer`: the newest heartbeat sent to one of this kind, and its result.
    """

    __tablename__ = "receivers"
    rows_max = 200
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("receiver_name_taken")),
        CheckConstraint(f"kind IN ({_KINDS})", name="kind"),
    )

    name: Mapped[str]
    kind: Mapped[ReceiverKind] = mapped_column(TEXT)
    settings: Mapped[dict[str, Any]]
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    heartbeat_at: Mapped[datetime | None]
    heartbeat_answer: Mapped[str | None]


class AlertRouting(Versioned, TenantOwned, Base):
    """The routing tree; one per tenant."""

    __tablename__ = "alert_routings"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    tree: Mapped[dict[str, Any]]

    __table_args__ = (UniqueConstraint("tenant_id"),)


class Delivery(Identified, TenantOwned, Base):
    """One notice to one receiver, and its result. `about`: that of its content (`messages.py`).

    Notices of a `group_key` are grouped (`notifications/grouping.py`): those that are `held` are sent together when
    due. `hold_s`: how long later notices of the group are held after this one, at most `hold_max_s`; 0 while a held one
    waits as the first of its incident. `tried_until`: when its newest attempt ended; in the future while one is under
    way. `content`: content of the notice, if it has no incident.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_INCIDENT, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "receiver_id"], ["receivers.tenant_id", "receivers.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "created_at", "id"),
        Index(None, "tenant_id", "incident_id"),
        Index("ix_deliveries_due", "due_at", postgresql_where=text("state = 'waiting'")),
        Index(
            "ix_deliveries_group",
            "tenant_id",
            "receiver_id",
            "group_key",
            "due_at",
            postgresql_where=text("group_key IS NOT NULL"),
        ),
        CheckConstraint("state IN ('waiting', 'sent', 'failed')", name="state"),
    )

    incident_id: Mapped[UUID | None]
    receiver_id: Mapped[UUID]
    about: Mapped[str]
    state: Mapped[DeliveryState] = mapped_column(TEXT)
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    tried_until: Mapped[datetime | None]
    due_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    answer: Mapped[str | None]
    group_key: Mapped[str | None]
    held: Mapped[bool] = mapped_column(server_default=text("false"))
    hold_s: Mapped[int] = mapped_column(server_default=text("0"))
    hold_max_s: Mapped[int] = mapped_column(server_default=text("0"))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))

    @property
    def is_tried(self) -> bool:
        """Return whether its receiver may have it: an attempt was made, also before a person had it sent again."""
        return self.tried_until is not None or self.attempts > 0
