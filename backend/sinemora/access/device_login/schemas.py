"""JSON schemas of device logins. Fields and errors of the device's part have the names of RFC 8628."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from sinemora.access.tenants.models import Role
from sinemora.kit.names import ONE_LINE
from sinemora.kit.schemas import Read, Write

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"

DeviceName = Annotated[
    str,
    Field(min_length=1, max_length=60, pattern=ONE_LINE, examples=["sinemora on web-1"]),
]


class Access(StrEnum):
    """Scope that a device asks for: it reads, or it also changes."""

    read = "read"
    write = "write"


class DeviceLoginCreate(Write):
    """Request for a device login (RFC 8628, 3.1). `device_name` is shown to the person who confirms it."""

    device_name: DeviceName
    scope: Access = Access.write


class DeviceLoginCreated(Read):
    """Device login to confirm (RFC 8628, 3.2).

    Show `user_code` and `verification_uri` to the person, then poll with `device_code` every `interval` seconds until
    `expires_in` seconds are over.
    """

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: Annotated[int, Field(description="Seconds")]
    interval: Annotated[int, Field(description="Seconds")]


class DeviceTokenCreate(Write):
    """Question whether a person has confirmed a device login (RFC 8628, 3.4)."""

    grant_type: Literal["urn:ietf:params:oauth:grant-type:device_code"]
    device_code: Annotated[str, Field(min_length=20, max_length=100)]


class DeviceToken(Read):
    """Key of a confirmed device (RFC 6749, 5.1), shown only once. It is an API key of the person who confirmed."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: Annotated[int, Field(description="Seconds")]
    expires_at: datetime
    scope: Access
    email: str
    tenant_name: str


class UserCode(Write):
    """Code that a device shows, with or without its hyphen, in any case."""

    user_code: Annotated[str, Field(min_length=8, max_length=20, examples=["WDJB-MJHT"])]


class DeviceLoginRead(Read):
    """Device login that waits for a person. `role` is the one that its key would act as, in `tenant_name`."""

    user_code: str
    device_name: str
    scope: Access
    address: str
    program: str
    created_at: datetime
    expires_at: datetime
    tenant_name: str
    role: Role
    key_valid_days: int
