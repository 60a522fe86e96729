"""JSON schemas of metric exports."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from sinemora.kit.http_authentication import Authentication, Credential, HeaderName, Scheme, Url
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.metric_exports.models import MetricExportKind
from sinemora.measurements.query.requests import Selections


def _shown(headers: dict[str, str]) -> dict[str, str]:
    if "authorization" in (name.lower() for name in headers):
        raise ValueError("are shown: send what authenticates as `authentication`")
    return headers


class ExportedPaths(Write):
    """Paths between VMs of a mesh, in the form of selections."""

    mesh_id: UUID
    selections: Selections


Headers = Annotated[dict[HeaderName, Credential], Field(max_length=10), AfterValidator(_shown)]
Paths = Annotated[list[ExportedPaths], Field(max_length=20)]


class MetricExportCreate(Write):
    """Server, and what is sent to it each minute: all zone pairs, and the paths that are named."""

    name: Name
    kind: MetricExportKind
    url: Url
    authentication: Authentication | None = None
    headers: Annotated[Headers, Field(default_factory=dict)]
    paths: Annotated[Paths, Field(default_factory=list)]
    paused: bool = False


class MetricExportUpdate(Write):
    """Changes. Omitted fields stay as they are, the authentication too, unless `url` leads to another server."""

    name: Omittable[Name] = None
    kind: Omittable[MetricExportKind] = None
    url: Omittable[Url] = None
    authentication: Authentication | None = None
    headers: Omittable[Headers] = None
    paths: Omittable[Paths] = None
    paused: Omittable[bool] = None


class MetricExportState(StrEnum):
    """State of an export: nothing sent yet, sending each minute, failing, or paused."""

    waiting = "waiting"
    sending = "sending"
    failing = "failing"
    paused = "paused"


class MetricExportRead(Read):
    """Metric export without its secret."""

    id: UUID
    name: str
    kind: MetricExportKind
    url: str
    authentication: Scheme | None
    headers: dict[str, str]
    paths: list[ExportedPaths]
    paused: bool
    state: MetricExportState
    next_at: datetime | None
    sent_until: datetime
    samples: int
    succeeded_at: datetime | None
    failed_at: datetime | None
    failures: int
    error: str | None
    left_out_from: datetime | None
    left_out_until: datetime | None
    version: int
    created_at: datetime


class MetricExportTestRead(Read):
    """Result of a test, which sent one value of `sinemora_export_test`. `error` is null when the server took it."""

    error: str | None
