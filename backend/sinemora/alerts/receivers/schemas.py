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
    """A receiver of notifications, without its secret."""

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
    """A route: matching incidents go to its receivers, or to those of its first matching child route."""

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
