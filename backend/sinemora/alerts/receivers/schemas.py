"""Wire shapes of receivers and of the tree of routes; durations in seconds."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sinemora.alerts.models import ReceiverKind
from sinemora.alerts.schemas import Matcher
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write


class ReceiverFields(Write):
    """A receiver of notifications.

    `settings`: `to` (addresses) of email, `url` of webhook, which may contain user and password (Basic authentication)
    and is kept encrypted. `secret`: `key` that signs a webhook, `url` of slack, teams, alertmanager and heartbeat,
    `routing_key` of pagerduty, `api_key` of opsgenie. Secrets are write-only.

    A heartbeat gets no incidents: its URL is called every minute while the tenant's alerts are in time.
    """

    name: Name
    kind: ReceiverKind
    settings: dict[str, Any] = Field(default_factory=dict)
    secret: dict[str, str] = Field(default_factory=dict)


class ReceiverUpdate(Write):
    """Changes of a receiver; omitted fields stay."""

    name: Omittable[Name] = None
    settings: Omittable[dict[str, Any]] = None
    secret: Omittable[dict[str, str]] = None


class ReceiverRead(Read):
    """A receiver; `has_secret` instead of the secret. Of a webhook `settings.url` shows scheme and host alone.

    `is_routed`: a route names it. Without one it gets no notifications but tests. `heartbeat_at`, `heartbeat_answer`:
    newest heartbeat and its result; null of other kinds, and before the first.
    """

    id: UUID
    name: str
    kind: ReceiverKind
    settings: dict[str, Any]
    has_secret: bool
    is_routed: bool
    version: int
    created_at: datetime
    heartbeat_at: datetime | None
    heartbeat_answer: str | None


class Route(Write):
    """A route: matching incidents go to its receivers, or to those of its first matching child route.

    With `continue_`, later siblings are tried as well. Without matchers all incidents match. `repeat_s`, `resolved` and
    `hold_s` are inherited where they are null. `hold_s`: longest time for which notices below critical are held and
    sent together; 0 sends each by itself.
    """

    matchers: list[Matcher] = Field(default_factory=list)
    receivers: list[Name] = Field(default_factory=list)
    repeat_s: Annotated[int | None, Field(ge=300, le=604_800)] = None
    resolved: bool | None = None
    hold_s: Annotated[int | None, Field(ge=0, le=86_400)] = None
    continue_: bool = False
    routes: list["Route"] = Field(default_factory=list)


class RoutingWrite(Write):
    """The routing tree."""

    root: Route


class RoutingRead(Read):
    """The routing tree and its version."""

    root: Route
    version: int
