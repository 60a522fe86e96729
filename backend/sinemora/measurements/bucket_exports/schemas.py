"""JSON schemas of bucket exports."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, Field, SecretStr

from sinemora.kit.names import Name
from sinemora.kit.schemas import DISTINCT, Omittable, Read, Write
from sinemora.measurements.bucket_exports.models import ExportTable, Schedule

# Amazon S3, bucket naming rules.
_BUCKET = r"^[a-z0-9][a-z0-9.-]*[a-z0-9]$"
_ENDPOINT = "use an address such as https://s3.example.com, without a path"


def _endpoint(value: str) -> str:
    if not value:
        return value
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # http://[::1, or a port above 65535
        raise ValueError(_ENDPOINT) from None
    if not valid or parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(_ENDPOINT)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _bucket(value: str) -> str:
    if not re.fullmatch(_BUCKET, value):
        raise ValueError("use lower-case letters, digits, dots and hyphens, such as network-measurements")
    return value


def _prefix(value: str) -> str:
    if any(part in ("", ".", "..") for part in value.split("/")) and value:
        raise ValueError("use parts between single slashes, such as exports/network")
    return value


Endpoint = Annotated[
    str,
    Field(max_length=300, pattern=r"^[\x21-\x7e]*$", description="Address of the storage; empty for Amazon S3"),
    AfterValidator(_endpoint),
]
Region = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-zA-Z0-9-]+$")]
# The contract has the pattern, the refusal says it in words.
Bucket = Annotated[
    str, Field(min_length=3, max_length=63, json_schema_extra={"pattern": _BUCKET}), AfterValidator(_bucket)
]
Prefix = Annotated[
    str,
    Field(max_length=200, pattern=r"^[A-Za-z0-9!_.*'()=/-]*$", description="Beginning of all names; may be empty"),
    AfterValidator(_prefix),
]
AccessKey = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")]
SecretKey = Annotated[
    SecretStr, Field(min_length=1, max_length=500, description="Secret of the access key; never in a response")
]
Hour = Annotated[int, Field(ge=0, le=23, description="Hour of the day of a daily export, UTC")]
Tables = Annotated[list[ExportTable], Field(min_length=1, max_length=len(ExportTable)), *DISTINCT]


class BucketExportCreate(Write):
    """Bucket, what is exported to it, and when."""

    name: Name
    endpoint: Endpoint = ""
    region: Region = "us-east-1"
    bucket: Bucket
    prefix: Prefix = "sinemora"
    access_key: AccessKey
    secret: SecretKey
    schedule: Schedule = Schedule.daily
    hour: Hour = 1
    tables: Annotated[Tables, Field(default_factory=lambda: [ExportTable.zones_1m, ExportTable.vms_1h])]
    paused: bool = False


class BucketExportUpdate(Write):
    """Changes. Omitted fields stay as they are, the secret too; another place begins again with all days."""

    name: Omittable[Name] = None
    endpoint: Omittable[Endpoint] = None
    region: Omittable[Region] = None
    bucket: Omittable[Bucket] = None
    prefix: Omittable[Prefix] = None
    access_key: Omittable[AccessKey] = None
    secret: Omittable[SecretKey] = None
    schedule: Omittable[Schedule] = None
    hour: Omittable[Hour] = None
    tables: Omittable[Tables] = None
    paused: Omittable[bool] = None


class BucketExportState(StrEnum):
    """State of an export: never run, running, up to date with its schedule, failing, or paused."""

    waiting = "waiting"
    running = "running"
    succeeded = "succeeded"
    failing = "failing"
    paused = "paused"


class BucketExportRead(Read):
    """Bucket export without its secret."""

    id: UUID
    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key: str
    schedule: Schedule
    hour: int
    tables: list[ExportTable]
    paused: bool
    state: BucketExportState
    next_at: Annotated[datetime | None, Field(description="Next run or attempt; null while it is paused")]
    job_id: UUID | None
    succeeded_at: datetime | None
    failed_at: datetime | None
    failures: int
    error: str | None
    days: int
    rows: int
    bytes: int
    version: int
    created_at: datetime


class BucketTestRead(Read):
    """Result of a test, which wrote one object and deleted it. `error` is null when both succeeded."""

    object_key: str
    error: str | None
